/** Opens the database for one command and always closes it again. */

import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../app/configuration.js'
import type { CoreOptions } from '../app/core.js'
import { databaseOf } from '../app/database.js'
import { type Config, isPostgres, sqliteFile } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import { systemClock } from '../lib/clock.js'
import { commandsOn } from './lib/command.js'
import type { CommandCore } from './lib/feature-command.js'
import { CommandError } from './lib/output.js'
import { assertMasterKey, closeFilesToOthers } from './lib/own-files.js'

/** A database that another command is making is empty for some milliseconds, on a busy machine for longer. */
const CREATION_MS = 1000
const CREATION_POLL_MS = 20

type Work<T> = (core: CommandCore, config: Config) => Promise<T>

/** @throws CommandError database_missing, master_key_missing: a command that only reads or changes must not create either */
export async function withCore<T>(work: Work<T>, options: CoreOptions = {}): Promise<T> {
  const config = loadConfig(process.env, options.features)
  if (!(await databaseOf(config, options.features).exists())) throw databaseMissing(config)
  assertMasterKey(config)
  return using(config, work, options)
}

export const { coreCommand, tenantCommand, liveTenantCommand } = commandsOn({ withCore })

export function databaseMissing(config: Config): CommandError {
  return new CommandError(
    'database_missing',
    `There is no database at ${databaseOf(config).describe()} yet. \`countersign serve\` or \`countersign tenant create\` makes one. If the service runs with another COUNTERSIGN_DATA_DIR or COUNTERSIGN_DATABASE, set the same here.`,
  )
}

/** Creates the database and the master key where they are missing. */
export async function withNewLedger<T>(work: Work<T>): Promise<T> {
  const config = loadConfig()
  if (await databaseOf(config).exists()) assertMasterKey(config)
  return using(config, work)
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
  const { COMMAND_LINE } = await import('../audit/audited-unit-of-work.js')
  const opened = administered(await openCore(config, systemClock, options), systemClock)
  const core = { ...opened, actor: COMMAND_LINE, clock: systemClock }
  try {
    return await work(core, config)
  } finally {
    await core.store.close()
  }
}
