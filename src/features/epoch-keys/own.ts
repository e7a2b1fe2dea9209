/** The commands of epoch keys, and what they ask of settings, which are known without loading them. */
import { isPostgres, SETTINGS } from '../../config/config.js'
import type { OwnSettings } from '../../config/own-settings.js'
import { docPath } from '../../lib/doc-path.js'
import type { OwnParts } from '../feature.js'

const commands = () => import('./epoch-commands.js')

const FOLDER: OwnSettings = {
  group: 'Epoch keys',
  settings: {},
  problems: (_, config) =>
    config.epochKeys === undefined || isPostgres(config)
      ? []
      : [
          `${SETTINGS.epochKeys.variable} needs PostgreSQL: with SQLite, backups contain no data keys (${docPath('operations/keys-and-backups.md#backup-and-restore')}).`,
        ],
}

export const EPOCH_KEYS: OwnParts = {
  settings: FOLDER,
  commands: [
    {
      parent: 'keys',
      after: 'rotate-master',
      usage: 'rotate-epoch',
      description: "begin a new epoch: wrap all users' keys again and destroy the previous epoch key",
      load: async () => (await commands()).registerRotateEpoch,
    },
    {
      parent: 'keys',
      after: 'rotate-epoch',
      usage: 'export',
      description: 'write the newest wrapped keys of all users, which a restore to an earlier time needs',
      load: async () => (await commands()).registerExportKeys,
    },
    {
      parent: 'keys',
      after: 'export',
      usage: 'import',
      description:
        'import wrapped keys after a restore to an earlier time, and erase again who was erased since',
      load: async () => (await commands()).registerImportKeys,
    },
  ],
}
