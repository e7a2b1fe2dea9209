/** The SQL of the OpenID provider. */
import type { Connection } from './connection.js'
import type { OpenIdReader, OpenIdWriter } from './openid-store.js'
import type { OpenIdClientRecord, OpenIdStateRecord, VerdictKeyRecord } from './records.js'
import { OPENID_CLIENT, OPENID_KEY, OPENID_STATE } from './tables.js'

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
    stateByUid: database.prepare<[Buffer], OpenIdStateRecord>(
      `SELECT ${OPENID_STATE.fields} FROM openid_state WHERE uid = ?`,
    ),
  }
  return {
    openIdKeys: async () => sql.keys.all(),
    openIdClient: async (id) => sql.client.get(id),
    openIdClients: async (tenantId) => sql.clients.all(tenantId),
    openIdState: async (lookup) => sql.state.get(lookup),
    openIdStateByUid: async (uid) => sql.stateByUid.get(uid),
  }
}

export function openIdWriter(database: Connection): OpenIdWriter {
  const sql = {
    insertKey: database.prepare(OPENID_KEY.insert),
    setKeyEnd: database.prepare('UPDATE openid_key SET gone_at = ? WHERE id = ?'),
    putClient: database.prepare(OPENID_CLIENT.replace),
    deleteClient: database.prepare('DELETE FROM openid_client WHERE tenant_id = ? AND id = ?'),
    putState: database.prepare(OPENID_STATE.replace),
    useState: database.prepare('UPDATE openid_state SET used_at = ? WHERE lookup = ? AND used_at IS NULL'),
    deleteState: database.prepare('DELETE FROM openid_state WHERE lookup = ?'),
    deleteGrant: database.prepare('DELETE FROM openid_state WHERE grant_id = ?'),
  }
  return {
    insertOpenIdKey: async (key) => void sql.insertKey.run(key),
    setOpenIdKeyEnd: async (id, goneAt) => void sql.setKeyEnd.run(goneAt, id),
    putOpenIdClient: async (client) => void sql.putClient.run(client),
    deleteOpenIdClient: async (tenantId, id) => (await sql.deleteClient.run(tenantId, id)).changes === 1,
    putOpenIdState: async (state) => void sql.putState.run(state),
    useOpenIdState: async (lookup, at) => (await sql.useState.run(at, lookup)).changes === 1,
    deleteOpenIdState: async (lookup) => void sql.deleteState.run(lookup),
    deleteOpenIdGrant: async (grantId) => void sql.deleteGrant.run(grantId),
  }
}
