/** The report of a SQLite service about itself to commands: a file next to the database, which exists while the service runs. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { COMMIT, VERSION } from '../../lib/version.js'
import type { Presence, ServiceNode } from '../coordinator.js'
import { isBusy } from './sqlite-errors.js'
import { SCHEMA_VERSION } from './sqlite-migrations.js'
import { peek } from './sqlite-peek.js'

const presenceFile = (database: string) => `${database}-service`

export class SqlitePresence implements Presence {
  private readonly file: string
  private readonly node: ServiceNode = {
    id: 'service',
    name: `${hostname()}/${process.pid}`,
    version: VERSION,
    commit: COMMIT,
    schema: SCHEMA_VERSION,
    startedAt: Date.now(),
    leaseMs: 0,
    settings: null,
    masterKeys: null,
    notReady: ['starting'],
  }

  constructor(database: string) {
    this.file = presenceFile(database)
    this.write()
  }

  async announce(settings: Record<string, string>): Promise<void> {
    this.node.settings = settings
    this.write()
  }

  showMasterKeys(ids: readonly string[]): void {
    if (this.node.masterKeys?.join() === ids.join()) return
    this.node.masterKeys = [...ids]
    this.write()
  }

  showReadiness(notReady: readonly string[]): void {
    if (this.node.notReady.join() === notReady.join()) return
    this.node.notReady = [...notReady]
    this.write()
  }

  /** Removes the file. If the disk keeps it, commands ignore it, because no service holds the lock. */
  close(): void {
    remove(this.file)
  }

  /** A full disk must not end the service. Commands then know less about it, and refuse what could harm it. */
  private write(): void {
    const partial = `${this.file}.${process.pid}.tmp`
    try {
      writeFileSync(partial, JSON.stringify(this.node), { mode: 0o600 })
      renameSync(partial, this.file)
    } catch {
      remove(partial)
    }
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // A disk that cannot be written must not keep the service from ending properly.
  }
}

/** A service that says nothing about itself. */
const UNKNOWN: ServiceNode = {
  ...{ id: 'service', name: 'the service', version: 'unknown', commit: 'unknown', schema: null },
  ...{ startedAt: 0, leaseMs: 0, settings: null, masterKeys: null, notReady: [] },
}

/**
 * The service that uses the database now, if any. A service of an earlier version, which writes no report, is listed without settings and
 * keys.
 */
export function sqliteServices(database: string): ServiceNode[] {
  if (!isServed(database)) return []
  try {
    return [{ ...UNKNOWN, ...JSON.parse(readFileSync(presenceFile(database), 'utf8')) }]
  } catch {
    return [UNKNOWN]
  }
}

/** Whether a service holds the lock of `claimDatabase`. Reads only: the lock is not taken. */
function isServed(database: string): boolean {
  try {
    peek(`${database}-serving`, (claim) => claim.prepare('SELECT count(*) FROM sqlite_schema').get(), 0)
    return false
  } catch (error) {
    return isBusy(error)
  }
}
