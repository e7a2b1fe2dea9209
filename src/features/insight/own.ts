/** The settings, tables and commands of insight, which are known without loading it. */
import type { OwnParts } from '../feature.js'
import { DRIFT } from './drift/drift-table.js'
import { REQUEST } from './requests/request-table.js'
import { SHADOW_SETTINGS } from './shadow/shadow-settings.js'
import { SHADOW } from './shadow/shadow-table.js'
import { TRAFFIC } from './traffic/traffic-table.js'

export const INSIGHT: OwnParts = {
  settings: SHADOW_SETTINGS,
  tables: [TRAFFIC, DRIFT, REQUEST, SHADOW],
  commands: [
    {
      parent: 'models',
      after: 'migrate',
      usage: 'drift [tenant]',
      description:
        'compare the latest verifications, of one tenant or all, with the month before and the calibration',
      load: async () => (await import('./drift/drift-command.js')).registerDriftCommand,
    },
    {
      parent: 'models',
      after: 'drift',
      usage: 'shadow [tenant]',
      description: 'show what the candidate in shadow would have decided, for one tenant or all, by day',
      load: async () => (await import('./shadow/shadow-command.js')).registerShadowCommand,
    },
    {
      usage: 'requests <tenant>',
      description: "a tenant's latest requests and how each ended, as on the dashboard",
      load: async () => (await import('./requests/requests-command.js')).registerRequestsCommand,
    },
  ],
}
