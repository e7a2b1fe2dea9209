/** Looks whether the database has a recent backup. */
import { existsSync } from 'node:fs'
import { type Config, sqliteFile } from '../../config/config.js'
import { DAY_MS } from '../../lib/clock.js'

/** Age from which on a backup is warned of. alerts.yml has the same limit. */
const BACKUP_LIMIT_MS = 2 * DAY_MS

/**
 * Needs neither the keys of the database nor the current schema. @param now milliseconds since the Unix epoch
 * @returns a sentence about a backup that is missing or too old, or null
 */
export async function overdueBackup(config: Config, now: number): Promise<string | null> {
  const database = config.database.startsWith('sqlite:') ? sqliteFile(config) : null
  if (!database || !existsSync(database)) return null
  const { peekBackups } = await import('../../storage/sqlite/sqlite-peek.js')
  const seen = peekBackups(database)
  const since = seen ? (seen.lastBackupAt ?? seen.oldestTenantAt) : null
  if (!seen || since === null || now - since <= BACKUP_LIMIT_MS) return null
  return seen.lastBackupAt === null
    ? `There is no backup of ${database} yet. Make one: countersign backup <file>.`
    : `The last backup of ${database} is ${Math.floor((now - since) / DAY_MS)} days old.`
}
