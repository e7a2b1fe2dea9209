/** The SQL of tenants' policies and of approvals that wait for a second person. */
import type { Environment } from '../../config/config.js'
import type { Connection } from '../connection.js'
import type { PolicyReader, PolicyWriter } from '../readers-and-writers/policy-store.js'
import type { ApprovalRecord, PolicyVersionRecord } from '../records.js'
import { APPROVAL, POLICY_VERSION } from '../tables/index.js'

/** Column of the tenant that has the hash of the policy in force. */
const COLUMN = {
  production: 'policy_hash',
  sandbox: 'sandbox_policy_hash',
} as const satisfies Record<Environment, string>

export function policyReader(database: Connection): PolicyReader {
  const hashIn = (environment: Environment) =>
    database
      .prepare<[string], string | null>(`SELECT ${COLUMN[environment]} FROM tenant WHERE id = ?`, 'brief')
      .pluck()
  const sql = {
    hash: { production: hashIn('production'), sandbox: hashIn('sandbox') },
    version: database.prepare<[string, string], PolicyVersionRecord>(
      `SELECT ${POLICY_VERSION.fields} FROM policy_version WHERE tenant_id = ? AND hash = ?`,
    ),
    versions: database.prepare<[string], PolicyVersionRecord>(
      `SELECT ${POLICY_VERSION.fields} FROM policy_version WHERE tenant_id = ? ORDER BY first_set_at DESC, hash`,
    ),
    approval: database.prepare<[string], ApprovalRecord>(
      `SELECT ${APPROVAL.fields} FROM approval WHERE id = ?`,
    ),
  }
  return {
    policyHash: async (tenantId, environment) => (await sql.hash[environment].get(tenantId)) ?? null,
    policyVersion: async (tenantId, hash) => sql.version.get(tenantId, hash),
    policyVersions: async (tenantId) => sql.versions.all(tenantId),
    approval: async (id) => sql.approval.get(id),
  }
}

export function policyWriter(database: Connection): PolicyWriter {
  const setHash = (environment: Environment) =>
    database.prepare(`UPDATE tenant SET ${COLUMN[environment]} = ? WHERE id = ?`)
  const sql = {
    setHash: { production: setHash('production'), sandbox: setHash('sandbox') },
    keep: database.prepare(`${POLICY_VERSION.insert} ON CONFLICT (tenant_id, hash) DO NOTHING`),
    insertApproval: database.prepare(APPROVAL.insert),
    useApproval: database.prepare('UPDATE approval SET used_at = ? WHERE id = ? AND used_at IS NULL'),
  }
  return {
    setPolicyHash: async (tenantId, environment, hash) => void sql.setHash[environment].run(hash, tenantId),
    keepPolicyVersion: async (version) => void sql.keep.run(version),
    insertApproval: async (approval) => void sql.insertApproval.run(approval),
    useApproval: async (id, at) => (await sql.useApproval.run(at, id)).changes === 1,
  }
}
