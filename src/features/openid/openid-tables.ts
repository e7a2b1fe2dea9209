/** The tables of the OpenID provider with their statements: its keys, its applications, what it remembers of a sign-in, and callbacks. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import {
  blindIndex,
  bytes,
  declareTable,
  environment,
  integer,
  ofTenant,
  type Row,
  text,
} from '../../storage/table.js'
import { signingKeyTable } from '../public-verdicts/exports.js'

/** Keys that sign ID tokens, in the form of those that sign verdicts. */
export const OPENID_KEYS = signingKeyTable('openid_key')

/** Applications that may ask the OpenID provider for a verdict. */
export const OPENID_CLIENT = declareTable({
  name: 'openid_client',
  columns: {
    id: text,
    tenantId: ofTenant,
    environment,
    /** API key in whose name the provider calls the API for this client. */
    keyId: text,
    /** Sealed JSON of the client's settings. */
    sealed: bytes,
    createdAt: integer,
  },
  key: ['id'],
  indexes: {
    openid_client_of_tenant: '(tenant_id)',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  sealedUnder: { key: 'secrets', column: 'sealed' },
})
export type OpenIdClientRecord = Row<typeof OPENID_CLIENT>

export function openIdClientReader(database: ReadConnection) {
  const clients = reading(database).from(OPENID_CLIENT)
  return {
    byId: clients.row<[id: string]>('WHERE id = ?'),
    /** Clients of a tenant, oldest first. */
    ofTenant: clients.rows<[tenantId: string]>('WHERE tenant_id = ? ORDER BY created_at, id'),
  }
}

export function openIdClientWriter(database: Connection) {
  const { hits, put } = writing(database)
  return {
    /** Inserts the client, or replaces its settings. */
    put: put(OPENID_CLIENT),
    /** @returns whether there was such a client of the tenant */
    delete: hits<[tenantId: string, id: string]>('DELETE FROM openid_client WHERE tenant_id = ? AND id = ?'),
  }
}

/** State of the OpenID provider between two requests of one sign-in: a pushed request, an interaction, a code. */
export const OPENID_STATE = declareTable({
  name: 'openid_state',
  columns: {
    /** SHA-256 of kind and id: a copy of the database has no code that could be redeemed. */
    lookup: bytes,
    /** SHA-256 of the grant with which it is deleted; null for none. */
    grantId: bytes.orNull,
    /** Blind index of the user whom it names, and with whom it is erased; null for none. */
    blindIndex: bytes.orNull.named('user_lookup'),
    /** Sealed under a key made of the id, which the database does not hold. */
    sealed: bytes,
    expiresAt: integer,
    /** When a code or a pushed request was used; null before. */
    usedAt: integer.orNull,
  },
  key: ['lookup'],
  indexes: {
    openid_state_grant: '(grant_id) WHERE grant_id IS NOT NULL',
    openid_state_user: '(user_lookup) WHERE user_lookup IS NOT NULL',
    openid_state_expiry: '(expires_at)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'kept',
  expires: { at: 'expiresAt' },
  atBackup: 'DELETE FROM openid_state',
  sealedUnder: 'own key',
})
export type OpenIdStateRecord = Row<typeof OPENID_STATE>

export function openIdStateReader(database: ReadConnection) {
  return { find: reading(database).from(OPENID_STATE).row<[lookup: Buffer]>('WHERE lookup = ?') }
}

export function openIdStateWriter(database: Connection) {
  const { hits, put, run } = writing(database)
  const use = database.prepare('UPDATE openid_state SET used_at = ? WHERE lookup = ? AND used_at IS NULL')
  return {
    ...openIdStateReader(database),
    put: put(OPENID_STATE),
    /** Marks it as used. @returns whether it was unused before */
    use: async (lookup: Buffer, at: number) => (await use.run(at, lookup)).changes === 1,
    /** @returns whether there was such a state */
    delete: hits<[lookup: Buffer]>('DELETE FROM openid_state WHERE lookup = ?'),
    deleteGrant: run<[grantId: Buffer]>('DELETE FROM openid_state WHERE grant_id = ?'),
  }
}

/** A request of an identity provider whose result is reported to that provider. */
export const OPENID_CALLBACK = declareTable({
  name: 'openid_callback',
  columns: {
    /** SHA-256 of the provider and of the id of its request: no request is taken twice. */
    request: bytes,
    tenantId: text,
    /** Capture session whose end is reported; null where no person was asked. */
    sessionId: text.orNull,
    /** Blind index of the user with whom it is erased; null where no person was asked. */
    blindIndex: blindIndex.orNull,
    /** Sealed JSON of what was asked and where the result goes. */
    sealed: bytes,
    /** Attempts to report the result so far. */
    attempts: integer,
    /** When the result may be reported next; null where nothing is left to report. */
    nextAt: integer.orNull,
    expiresAt: integer,
  },
  key: ['request'],
  indexes: {
    openid_callback_next: '(next_at) WHERE next_at IS NOT NULL',
    openid_callback_session: '(session_id) WHERE session_id IS NOT NULL',
    openid_callback_user: '(lookup) WHERE lookup IS NOT NULL',
    openid_callback_of_tenant: '(tenant_id)',
    openid_callback_expiry: '(expires_at)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt' },
  atBackup: 'DELETE FROM openid_callback',
  sealedUnder: 'data key',
})
export type CallbackRecord = Row<typeof OPENID_CALLBACK>

export function callbackReader(database: ReadConnection) {
  const { count, from } = reading(database)
  return {
    // A look-up for each callback: PostgreSQL would read every session for a NOT EXISTS.
    /** Callbacks that are due and whose session is no longer open, those that wait longest first. */
    due: from(OPENID_CALLBACK).rows<[now: number, limit: number]>(
      `WHERE next_at <= ?
       AND coalesce((SELECT status FROM capture_session WHERE id = openid_callback.session_id), 'gone') <> 'open'
       ORDER BY next_at LIMIT ?`,
    ),
    /** @returns number of callbacks in force whose session is open and asks this user */
    countOpen: count<[blindIndex: Buffer, now: number]>(
      `FROM capture_session JOIN openid_callback ON openid_callback.session_id = capture_session.id
       WHERE capture_session.lookup = ? AND capture_session.status = 'open' AND openid_callback.expires_at > ?`,
    ),
  }
}

export function callbackWriter(database: Connection) {
  const { hits, put } = writing(database)
  const sql = {
    take: database.prepare(
      `UPDATE openid_callback SET attempts = @attempts + 1, next_at = @nextAt
       WHERE request = @request AND attempts = @attempts AND next_at IS NOT NULL`,
    ),
    setNext: database.prepare(
      'UPDATE openid_callback SET next_at = @nextAt WHERE request = @request AND attempts = @attempts',
    ),
  }
  return {
    ...callbackReader(database),
    /** @returns false where the request is known already */
    insert: hits<[callback: CallbackRecord]>(`${OPENID_CALLBACK.insert} ON CONFLICT DO NOTHING`),
    put: put(OPENID_CALLBACK),
    /** Counts an attempt. @returns false where another process has counted it, or nothing is left to report */
    take: async ({ request, attempts }: CallbackRecord, nextAt: number) =>
      (await sql.take.run({ request, attempts, nextAt })).changes === 1,
    /** Sets when the result may be reported next, unless another attempt was counted; null where nothing is left to report. */
    setNext: async ({ request, attempts }: CallbackRecord, nextAt: number | null) =>
      void sql.setNext.run({ request, attempts, nextAt }),
  }
}
