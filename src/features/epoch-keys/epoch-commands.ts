/** `countersign keys rotate-epoch`, `export` and `import`: the keys outside of the database under which users' data keys are wrapped. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { Core } from '../../admin/core.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { action, CommandError, note, type OutputOptions, print } from '../../cli/lib/output.js'
import { counted } from '../../cli/lib/style.js'
import { type Config, isPostgres } from '../../config/config.js'
import type { EpochFolder } from '../../keys/epoch-folder.js'
import { HOUR_MS, MINUTE_MS, systemClock } from '../../lib/clock.js'

interface RotateOptions extends OutputOptions {
  none?: boolean
}

export function registerRotateEpoch(command: Command, { withCore }: CommandHost): void {
  command
    .option('--none', "end epochs: wrap only under the database's keys, as before the first epoch")
    .option('--json', 'print JSON')
    .action(action((options: RotateOptions) => withCore((core, config) => rotate(options, core, config))))
}

export function registerExportKeys(command: Command, { withCore }: CommandHost): void {
  command
    .argument('[file]', 'file to write, which is replaced (default: users.keys in COUNTERSIGN_EPOCH_KEYS)')
    .option('--json', 'print JSON')
    .action(
      action((file: string | undefined, options: OutputOptions) =>
        withCore((core, config) => exportKeys(file, options, core, config)),
      ),
    )
}

export function registerImportKeys(command: Command, host: CommandHost): void {
  command
    .argument('[file]', 'the newest wrapped keys (default: users.keys in COUNTERSIGN_EPOCH_KEYS)')
    .option('--json', 'print JSON')
    .action(action((file: string | undefined, options: OutputOptions) => importKeys(file, options, host)))
}

async function rotate(options: RotateOptions, core: Core, config: Config): Promise<void> {
  const { EpochRotation } = await import('./epoch-rotation.js')
  const { destroyRetiredKeys } = await import('./scheduled-epoch-rotation.js')
  const { takeOverEpochs } = await import('../../keys/epochs.js')
  const { store, keys } = core
  const folder = await folderOf(config)
  const rotation = new EpochRotation({
    store,
    keys,
    folder,
    clock: systemClock,
    reloadKeys: async () => void (await takeOverEpochs(store, keys, folder)),
  })
  const { number, keyId } = await rotation.rotate({
    patienceMs: MINUTE_MS,
    isBaseEpoch: options.none ?? false,
    onStep: (step) => {
      if (!options.json) note(`epoch: ${step}`)
    },
  })
  const retentionMs = config.epochRetentionHours * HOUR_MS
  const destroyed = await destroyRetiredKeys({ store, folder, clock: systemClock, retentionMs })
  print(
    options,
    { epoch: number, key_id: keyId, destroyed, wrapped_keys_file: folder.exportFile },
    () =>
      (options.none
        ? "All users' keys are wrapped only under the database's keys. Remove COUNTERSIGN_EPOCH_KEYS, or the services begin epochs again.\n"
        : `All users' keys are wrapped under epoch ${number}; ${folder.exportFile} holds them for a restore.\n`) +
      (retentionMs > 0
        ? `The service destroys the previous epoch key in ${config.epochRetentionHours} h.`
        : 'The previous epoch key is destroyed.'),
  )
}

async function exportKeys(
  file: string | undefined,
  options: OutputOptions,
  { store, keys }: Core,
  config: Config,
): Promise<void> {
  const { exportDataKeys } = await import('./data-key-export.js')
  const { epochKeyOf } = await import('../../keys/epochs.js')
  const folder = await folderOf(config)
  const target = file ?? folder.exportFile
  const present = (await store.shared!.epochs.all()).findLast(({ completedAt }) => completedAt !== null)
  if (!present)
    throw new CommandError(
      'no_epochs',
      'There is no epoch yet. Begin the first: countersign keys rotate-epoch',
    )
  const epochKey = { id: present.keyId, key: (await epochKeyOf(present, folder))! }
  const users = await exportDataKeys({ store, keys }, epochKey, target)
  print(options, { file: target, users }, () => `Wrote the keys of ${counted(users, 'user')} to ${target}.`)
}

async function importKeys(
  named: string | undefined,
  options: OutputOptions,
  { loadConfig, withCore }: CommandHost,
): Promise<void> {
  const config = await loadConfig()
  const folder = await folderOf(config)
  const file = named ?? folder.exportFile
  if (!existsSync(file)) throw new CommandError('file_not_found', `There is no file ${file}.`)
  const { importDataKeys } = await import('./data-key-import.js')
  const imported = await withCore(
    ({ store, keys }) => importDataKeys({ store, keys }, folder, file, systemClock.now()),
    { withoutEpochs: true },
  )
  // Opening the core as a service does proves that it opens; each audit log then records the import.
  await withCore(({ operations }) => operations.tenants.noteRestored(COMMAND_LINE))
  const { users, erased } = imported
  print(
    options,
    { file, users, users_erased: erased },
    () => `${counted(users, 'user')} can be verified again; left out, because erased since: ${erased}.`,
  )
}

/** @throws CommandError no_epochs; ConfigError */
async function folderOf(config: Config): Promise<EpochFolder> {
  const { epochFolder } = await import('../../keys/epochs.js')
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
