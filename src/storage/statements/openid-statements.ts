/** The SQL of the OpenID provider. */
import type { Connection } from '../connection.js'
import type { OpenIdReader, OpenIdWriter } from '../readers-and-writers/openid-store.js'
import type {
  OpenIdCallbackRecord,
  OpenIdClientRecord,
  OpenIdStateRecord,
  VerdictKeyRecord,
} from '../records.js'
import { OPENID_CALLBACK, OPENID_CLIENT, OPENID_KEY, OPENID_STATE } from '../tables/index.js'

export function openIdReader(database: Connection): OpenIdReader {
  const sql = {
    keys: database.prepare<[], VerdictKeyRecord>(
      `SELECT ${OPENID_KEY.fields} FROM openid_key ORDER BY signs_from, id`,
    ),
    client: database.prepare<[string], OpenIdClientRecord>(
      `SELECT ${OPENID_CLIENT.fields} FROM openid_client WHERE id = ?`,
    ),
    clients: database.prepare<[string], OpenIdClientRecord>(
      `SELECT ${OPENID_CLIENT.fields} FROM openid_client WHERE tenant_id = ? ORDER BY created_at, id`,
    ),
    state: database.prepare<[Buffer], OpenIdStateRecord>(
      `SELECT ${OPENID_STATE.fields} FROM openid_state WHERE lookup = ?`,
    ),
    // A look-up for each callback: PostgreSQL would read every session for a NOT EXISTS.
    dueCallbacks: database.prepare<[number, number], OpenIdCallbackRecord>(
      `SELECT ${OPENID_CALLBACK.fields} FROM openid_callback WHERE next_at <= ?
       AND coalesce((SELECT status FROM capture_session WHERE id = openid_callback.session_id), 'gone') <> 'open'
       ORDER BY next_at LIMIT ?`,
    ),
    openCallbacks: database.prepare<[Buffer, number], { count: number }>(
      `SELECT count(*) AS count FROM capture_session JOIN openid_callback ON openid_callback.session_id = capture_session.id
       WHERE capture_session.lookup = ? AND capture_session.status = 'open' AND openid_callback.expires_at > ?`,
    ),
  }
  return {
    openIdKeys: async () => sql.keys.all(),
    openIdClient: async (id) => sql.client.get(id),
    openIdClients: async (tenantId) => sql.clients.all(tenantId),
    openIdState: async (lookup) => sql.state.get(lookup),
    dueOpenIdCallbacks: async (now, limit) => sql.dueCallbacks.all(now, limit),
    openCallbacksOf: async (blindIndex, now) => Number((await sql.openCallbacks.get(blindIndex, now))!.count),
  }
}

export function openIdWriter(database: Connection): OpenIdWriter {
  const sql = {
    insertKey: database.prepare(OPENID_KEY.insert),
    setKeyEnd: database.prepare('UPDATE openid_key SET gone_at = ? WHERE id = ?'),
    deleteKeys: database.prepare('DELETE FROM openid_key WHERE environment = ?'),
    putClient: database.prepare(OPENID_CLIENT.replace),
    deleteClient: database.prepare('DELETE FROM openid_client WHERE tenant_id = ? AND id = ?'),
    putState: database.prepare(OPENID_STATE.replace),
    useState: database.prepare('UPDATE openid_state SET used_at = ? WHERE lookup = ? AND used_at IS NULL'),
    deleteState: database.prepare('DELETE FROM openid_state WHERE lookup = ?'),
    deleteGrant: database.prepare('DELETE FROM openid_state WHERE grant_id = ?'),
    insertCallback: database.prepare(`${OPENID_CALLBACK.insert} ON CONFLICT DO NOTHING`),
    putCallback: database.prepare(OPENID_CALLBACK.replace),
    takeCallback: database.prepare(
      `UPDATE openid_callback SET attempts = @attempts + 1, next_at = @nextAt
       WHERE request = @request AND attempts = @attempts AND next_at IS NOT NULL`,
    ),
    setCallbackNext: database.prepare(
      'UPDATE openid_callback SET next_at = @nextAt WHERE request = @request AND attempts = @attempts',
    ),
  }
  return {
    insertOpenIdKey: async (key) => void sql.insertKey.run(key),
    setOpenIdKeyEnd: async (id, goneAt) => void sql.setKeyEnd.run(goneAt, id),
    deleteOpenIdKeys: async (environment) => void sql.deleteKeys.run(environment),
    putOpenIdClient: async (client) => void sql.putClient.run(client),
    deleteOpenIdClient: async (tenantId, id) => (await sql.deleteClient.run(tenantId, id)).changes === 1,
    putOpenIdState: async (state) => void sql.putState.run(state),
    useOpenIdState: async (lookup, at) => (await sql.useState.run(at, lookup)).changes === 1,
    deleteOpenIdState: async (lookup) => (await sql.deleteState.run(lookup)).changes === 1,
    deleteOpenIdGrant: async (grantId) => void sql.deleteGrant.run(grantId),
    insertOpenIdCallback: async (callback) => (await sql.insertCallback.run(callback)).changes === 1,
    putOpenIdCallback: async (callback) => void sql.putCallback.run(callback),
    takeOpenIdCallback: async ({ request, attempts }, nextAt) =>
      (await sql.takeCallback.run({ request, attempts, nextAt })).changes === 1,
    setOpenIdCallbackNext: async ({ request, attempts }, nextAt) =>
      void sql.setCallbackNext.run({ request, attempts, nextAt }),
  }
}
