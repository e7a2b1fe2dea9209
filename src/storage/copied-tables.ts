/** What a copy to another kind of database takes along, and reading it in an order that both kinds have. */
import type { Connection } from './connection.js'

export interface CopiedTable {
  name: string
  /** What no two rows share, and by which both databases order them alike. */
  key: readonly string[]
}

export type Value = string | number | Buffer | null
/** By column. */
export type Row = Record<string, Value>

/**
 * Each table after those that it refers to. The seals of the audit logs stand near the front, because they change with everything:
 * a database that has been served from is told from its copy before its long tables are read.
 */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'tenant', key: ['id'] },
  { name: 'keyring', key: ['master_key_id'] },
  { name: 'audit_seal', key: ['tenant_id'] },
  { name: 'operator', key: ['id'] },
  { name: 'person', key: ['id'] },
  { name: 'api_key', key: ['id'] },
  { name: 'signing_secret', key: ['id'] },
  { name: 'login_link', key: ['hash'] },
  { name: 'second_factor', key: ['id'] },
  { name: 'operator_link', key: ['hash'] },
  { name: 'person_link', key: ['hash'] },
  { name: 'dashboard_session', key: ['hash'] },
  { name: 'subject', key: ['id'] },
  { name: 'sandbox_user', key: ['lookup'] },
  { name: 'reference', key: ['id'] },
  // The order in which captures were seen is by this number.
  { name: 'capture', key: ['rowid'] },
  { name: 'challenge', key: ['id'] },
  { name: 'capture_session', key: ['id'] },
  { name: 'capture_logo', key: ['tenant_id'] },
  { name: 'consent_text', key: ['tenant_id', 'sha256', 'version'] },
  { name: 'idempotency', key: ['scope'] },
  { name: 'erasure', key: ['lookup'] },
  { name: 'webhook_endpoint', key: ['id'] },
  { name: 'webhook_delivery', key: ['id'] },
  { name: 'traffic', key: ['tenant_id', 'resolution', 'at'] },
  { name: 'request_log', key: ['request_id'] },
  { name: 'last_backup', key: ['id'] },
  { name: 'audit_walk', key: ['id'] },
  { name: 'audit', key: ['tenant_id', 'sequence'] },
]

/**
 * In PostgreSQL alone: what services agree on while they run, the epochs under which they wrap data keys, and the operator's password,
 * which SQLite leaves to a file.
 */
export const TABLES_OF_POSTGRES: readonly string[] = [
  'schema_version',
  'lane',
  'duty',
  'node',
  'epoch',
  'claim',
  'bucket',
  'operator_password',
]

/** The tables of one side. */
export class TablePages {
  constructor(private readonly connection: Connection) {}

  async count({ name }: CopiedTable): Promise<number> {
    return (await this.connection
      .prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${name}`)
      .get())!.count
  }

  async hasRows({ name }: CopiedTable): Promise<boolean> {
    return (await this.connection.prepare<[]>(`SELECT 1 AS one FROM ${name} LIMIT 1`).get()) !== undefined
  }

  /** In the order of the key, behind the row `after`. */
  async page(
    { name, key }: CopiedTable,
    columns: readonly string[],
    after: Row | null,
    limit: number,
  ): Promise<Row[]> {
    const place = key.join(', ')
    const behind = after ? `WHERE (${place}) > (${key.map(() => '?').join(', ')})` : ''
    return this.connection
      .prepare<unknown[], Row>(
        `SELECT ${columns.join(', ')} FROM ${name} ${behind} ORDER BY ${place} LIMIT ?`,
      )
      .all(...(after ? key.map((column) => after[column]) : []), limit)
  }
}

/** Those that are missing on one side, or stand only there. */
export function sameColumns(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((column) => other.includes(column))
}
