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
import { declare, TOLD, type Told } from '../lib/command.js'
import { CommandError, UsageError } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { coreCommand, withCore } from '../with-core.js'
import { assertServicesRead } from './key-followers.js'

/** Opens the database. Imported late, so that help does without it. */
const rotation = () => import('../../keys/master-key-rotation.js')

export function registerKeysCommands(keys: Command): void {
  coreCommand(keys, 'instance-secret', {
    does: 'print the secret that signs responses for which no tenant is known (kid=instance)',
    answer: async ({ keys: { instance } }) => ({ id: 'instance', secret: instance.toString('hex') }),
    text: ({ secret }) => secret,
  })

  declare(keys, 'rotate-master', {
    does: 'replace the master key and all working keys; the service may be running',
    options: {
      '--new-key-file <file>':
        'file with the new master key (mode 0600), where the key is not in the key file',
      '--finish': 'with the new key configured: remove the old one and seal everything under the new keys',
      '--cancel': 'with the old key configured: discard the new one',
    },
    async answer({ newKeyFile, finish, cancel }): Promise<Told> {
      if ([finish, newKeyFile, cancel].filter(Boolean).length > 1)
        throw new UsageError(
          'invalid_option',
          '--new-key-file, --finish and --cancel are separate steps. Give only one of them.',
        )
      return withCore((core, config) => {
        if (cancel) return cancelRotation(core)
        // A change of the key file that a crash ended is resumed.
        const isUnfinished = core.keys.phase !== 'settled' && !newKeyFile
        if (finish || isUnfinished) return finishRotation(core, config)
        return isKeyFileUsed(config) && !newKeyFile
          ? rotateInPlace(core, config)
          : prepareRotation(newKeyFile, core, config)
      })
    },
    ...TOLD,
  })

  coreCommand(keys, 'discard-master <id>', {
    does: 'destroy an old master key next to the key file; backups made under it cannot be opened any more',
    async answer({ masterKey, config: { masterKeyFile } }, { id }) {
      if (id === masterKeyId(masterKey))
        throw new CommandError('key_in_use', `${id} is the master key in use and cannot be discarded.`)
      const file = keptKeyFile(masterKeyFile, id)
      if (!/^[0-9a-f]{16}$/.test(id) || !existsSync(file))
        throw new CommandError(
          'key_not_found',
          `There is no master key ${id} in the folder of ${masterKeyFile}.`,
        )
      await unlink(file)
      return { discarded: id, file }
    },
    text: ({ file }) => `${file} is destroyed: backups made under it can no longer be opened.`,
  })
}

/** Changes the master key in one step, where this program can replace the key file. Keeps the old key, for the backups made under it. */
async function rotateInPlace(core: Core, config: Config): Promise<Told> {
  const next = newMasterKey()
  const file = config.masterKeyFile
  const { store } = core
  let kept: string
  try {
    written(file, () => offerKeyFile(file, next))
    await assertServicesRead(store, masterKeyId(next), `They do not read ${file} here. ${IN_TWO_STEPS}`)
    kept = written(file, () => keepKeyFile(file, core.masterKey))
    await (await rotation()).prepareMasterKey(store, core.keys, next)
    replaceKeyFile(file, next)
  } finally {
    withdrawKeyFile(file)
  }
  const { findKeys } = await import('../../keys/find-keys.js')
  const { FEATURES, openDataKeys } = await import('../../features/index.js')
  const keys = (await findKeys(store.read, next))!
  await openDataKeys(FEATURES, { store, keys, config })
  const progress = progressBar('Sealing again')
  await (await rotation()).finishMasterKey(store, keys, next, progress.update).finally(() => progress.stop())
  const id = masterKeyId(next)
  const previousId = masterKeyId(core.masterKey)
  return {
    view: { master_key_id: id, previous: null, kept },
    text:
      `Master key ${id} is in ${file}; ${previousId} no longer opens the database, and everything is sealed under new working keys.\n` +
      `${backupNow(config)}\nThe old key is kept in ${kept} for the earlier backups. When you no longer need them: countersign keys discard-master ${previousId}`,
  }
}

/** @throws CommandError key_file_read_only */
function written<T>(file: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw new CommandError(
      'key_file_read_only',
      `The folder of ${file} cannot be written (${(error as Error).message}). ${IN_TWO_STEPS}`,
    )
  }
}

/** The remedy where services have copies of the key: as systemd credentials, on several machines, from a Secret of Kubernetes. */
const IN_TWO_STEPS =
  'Change the key in two steps: make the new one where the old one is made (openssl rand -base64 32), run countersign keys rotate-master ' +
  '--new-key-file <a copy of it>, replace the old one with it for every service, restart each of them, and run: countersign keys ' +
  'rotate-master --finish'

async function prepareRotation(file: string | undefined, core: Core, config: Config): Promise<Told> {
  if (!file)
    throw new CommandError(
      'new_key_needed',
      'The master key is not in the key file, so this command cannot replace it. Make a new one with `openssl rand -base64 32`, keep it where ' +
        'the old one is kept, and give a file with it: --new-key-file <file>.',
    )
  const previousId = masterKeyId(loadMasterKey(config))
  const next = readMasterKeyFile(file)
  const nextId = masterKeyId(next)
  if (nextId === previousId)
    throw new CommandError('same_key', 'This is the master key in use. Give a new one.')
  await (await rotation()).prepareMasterKey(core.store, core.keys, next)
  return {
    view: { master_key_id: nextId, previous: previousId },
    text:
      `Master key ${nextId} opens the database, as ${previousId} still does. Configure the new one, restart the service,\n` +
      'and then run: countersign keys rotate-master --finish\n' +
      `Keep ${previousId} as long as you keep earlier backups.`,
  }
}

async function finishRotation({ store, keys, masterKey }: Core, config: Config): Promise<Told> {
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
  return {
    view: { master_key_id: id, forgotten },
    text: `Only master key ${id} opens the database; everything is sealed under new working keys. ${backupNow(config)}`,
  }
}

async function cancelRotation({ store, keys, masterKey }: Core): Promise<Told> {
  const id = masterKeyId(masterKey)
  if (keys.phase !== 'settled')
    throw new CommandError(
      'too_late',
      `Master key ${id} is the new one, and the change can no longer be cancelled. Complete it with --finish.`,
    )
  const forgotten = await (await rotation()).cancelMasterKey(store, masterKey)
  const text =
    forgotten.length === 0
      ? `No change of the master key is under way; ${id} is in use.`
      : `Discarded: ${forgotten.join(', ')}. Master key ${id} stays in use.`
  return { view: { master_key_id: id, forgotten }, text }
}

function backupNow(config: Config): string {
  return isPostgres(config)
    ? 'Make a base backup or a dump now. Earlier ones open only with the old master key and keep users who are erased from now on:\ndelete them, or destroy the old key, as soon as you can.'
    : 'Make a backup now. It moves the earlier keys of users to countersign.keys.<n>: the older copies open only with that file\n' +
        'and the old master key. They keep users who are erased from now on, until you delete that file.'
}
