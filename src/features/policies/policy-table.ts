/** The tables of policies in force and of those that erase unused users, and the statements on which policy is in force. */
import type { Environment } from '../../config/config.js'
import type { Connection, ReadConnection } from '../../storage/connection.js'
import { declareTable, integer, ofTenant, type Row, text } from '../../storage/table.js'

/** A policy that is or was in force. It is kept as long as the audit log whose verdicts name its hash. */
export const POLICY_VERSION = declareTable({
  name: 'policy_version',
  columns: {
    tenantId: ofTenant,
    /** SHA-256 of `policy`, in hex. */
    hash: text,
    /** JSON of the policy in RFC 8785 canonical form. */
    policy: text,
    firstSetAt: integer,
  },
  key: ['tenantId', 'hash'],
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type PolicyVersionRecord = Row<typeof POLICY_VERSION>

/** Since when a tenant's policy erases users that nobody uses. */
export const RETENTION_START = declareTable({
  name: 'retention_start',
  columns: {
    tenantId: ofTenant,
    since: integer,
  },
  key: ['tenantId'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})

export function policyReader(database: ReadConnection) {
  const select = `SELECT ${POLICY_VERSION.fields} FROM policy_version WHERE tenant_id = ?`
  const sql = {
    hashes: database.prepare<[string], Record<Environment, string | null>>(
      'SELECT policy_hash AS production, sandbox_policy_hash AS sandbox FROM tenant WHERE id = ?',
      'brief',
    ),
    version: database.prepare<[string, string], PolicyVersionRecord>(`${select} AND hash = ?`),
    versions: database.prepare<[string], PolicyVersionRecord>(`${select} ORDER BY first_set_at DESC, hash`),
  }
  return {
    /** Hash of the policy in force; null for none, and for a tenant that does not exist. */
    hashInForce: async (tenantId: string, environment: Environment) =>
      (await sql.hashes.get(tenantId))?.[environment] ?? null,
    version: async (tenantId: string, hash: string) => sql.version.get(tenantId, hash),
    /** Every version that was ever in force, the latest first. */
    versions: async (tenantId: string) => sql.versions.all(tenantId),
  }
}

export function policyWriter(database: Connection) {
  const setHash = (column: string) => database.prepare(`UPDATE tenant SET ${column} = ? WHERE id = ?`)
  const sql = {
    setHash: { production: setHash('policy_hash'), sandbox: setHash('sandbox_policy_hash') },
    keep: database.prepare(`${POLICY_VERSION.insert} ON CONFLICT (tenant_id, hash) DO NOTHING`),
  }
  return {
    /** Puts a policy in force. @param hash null for none */
    putInForce: async (tenantId: string, environment: Environment, hash: string | null) =>
      void sql.setHash[environment].run(hash, tenantId),
    /** Inserts the version unless it exists. */
    keep: async (version: PolicyVersionRecord) => void sql.keep.run(version),
  }
}
