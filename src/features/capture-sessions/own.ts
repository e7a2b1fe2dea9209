/** The commands of the hosted capture page, which are known without loading it. */
import type { OwnParts } from '../feature.js'

export const CAPTURE_SESSIONS: OwnParts = {
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
      load: async () => (await import('./consent-text-command.js')).registerTenantConsentText,
    },
  ],
}
