/** `countersign backup` and `countersign restore`. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../../app/configuration.js'
import { type Config, isPostgres, modelPackDir, sqliteFile } from '../../config/config.js'
import { tablesOf } from '../../features/index.js'
import { systemClock } from '../../lib/clock.js'
import { giveToOwnerOf, makeFolder, moveIntoPlace } from '../../lib/durable-file.js'
import { declare } from '../lib/command.js'
import { CommandError } from '../lib/output.js'
import { assertMasterKey } from '../lib/own-files.js'
import { progressBar } from '../lib/progress.js'
import { counted } from '../lib/style.js'
import { using, withCore } from '../with-core.js'

const KEYS_FILE = 'countersign.keys'
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function registerBackupCommand(command: Command): void {
  declare(command, '<file>', {
    options: {
      '--keys <file>': `file for the users' keys; replaces those written there since the last change of the master key (default: ${KEYS_FILE} in the folder of the copy)`,
    },
    async answer({ file, keys }) {
      const config = assertOnSqlite(loadConfig())
      const keysFile = keys ?? join(dirname(file), KEYS_FILE)
      if (existsSync(file))
        throw new CommandError(
          'file_exists',
          `${file} exists already, and a backup never overwrites a file. Name another one.`,
        )
      for (const folder of [dirname(resolve(file)), dirname(resolve(keysFile))])
        if (!existsSync(folder))
          throw new CommandError(
            'folder_not_found',
            `There is no folder ${folder}. Create it first, or name another file.`,
          )
      const progress = progressBar('Writing')
      const { makeBackup, unfinishedFiles } = await import('./sqlite-backup.js')
      const { removeDatabase } = await import('../../storage/sqlite/sqlite-leftovers.js')
      const removeAndEnd = (signal: NodeJS.Signals) => {
        for (const unfinished of unfinishedFiles(file, keysFile)) removeDatabase(unfinished)
        process.kill(process.pid, signal)
      }
      for (const signal of ENDING) process.once(signal, removeAndEnd)
      const { subjects, keptKeysFile } = await withCore(async ({ store }) => {
        const made = await makeBackup(sqliteFile(config), {
          file,
          keysFile,
          tables: store.tables,
          onProgress: (pages, totalPages) => progress.update(pages, totalPages, 'pages'),
        })
        await store.transaction('rows', (tx) => tx.setLastBackup(systemClock.now()))
        return made
      }).finally(() => {
        progress.stop()
        for (const signal of ENDING) process.off(signal, removeAndEnd)
      })
      return { file, keys_file: keysFile, kept_keys_file: keptKeysFile, users: subjects }
    },
    text: ({ file, keys_file: keysFile, kept_keys_file: kept, users }) =>
      `Wrote ${file}, and the keys of its ${counted(users, 'user')} to ${keysFile}.
${kept ? `${keptNotice(kept)}\n` : ''}Keep copies as long as you like, but only the latest keys: then an erased user is erased in every copy.
Neither opens without the master key; keep that apart.`,
  })
}

/** @throws CommandError backup_unsupported */
function assertOnSqlite(config: Config): Config {
  if (!isPostgres(config)) return config
  throw new CommandError(
    'backup_unsupported',
    'A PostgreSQL database is backed up and restored by its own tools, pg_dump or pg_basebackup.',
  )
}

function keptNotice(kept: string): string {
  return (
    `The previous keys are from before a change of the master key and were moved to ${kept}: only they open the copies from that time\n` +
    '(countersign restore <copy> --keys …). Until you delete that file, those copies keep users who are erased from now on.'
  )
}

export function registerRestoreCommand(command: Command): void {
  declare(command, '<file>', {
    options: { '--keys <file>': `the latest keys (default: ${KEYS_FILE} in the folder of the copy)` },
    async answer({ file, keys }) {
      const config = assertOnSqlite(loadConfig())
      const database = sqliteFile(config)
      const beside = join(dirname(file), KEYS_FILE)
      const keysFile = keys ?? (existsSync(beside) ? beside : null)
      for (const wanted of [file, ...(keys ? [keys] : [])])
        if (!existsSync(wanted)) throw new CommandError('file_not_found', `There is no file ${wanted}.`)
      // A write-ahead log or journal next to the database means that it is in use, or was left by a crash.
      for (const taken of [database, `${database}-wal`, `${database}-journal`])
        if (existsSync(taken))
          throw new CommandError(
            'file_exists',
            `${taken} exists, and a restore never overwrites a file. Stop the service and move its database away first.`,
          )
      assertMasterKey(config)
      const { subjects, erased } = await restoreDatabase(config, file, keysFile)
      return { database, users: subjects, users_erased: erased }
    },
    text: ({ database, users, users_erased: erased }) =>
      `Restored ${counted(users, 'user')} to ${database}; left out, because erased since the backup: ${erased}.`,
    remark() {
      const dir = modelPackDir(loadConfig())
      if (existsSync(join(dir, 'pack.json'))) return null
      return `The copy holds no model pack, and ${dir} has none: put the folder back, or see countersign models list.`
    },
  })
}

/** Writes copy and keys to the configured database, which must not exist yet. @throws RestoreError */
export async function restoreDatabase(
  config: Config,
  copy: string,
  keysFile: string | null,
): Promise<{ subjects: number; erased: number }> {
  const { joinKeys } = await import('./sqlite-backup.js')
  const { removeDatabase } = await import('../../storage/sqlite/sqlite-leftovers.js')
  const database = sqliteFile(config)
  makeFolder(dirname(database))
  const partial = `${database}.partial`
  try {
    const joined = await joinKeys(copy, keysFile, partial, tablesOf())
    // Opening it proves that the master key fits. Every audit log then records the restore.
    await using({ ...config, database: `sqlite:${partial}` }, ({ operations, actor }) =>
      operations.tenants.noteRestored(actor),
    )
    giveToOwnerOf(dirname(database), partial)
    moveIntoPlace(partial, database)
    return joined
  } finally {
    removeDatabase(partial)
  }
}
