/** `countersign keys rotate-epoch`, `export` and `import`: the keys outside of the database under which users' data keys are wrapped. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { commandsOn, declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { CommandError, note } from '../../cli/lib/output.js'
import { counted } from '../../cli/lib/style.js'
import { type Config, isPostgres } from '../../config/config.js'
import { ownValues } from '../../config/own-settings.js'
import { HOUR_MS, MINUTE_MS } from '../../lib/clock.js'
import { epochsOf } from '../postgres/exports.js'
import type { EpochFolder } from './epoch-folder.js'
import { EPOCH_SETTINGS } from './epoch-settings.js'

const FILE = 'file to write, which is replaced (default: users.keys in COUNTERSIGN_EPOCH_KEYS)'
const NEWEST = 'the newest wrapped keys (default: users.keys in COUNTERSIGN_EPOCH_KEYS)'

export function registerRotateEpoch(command: Command, host: CommandHost): void {
  commandsOn(host).coreCommand(command, '', {
    options: { '--none': "end epochs: wrap only under the database's keys, as before the first epoch" },
    async answer({ store, keys, config, clock }, { none, json }) {
      const { EpochRotation } = await import('./epoch-rotation.js')
      const { destroyRetiredKeys } = await import('./scheduled-epoch-rotation.js')
      const { takeOverEpochs } = await import('./epochs.js')
      const folder = await folderOf(config)
      const reloadKeys = async () => void (await takeOverEpochs(store, keys, folder))
      const rotation = new EpochRotation({ store, keys, folder, clock, reloadKeys })
      const { number, keyId } = await rotation.rotate({
        patienceMs: MINUTE_MS,
        isBaseEpoch: none,
        onStep: (step) => {
          if (!json) note(`epoch: ${step}`)
        },
      })
      const { epochRetentionHours: hours } = ownValues(EPOCH_SETTINGS, config)
      const retentionMs = hours * HOUR_MS
      const destroyed = await destroyRetiredKeys({ store, folder, clock, retentionMs })
      return {
        view: { epoch: number, key_id: keyId, destroyed, wrapped_keys_file: folder.exportFile },
        hours,
      }
    },
    view: ({ view }) => view,
    text: ({ view: { epoch, wrapped_keys_file: file }, hours }, { none }) =>
      (none
        ? "All users' keys are wrapped only under the database's keys. Remove COUNTERSIGN_EPOCH_KEYS, or the services begin epochs again.\n"
        : `All users' keys are wrapped under epoch ${epoch}; ${file} holds them for a restore.\n`) +
      (hours > 0
        ? `The service destroys the previous epoch key in ${hours} h.`
        : 'The previous epoch key is destroyed.'),
  })
}

export function registerExportKeys(command: Command, host: CommandHost): void {
  commandsOn(host).coreCommand(command.argument('[file]', FILE), '[file]', {
    async answer({ store, keys, config }, { file: named }) {
      const { exportDataKeys } = await import('./data-key-export.js')
      const { epochKeyOf } = await import('./epochs.js')
      const folder = await folderOf(config)
      const file = named ?? folder.exportFile
      const present = (await epochsOf(store)!.epochs.all()).findLast(
        ({ completedAt }) => completedAt !== null,
      )
      if (!present)
        throw new CommandError(
          'no_epochs',
          'There is no epoch yet. Begin the first: countersign keys rotate-epoch',
        )
      const epochKey = { id: present.keyId, key: (await epochKeyOf(present, folder))! }
      return { file, users: await exportDataKeys({ store, keys }, epochKey, file) }
    },
    text: ({ file, users }) => `Wrote the keys of ${counted(users, 'user')} to ${file}.`,
  })
}

export function registerImportKeys(command: Command, { loadConfig, withCore }: CommandHost): void {
  declare(command.argument('[file]', NEWEST), '[file]', {
    async answer({ file: named }) {
      const folder = await folderOf(await loadConfig())
      const file = named ?? folder.exportFile
      if (!existsSync(file)) throw new CommandError('file_not_found', `There is no file ${file}.`)
      const { importDataKeys } = await import('./data-key-import.js')
      const { users, erased } = await withCore(
        ({ store, keys, clock }) => importDataKeys({ store, keys }, folder, file, clock.now()),
        { withoutDataKeys: true },
      )
      // Opening the core as a service does proves that it opens; each audit log then records the import.
      await withCore(({ operations, actor }) => operations.tenants.noteRestored(actor))
      return { file, users, users_erased: erased }
    },
    text: ({ users, users_erased: erased }) =>
      `${counted(users, 'user')} can be verified again; left out, because erased since: ${erased}.`,
  })
}

/** @throws CommandError no_epochs; ConfigError */
async function folderOf(config: Config): Promise<EpochFolder> {
  const { epochFolder } = await import('./epochs.js')
  const folder = epochFolder(config)
  if (!folder || !isPostgres(config))
    throw new CommandError(
      'no_epochs',
      isPostgres(config)
        ? 'There are no epoch keys: COUNTERSIGN_EPOCH_KEYS is not set.'
        : 'Epoch keys need PostgreSQL.',
    )
  await folder.assertThere()
  return folder
}
