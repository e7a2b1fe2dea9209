/** The settings, tables and commands of insight, which are known without loading it. */
import type { OwnParts } from '../feature.js'
import { SHADOW_SETTINGS } from './shadow/shadow-settings.js'
import { SHADOW } from './shadow/shadow-table.js'

export const INSIGHT: OwnParts = {
  settings: SHADOW_SETTINGS,
  tables: [SHADOW],
  commands: [
    {
      usage: 'requests <tenant>',
      description: "a tenant's latest requests and how each ended, as on the dashboard",
      load: async () => (await import('./requests/requests-command.js')).registerRequestsCommand,
    },
  ],
}
