/** The settings and commands of epoch keys, and what every opened database asks of them, which are known without loading them. */
import { isPostgres } from '../../config/database-address.js'
import type { OwnParts } from '../feature.js'
import { EPOCH_SETTINGS } from './epoch-settings.js'

const commands = () => import('./epoch-commands.js')

export const EPOCH_KEYS: OwnParts = {
  settings: EPOCH_SETTINGS,
  async openKeys({ store, keys, config }) {
    if (!store.shared) return
    const { epochFolder, takeOverEpochs } = await import('./epochs.js')
    const folder = epochFolder(config)
    await folder?.assertThere()
    await takeOverEpochs(store, keys, folder)
  },
  examine: async (config, withCore) =>
    isPostgres(config) ? [await (await import('./epoch-finding.js')).examineEpochs(config, withCore)] : [],
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
