/** The commands of epoch keys, which are known without loading them. */
import type { OwnParts } from '../feature.js'

const commands = () => import('./epoch-commands.js')

export const EPOCH_KEYS: OwnParts = {
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
