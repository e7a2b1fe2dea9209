/** The settings, table and command of public verdicts, which are known without loading them. */
import type { OwnParts } from '../feature.js'
import { VERDICT_KEYS } from './signing-key-table.js'
import { VERDICT_KEY_SETTINGS } from './verdict-key-settings.js'

export const PUBLIC_VERDICTS: OwnParts = {
  settings: VERDICT_KEY_SETTINGS,
  tables: [VERDICT_KEYS.table],
  commands: [
    {
      after: 'keys',
      usage: 'verdict-keys',
      description: 'list and rotate the keys whose public halves check verdicts',
      load: async () => (await import('./verdict-keys-command.js')).registerVerdictKeysCommands,
    },
  ],
}
