/** Paths of the workload's files, below the root of a disk. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { loadConfig } from '../../src/app/configuration.js'
import type { Config } from '../../src/config/config.js'
import type { Tables } from './marks.js'

export const PASSWORD = 'the password of the operator\n'

export function configOf(root: string): Config {
  // Two folders that do not exist: the first start makes them.
  return loadConfig({ COUNTERSIGN_DATA_DIR: join(root, 'srv', 'countersign') })
}

/** Configuration with the same keys and another database. */
export function restoredConfigOf(root: string): Config {
  return { ...configOf(root), database: `sqlite:${join(root, 'restored', 'countersign.db')}` }
}

export const passwordFile = (root: string) => join(configOf(root).dataDir, 'operator-password')
export const backupsFolder = (root: string) => join(root, 'backups')
export const copyFile = (root: string, copy: string) => join(backupsFolder(root), `${copy}.db`)
export const keysFile = (root: string) => join(backupsFolder(root), 'countersign.keys')

/** Digests of all tables, read over a separate connection. */
export function tablesOf(file: string): Tables {
  const database = new Database(file, { readonly: true })
  try {
    const names = database
      .prepare(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
      )
      .pluck()
      .all() as string[]
    return Object.fromEntries(names.map((name) => [name, digest(database, name)]))
  } finally {
    database.close()
  }
}

/** Computed by SQLite: in JavaScript, row by row, it would take most of the time of an image. */
function digest(database: Database.Database, table: string): string {
  const columns = database.pragma(`table_info(${table})`) as Array<{ name: string }>
  const row = columns.map(({ name }) => `quote(${name})`).join(` || ',' || `)
  const text = database.prepare(`SELECT group_concat(${row}, ';') FROM ${table}`).pluck().get()
  return createHash('sha256').update(String(text)).digest('base64url')
}

/** @param except tables that are not compared */
export function isSame(a: Tables, b: Tables, except: readonly string[] = []): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => except.includes(name) || a[name] === b[name])
}
