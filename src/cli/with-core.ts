/** Opens the database for one command and always closes it again. */

import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdministeredCore } from '../admin/administration.js'
import { loadConfig } from '../app/configuration.js'
import type { CoreOptions } from '../app/core.js'
import { type Config, isPostgres, sqliteFile } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import { isKeyFileUsed } from '../crypto/master-key.js'
import type { ListedFeature } from '../features/feature.js'
import { FEATURES, tablesOf } from '../features/index.js'
import { systemClock } from '../lib/clock.js'
import { describeDatabase, hasDatabase } from '../storage/open-store.js'
import { CommandError } from './lib/output.js'

/** A database that another command is making is empty for some milliseconds, on a busy machine for longer. */
const CREATION_MS = 1000
const CREATION_POLL_MS = 20

type Work<T> = (core: AdministeredCore, config: Config) => Promise<T>

/** @throws CommandError database_missing, master_key_missing: a command that only reads or changes must not create either */
export async function withCore<T>(
  work: Work<T>,
  features: readonly ListedFeature[] = FEATURES,
  options: CoreOptions = {},
): Promise<T> {
  const config = loadConfig(process.env, features)
  if (!(await hasDatabase(config))) throw databaseMissing(config)
  assertMasterKey(config)
  return using(config, work, { tables: tablesOf(features), ...options })
}

export function databaseMissing(config: Config): CommandError {
  return new CommandError(
    'database_missing',
    `There is no database at ${describeDatabase(config)} yet. \`countersign serve\` or \`countersign tenant create\` makes one. If the service runs with another COUNTERSIGN_DATA_DIR or COUNTERSIGN_DATABASE, set the same here.`,
  )
}

/** Creates the database and the master key where they are missing. */
export async function withNewLedger<T>(work: Work<T>): Promise<T> {
  const config = loadConfig()
  if (await hasDatabase(config)) assertMasterKey(config)
  return using(config, work)
}

/** Called for an existing database, which a new key would not open. @throws CommandError master_key_missing */
export function assertMasterKey(config: Config): void {
  if (isKeyFileUsed(config) && !isThere(config.masterKeyFile))
    throw new CommandError(
      'master_key_missing',
      `There is no master key at ${config.masterKeyFile}. Put the database's key there first.`,
    )
}

/** Makes new files (databases, logs, backups) readable by their owner only, regardless of the shell's umask. */
export function closeFilesToOthers(): void {
  process.umask(0o077)
}

/**
 * A full disk or a mistaken redirection leaves an empty file instead of a database. Only `serve` and `migrate` may fill it. A file that is
 * new may become a database: another command is making it.
 * @throws CommandError database_empty
 */
export async function assertNotEmpty(config: Config): Promise<void> {
  if (isPostgres(config)) return
  const file = sqliteFile(config)
  const isEmpty = () => isThere(file) && !isThere(`${file}-wal`) && statSync(file).size === 0
  for (const until = performance.now() + CREATION_MS; isEmpty(); await sleep(CREATION_POLL_MS))
    if (performance.now() > until || Date.now() - statSync(file).ctimeMs > CREATION_MS)
      throw new CommandError(
        'database_empty',
        `${file} is empty. Remove it, and restore a backup if there was a database; \`countersign serve\` makes a new one.`,
      )
}

export async function using<T>(config: Config, work: Work<T>, options: CoreOptions = {}): Promise<T> {
  if (!options.migrating) await assertNotEmpty(config)
  closeFilesToOthers()
  // Imported here: help needs no database, and works where SQLite is broken.
  const { openCore } = await import('../app/core.js')
  const { administered } = await import('../admin/administration.js')
  const core = administered(await openCore(config, systemClock, options), systemClock)
  try {
    return await work(core, config)
  } finally {
    await core.store.close()
  }
}
