/** The tables that a copy to the other kind of database takes along, read in an order that both kinds share. */
import type { Connection } from './connection.js'

export interface CopiedTable {
  name: string
  /** Columns that are unique together, and by which both databases order rows alike. */
  key: readonly string[]
}

export type Value = string | number | Buffer | null
/** A row's values by the name of their column. */
export type Row = Record<string, Value>

/** Each table comes after those that it refers to. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'tenant', key: ['id'] },
  { name: 'keyring', key: ['master_key_id'] },
  { name: 'verdict_key', key: ['id'] },
  { name: 'openid_key', key: ['id'] },
  { name: 'openid_client', key: ['id'] },
  { name: 'openid_state', key: ['lookup'] },
  { name: 'openid_callback', key: ['request'] },
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
  { name: 'sandbox_verification', key: ['id'] },
  { name: 'reference', key: ['id'] },
  { name: 'following_reference', key: ['id'] },
  { name: 'aged_reference', key: ['id'] },
  { name: 'model_migration', key: ['id'] },
  { name: 'passkey', key: ['id'] },
  { name: 'own_consent_text', key: ['subject_id', 'sha256', 'version'] },
  // Captures are ordered by SQLite's row number, in which they were seen.
  { name: 'capture', key: ['rowid'] },
  { name: 'challenge', key: ['id'] },
  { name: 'capture_session', key: ['id'] },
  { name: 'capture_logo', key: ['tenant_id'] },
  { name: 'consent_text', key: ['tenant_id', 'sha256', 'version'] },
  { name: 'policy_version', key: ['tenant_id', 'hash'] },
  { name: 'approval', key: ['id'] },
  { name: 'user_activity', key: ['lookup'] },
  { name: 'retention_start', key: ['tenant_id'] },
  { name: 'idempotency', key: ['scope'] },
  { name: 'erasure', key: ['lookup'] },
  { name: 'webhook_endpoint', key: ['id'] },
  { name: 'webhook_delivery', key: ['id'] },
  { name: 'traffic', key: ['tenant_id', 'resolution', 'at'] },
  { name: 'drift', key: ['tenant_id', 'model', 'at'] },
  { name: 'shadow', key: ['tenant_id', 'model', 'candidate', 'at'] },
  { name: 'request_log', key: ['request_id'] },
  { name: 'last_backup', key: ['id'] },
  { name: 'audit_walk', key: ['id'] },
  { name: 'audit', key: ['tenant_id', 'sequence'] },
]

/**
 * Tables that exist only in PostgreSQL and are not copied: what services agree on while they run, the epochs under which they wrap data
 * keys, and the operator's password, which SQLite leaves to a file and which is copied separately.
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

/** Rows in memory at once, of each side. */
const PAGE_ROWS = 500

export async function rowCount(connection: Connection, { name }: CopiedTable): Promise<number> {
  return (await connection.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${name}`).get())!
    .count
}

export async function hasRows(connection: Connection, { name }: CopiedTable): Promise<boolean> {
  return (await connection.prepare<[]>(`SELECT 1 AS one FROM ${name} LIMIT 1`).get()) !== undefined
}

/** All rows in the order of the key, page by page; the last page has fewer rows than the others, or none. */
export async function* pagesOf(
  connection: Connection,
  { name, key }: CopiedTable,
  columns: readonly string[],
): AsyncGenerator<Row[], undefined> {
  const order = key.join(', ')
  const select = (where: string) =>
    connection.prepare<unknown[], Row>(
      `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${order} LIMIT ${PAGE_ROWS}`,
    )
  let rows: Row[] = await select('').all()
  yield rows
  const next = select(`WHERE (${order}) > (${key.map(() => '?').join(', ')})`)
  while (rows.length === PAGE_ROWS) {
    const last: Row = rows.at(-1)!
    rows = await next.all(...key.map((column) => last[column]))
    yield rows
  }
  return undefined
}
