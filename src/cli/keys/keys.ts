/** `countersign keys`: prints the instance secret and changes the master key. */
import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Core } from '../../admin/core.js'
import { type Config, isPostgres } from '../../config/config.js'
import {
  isKeyFileUsed,
  keepKeyFile,
  keptKeyFile,
  loadMasterKey,
  masterKeyId,
  newMasterKey,
  offerKeyFile,
  readMasterKeyFile,
  replaceKeyFile,
  withdrawKeyFile,
} from '../../crypto/master-key.js'
import { action, answers, CommandError, type OutputOptions, print, UsageError } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { withCore } from '../with-core.js'
import { assertServicesRead } from './key-followers.js'

/** Opens the database. Imported late, so that help does without it. */
const rotation = () => import('../../keys/master-key-rotation.js')

interface RotateOptions extends OutputOptions {
  newKeyFile?: string
  finish?: boolean
  cancel?: boolean
}

export function registerKeysCommands(keys: Command): void {
  answers(
    keys
      .command('instance-secret')
      .description('print the secret that signs responses for which no tenant is known (kid=instance)'),
    () => withCore(async ({ keys: { instance } }) => ({ id: 'instance', secret: instance.toString('hex') })),
    ({ secret }) => secret,
  )
  keys
    .command('rotate-master')
    .description('replace the master key and all working keys; the service may be running')
    .option(
      '--new-key-file <file>',
      'file with the new master key (mode 0600), where the key is not in the key file',
    )
    .option(
      '--finish',
      'with the new key configured: remove the old one and seal everything under the new keys',
    )
    .option('--cancel', 'with the old key configured: discard the new one')
    .option('--json', 'print JSON')
    .action(
      action(async (options: RotateOptions) => {
        if ([options.finish, options.newKeyFile, options.cancel].filter(Boolean).length > 1)
          throw new UsageError(
            'invalid_option',
            '--new-key-file, --finish and --cancel are separate steps. Give only one of them.',
          )
        await withCore((core, config) => {
          if (options.cancel) return cancelRotation(options, core)
          if (options.finish || isUnfinished(core, options)) return finishRotation(options, core, config)
          return isKeyFileUsed(config) && !options.newKeyFile
            ? rotateInPlace(options, core, config)
            : prepareRotation(options, core, config)
        })
      }),
    )
  answers(
    keys
      .command('discard-master <id>')
      .description(
        'destroy an old master key next to the key file; backups made under it cannot be opened any more',
      ),
    (id: string) =>
      withCore(async ({ masterKey }, config) => {
        if (id === masterKeyId(masterKey))
          throw new CommandError('key_in_use', `${id} is the master key in use and cannot be discarded.`)
        const file = keptKeyFile(config.masterKeyFile, id)
        if (!/^[0-9a-f]{16}$/.test(id) || !existsSync(file))
          throw new CommandError(
            'key_not_found',
            `There is no master key ${id} in the folder of ${config.masterKeyFile}.`,
          )
        await unlink(file)
        return { discarded: id, file }
      }),
    ({ file }) => `${file} is destroyed: backups made under it can no longer be opened.`,
  )
}

/** Resumes a change of the key file that a crash ended. */
function isUnfinished({ keys }: Core, { newKeyFile }: RotateOptions): boolean {
  return keys.phase !== 'settled' && !newKeyFile
}

/** Changes the master key in one step, where this program can replace the key file. Keeps the old key, for the backups made under it. */
async function rotateInPlace(options: RotateOptions, core: Core, config: Config): Promise<void> {
  const next = newMasterKey()
  const file = config.masterKeyFile
  const { store } = core
  let kept: string
  try {
    try {
      offerKeyFile(file, next)
    } catch (error) {
      throw readOnly(file, error)
    }
    await assertServicesRead(store, masterKeyId(next), `They do not read ${file} here. ${IN_TWO_STEPS}`)
    try {
      kept = keepKeyFile(file, core.masterKey)
    } catch (error) {
      throw readOnly(file, error)
    }
    await (await rotation()).prepareMasterKey(store, core.keys, next)
    replaceKeyFile(file, next)
  } finally {
    withdrawKeyFile(file)
  }
  const { findKeys } = await import('../../keys/find-keys.js')
  const { epochFolder, takeOverEpochs } = await import('../../keys/epochs.js')
  const { WorkingKeys } = await import('../../keys/working-keys.js')
  const keys = new WorkingKeys((await findKeys(store.read, next))!)
  await takeOverEpochs(store, keys, epochFolder(config))
  const progress = progressBar('Sealing again')
  await (await rotation()).finishMasterKey(store, keys, next, progress.update).finally(() => progress.stop())
  const id = masterKeyId(next)
  const previousId = masterKeyId(core.masterKey)
  print(
    options,
    { master_key_id: id, previous: null, kept },
    () =>
      `Master key ${id} is in ${file}; ${previousId} no longer opens the database, and everything is sealed under new working keys.\n` +
      `${backupNow(config)}\nThe old key is kept in ${kept} for the earlier backups. When you no longer need them: countersign keys discard-master ${previousId}`,
  )
}

function readOnly(file: string, error: unknown): CommandError {
  return new CommandError(
    'key_file_read_only',
    `The folder of ${file} cannot be written (${(error as Error).message}). ${IN_TWO_STEPS}`,
  )
}

/** The remedy where services have copies of the key: as systemd credentials, on several machines, from a Secret of Kubernetes. */
const IN_TWO_STEPS =
  'Change the key in two steps: make the new one where the old one is made (openssl rand -base64 32), run countersign keys rotate-master ' +
  '--new-key-file <a copy of it>, replace the old one with it for every service, restart each of them, and run: countersign keys ' +
  'rotate-master --finish'

async function prepareRotation(options: RotateOptions, core: Core, config: Config): Promise<void> {
  if (!options.newKeyFile)
    throw new CommandError(
      'new_key_needed',
      'The master key is not in the key file, so this command cannot replace it. Make a new one with `openssl rand -base64 32`, keep it where ' +
        'the old one is kept, and give a file with it: --new-key-file <file>.',
    )
  const previousId = masterKeyId(loadMasterKey(config))
  const next = readMasterKeyFile(options.newKeyFile)
  const nextId = masterKeyId(next)
  if (nextId === previousId)
    throw new CommandError('same_key', 'This is the master key in use. Give a new one.')
  await (await rotation()).prepareMasterKey(core.store, core.keys, next)
  print(
    options,
    { master_key_id: nextId, previous: previousId },
    () =>
      `Master key ${nextId} opens the database, as ${previousId} still does. Configure the new one, restart the service,\n` +
      'and then run: countersign keys rotate-master --finish\n' +
      `Keep ${previousId} as long as you keep earlier backups.`,
  )
}

async function finishRotation(
  options: RotateOptions,
  { store, keys, masterKey }: Core,
  config: Config,
): Promise<void> {
  const id = masterKeyId(masterKey)
  // A change that has begun continues: the old key opens nothing any more.
  if (keys.phase === 'prepared')
    await assertServicesRead(
      store,
      id,
      'Both keys open the database until then: configure this one for each of them, restart it, and run the same command again.',
    )
  const progress = progressBar('Sealing again')
  const forgotten = await (await rotation())
    .finishMasterKey(store, keys, masterKey, progress.update)
    .finally(() => progress.stop())
  print(
    options,
    { master_key_id: id, forgotten },
    () =>
      `Only master key ${id} opens the database; everything is sealed under new working keys. ${backupNow(config)}`,
  )
}

async function cancelRotation(options: RotateOptions, { store, keys, masterKey }: Core): Promise<void> {
  const id = masterKeyId(masterKey)
  if (keys.phase !== 'settled')
    throw new CommandError(
      'too_late',
      `Master key ${id} is the new one, and the change can no longer be cancelled. Complete it with --finish.`,
    )
  const forgotten = await (await rotation()).cancelMasterKey(store, masterKey)
  print(options, { master_key_id: id, forgotten }, () =>
    forgotten.length === 0
      ? `No change of the master key is under way; ${id} is in use.`
      : `Discarded: ${forgotten.join(', ')}. Master key ${id} stays in use.`,
  )
}

function backupNow(config: Config): string {
  return isPostgres(config)
    ? 'Make a base backup or a dump now. Earlier ones open only with the old master key and keep users who are erased from now on:\ndelete them, or destroy the old key, as soon as you can.'
    : 'Make a backup now. It moves the earlier keys of users to countersign.keys.<n>: the older copies open only with that file\n' +
        'and the old master key. They keep users who are erased from now on, until you delete that file.'
}
