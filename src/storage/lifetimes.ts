/**
 * Lists every table of the core with what ends its rows: the erasure of their user, the end of their tenant, or time. The statements that delete follow
 * from here, and so does the order in which a copy to the other kind of database is made.
 */
import { DAY_MS, HOUR_MS } from '../lib/clock.js'
import type { Connection } from './connection.js'

/** How long what a caller may still ask about is kept after its end, so that a late caller learns that it has expired. */
const LATE_MS = HOUR_MS
/** How long counts of verifies are kept. A comparison needs the last 35 days. */
const COUNTS_KEPT_MS = 100 * DAY_MS
/** How long counts of traffic are kept: a little longer than the hour and the week that the dashboard's charts show. */
const TRAFFIC_KEPT_MS = { minute: 2 * HOUR_MS, hour: 8 * DAY_MS }

/** Condition that finds the rows of a user by the blind index, for each kind of column that a table refers to its user by. */
const OF_USER = {
  lookup: 'lookup = ?',
  user_lookup: 'user_lookup = ?',
  subject_id: 'subject_id = (SELECT id FROM subject WHERE lookup = ?)',
  reference_id:
    'reference_id IN (SELECT id FROM reference WHERE subject_id = (SELECT id FROM subject WHERE lookup = ?))',
}

export interface Lifetime {
  name: string
  /** Columns that are unique together, and by which both databases order rows alike. */
  key: readonly string[]
  /**
   * The column by which an erasure deletes the rows of its user. `cascade` where a foreign key deletes them with the user, `own` where the
   * store has a statement of its own, because something is left; null for a table whose rows no erasure reaches.
   */
  user: keyof typeof OF_USER | 'cascade' | 'own' | null
  /** Whether the end of a tenant deletes its rows by their `tenant_id`. */
  endsWithTenant?: boolean
  expires?: Expiry | readonly Expiry[]
}

/** The rows that time ends: those whose column `at` lies at least `keptMs` back (default: 0), if `when` is true of them as well. */
export interface Expiry {
  at: string
  keptMs?: number
  when?: string
}

const EXPIRING = { at: 'expires_at' }
const ASKED_LATE = { at: 'expires_at', keptMs: LATE_MS }
const UNTIL_GONE = { at: 'gone_at' }

/** Every table of the core that both kinds of database have. Each comes after those that it refers to, and those of features come after all. */
export const LIFETIMES: readonly Lifetime[] = [
  { name: 'tenant', key: ['id'], user: null },
  { name: 'keyring', key: ['master_key_id'], user: null },
  { name: 'verdict_key', key: ['id'], user: null, expires: UNTIL_GONE },
  { name: 'openid_key', key: ['id'], user: null, expires: UNTIL_GONE },
  { name: 'openid_client', key: ['id'], user: null, endsWithTenant: true },
  { name: 'openid_state', key: ['lookup'], user: 'user_lookup', expires: EXPIRING },
  { name: 'openid_callback', key: ['request'], user: 'lookup', endsWithTenant: true, expires: EXPIRING },
  { name: 'audit_seal', key: ['tenant_id'], user: null },
  { name: 'operator', key: ['id'], user: null },
  { name: 'person', key: ['id'], user: null, endsWithTenant: true },
  { name: 'api_key', key: ['id'], user: null },
  {
    name: 'signing_secret',
    key: ['id'],
    user: null,
    endsWithTenant: true,
    expires: { at: 'valid_until' },
  },
  { name: 'login_link', key: ['hash'], user: null, endsWithTenant: true, expires: EXPIRING },
  { name: 'second_factor', key: ['id'], user: null },
  { name: 'operator_link', key: ['hash'], user: null },
  { name: 'person_link', key: ['hash'], user: null, endsWithTenant: true },
  { name: 'dashboard_session', key: ['hash'], user: null, endsWithTenant: true, expires: EXPIRING },
  { name: 'subject', key: ['id'], user: 'lookup' },
  { name: 'sandbox_user', key: ['lookup'], user: 'cascade' },
  {
    name: 'sandbox_verification',
    key: ['id'],
    user: 'lookup',
    endsWithTenant: true,
    expires: EXPIRING,
  },
  { name: 'reference', key: ['id'], user: 'subject_id' },
  { name: 'following_reference', key: ['id'], user: 'reference_id' },
  { name: 'aged_reference', key: ['id'], user: 'reference_id' },
  { name: 'model_migration', key: ['id'], user: null },
  { name: 'passkey', key: ['id'], user: 'subject_id' },
  { name: 'own_consent_text', key: ['subject_id', 'sha256', 'version'], user: 'cascade' },
  // Captures are ordered by SQLite's row number, in which they were seen.
  { name: 'capture', key: ['rowid'], user: 'subject_id', expires: { at: 'seen_at', keptMs: DAY_MS } },
  { name: 'challenge', key: ['id'], user: 'lookup', endsWithTenant: true, expires: ASKED_LATE },
  { name: 'capture_session', key: ['id'], user: 'lookup', endsWithTenant: true, expires: ASKED_LATE },
  { name: 'capture_logo', key: ['tenant_id'], user: null, endsWithTenant: true },
  // Texts for every user, which name nobody.
  { name: 'consent_text', key: ['tenant_id', 'sha256', 'version'], user: null },
  { name: 'policy_version', key: ['tenant_id', 'hash'], user: null },
  { name: 'approval', key: ['id'], user: 'lookup', endsWithTenant: true, expires: ASKED_LATE },
  { name: 'user_activity', key: ['lookup'], user: 'lookup', endsWithTenant: true },
  { name: 'retention_start', key: ['tenant_id'], user: null, endsWithTenant: true },
  { name: 'idempotency', key: ['scope'], user: 'lookup', expires: EXPIRING },
  // The receipt of an erasure is written by it.
  { name: 'erasure', key: ['lookup'], user: null, expires: EXPIRING },
  // The foreign key deletes the deliveries of the endpoint.
  { name: 'webhook_endpoint', key: ['id'], user: null, endsWithTenant: true },
  {
    name: 'webhook_delivery',
    key: ['id'],
    // The delivery stays, without what it says.
    user: 'own',
    expires: {
      at: 'expires_at',
      // Deliveries to a suspended tenant wait for its return.
      when: `(next_attempt_at IS NULL
       OR tenant_id NOT IN (SELECT id FROM tenant WHERE suspended_at IS NOT NULL))`,
    },
  },
  {
    name: 'traffic',
    key: ['tenant_id', 'resolution', 'at'],
    user: null,
    endsWithTenant: true,
    expires: [
      { at: 'at', keptMs: TRAFFIC_KEPT_MS.minute, when: "resolution = 'minute'" },
      { at: 'at', keptMs: TRAFFIC_KEPT_MS.hour, when: "resolution = 'hour'" },
    ],
  },
  {
    name: 'drift',
    key: ['tenant_id', 'model', 'at'],
    user: null,
    endsWithTenant: true,
    expires: { at: 'at', keptMs: COUNTS_KEPT_MS },
  },
  // The log names users of the sandbox by their blind index, which is forgotten, and users in production by a pseudonym that is lost with
  // their data key. Old requests end by their id.
  { name: 'request_log', key: ['request_id'], user: 'own', endsWithTenant: true },
  { name: 'last_backup', key: ['id'], user: null },
  { name: 'audit_walk', key: ['id'], user: null },
  // The log names users by a pseudonym that is lost with their data key.
  { name: 'audit', key: ['tenant_id', 'sequence'], user: null },
]

/** The lifetimes of all tables: those of the core, then those of features. */
export function lifetimesWith(tables: ReadonlyArray<{ lifetime: Lifetime }>): Lifetime[] {
  return [...LIFETIMES, ...tables.map(({ lifetime }) => lifetime)]
}

/** The tables that a copy to the other kind of database takes along. */
export function copiedWith(tables: ReadonlyArray<{ lifetime: Lifetime; isCopied: boolean }>): Lifetime[] {
  return lifetimesWith(tables.filter(({ isCopied }) => isCopied))
}

/** Rows of a table deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
export const EXPIRED_AT_ONCE = 250

/** The statements that delete what is at its end. A row is deleted before the one that it refers to. */
export function endings(database: Connection, lifetimes: readonly Lifetime[]) {
  const tables = lifetimes.toReversed()
  /** Deletes in the order of an index: otherwise PostgreSQL would start each batch by reading the dead rows of the batches before. */
  const expire = ({ name, key }: Lifetime, { at, when }: Expiry) =>
    database.prepare<[number]>(
      `WITH expired AS (SELECT ${key.join(', ')} FROM ${name} WHERE ${at} <= ? ${when ? `AND ${when}` : ''} ORDER BY ${at}
         LIMIT ${EXPIRED_AT_ONCE} ${database.skipLocked ?? ''})
       DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT * FROM expired)`,
    )
  const ofUser = tables.flatMap(({ name, user }) =>
    user === null || user === 'cascade' || user === 'own'
      ? []
      : [{ name, statement: database.prepare<[Buffer]>(`DELETE FROM ${name} WHERE ${OF_USER[user]}`) }],
  )
  const ofTenant = tables
    .filter(({ endsWithTenant }) => endsWithTenant)
    .map(({ name }) => database.prepare<[string]>(`DELETE FROM ${name} WHERE tenant_id = ?`))
  const old = tables.flatMap((table) =>
    [table.expires ?? []].flat().map((expiry) => ({
      keptMs: expiry.keptMs ?? 0,
      statement: expire(table, expiry),
    })),
  )
  return { ofUser, ofTenant, old }
}
