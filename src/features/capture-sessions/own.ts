/** The setting, tables and commands of the hosted capture page, which are known without loading it. */
import type { OwnSettings } from '../../config/own-settings.js'
import { integer } from '../../config/parsers.js'
import { setting } from '../../config/setting.js'
import type { OwnParts } from '../feature.js'
import { CAPTURE_LOGO, CAPTURE_SESSION, CONSENT_TEXT } from './capture-tables.js'

const SETTINGS = {
  captureSessionTtlSeconds: setting(
    'CAPTURE_SESSION_TTL_SECONDS',
    '900',
    'Time for a capture on the hosted page, in seconds.',
    integer(60, 3600),
  ),
}

/** The settings of the page. Those of its listener belong to the core, as those of every listener. */
export const CAPTURE_SETTINGS: OwnSettings<typeof SETTINGS> = {
  group: 'Hosted capture page',
  settings: SETTINGS,
}

export const CAPTURE_SESSIONS: OwnParts = {
  settings: CAPTURE_SETTINGS,
  tables: [CAPTURE_SESSION, CAPTURE_LOGO, CONSENT_TEXT],
  commands: [
    {
      parent: 'tenant',
      after: 'delete',
      usage: 'capture-page <tenant>',
      description: "show or change a tenant's settings of the hosted capture page; others stay",
      load: async () => (await import('./capture-page-command.js')).registerTenantCapturePage,
    },
    {
      parent: 'tenant',
      after: 'capture-page',
      usage: 'consent-text <tenant> [sha256]',
      description: 'show the text whose hash an audit entry names, or list all that people have agreed to',
      load: async () => (await import('./capture-page-command.js')).registerTenantConsentText,
    },
  ],
}
