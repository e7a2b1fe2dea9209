/** The tables of policies in force and of those that erase unused users, and the statements on which policy is in force. */
import type { Environment } from '../../config/config.js'
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import { declareTable, integer, LASTING, ofTenant, type Row, text } from '../../storage/table.js'

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
  ...LASTING,
  withoutRowId: true,
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
  withoutRowId: true,
  sealedUnder: 'nothing',
})

export function policyReader(database: ReadConnection) {
  const { row, from } = reading(database)
  const versions = from(POLICY_VERSION)
  const hashes = row<[string], Record<Environment, string | null>>(
    'SELECT policy_hash AS production, sandbox_policy_hash AS sandbox FROM tenant WHERE id = ?',
    'brief',
  )
  return {
    /** Hash of the policy in force; null for none, and for a tenant that does not exist. */
    hashInForce: async (tenantId: string, environment: Environment) =>
      (await hashes(tenantId))?.[environment] ?? null,
    version: versions.row<[tenantId: string, hash: string]>('WHERE tenant_id = ? AND hash = ?'),
    /** Every version that was ever in force, the latest first. */
    versions: versions.rows<[tenantId: string]>('WHERE tenant_id = ? ORDER BY first_set_at DESC, hash'),
  }
}

export function policyWriter(database: Connection) {
  const setHash = (column: string) => database.prepare(`UPDATE tenant SET ${column} = ? WHERE id = ?`)
  const sql = { production: setHash('policy_hash'), sandbox: setHash('sandbox_policy_hash') }
  return {
    /** Puts a policy in force. @param hash null for none */
    putInForce: async (tenantId: string, environment: Environment, hash: string | null) =>
      void sql[environment].run(hash, tenantId),
    keep: writing(database).run<[version: PolicyVersionRecord]>(
      `${POLICY_VERSION.insert} ON CONFLICT (tenant_id, hash) DO NOTHING`,
    ),
  }
}
