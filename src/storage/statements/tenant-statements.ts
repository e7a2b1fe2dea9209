/** The SQL of tenants, their API keys and signing secrets. */
import type { Environment } from '../../config/config.js'
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { TenantRecord } from '../records.js'
import { joined } from '../table.js'
import { API_KEY, SIGNING_SECRET, TENANT } from '../tables/index.js'

/** The caller's key and tenant, and the secrets that sign the answer. */
const CALLER = joined({
  key: API_KEY,
  tenant: TENANT,
  secret: SIGNING_SECRET,
})

export function tenantReader(database: ReadConnection) {
  const { from, rows, count } = reading(database)
  const tenants = from(TENANT)
  const caller = rows<[number, Buffer], Record<string, unknown>>(
    `SELECT ${CALLER.fields} FROM api_key JOIN tenant ON tenant.id = api_key.tenant_id
     LEFT JOIN signing_secret ON signing_secret.tenant_id = tenant.id
       AND (signing_secret.valid_until IS NULL OR signing_secret.valid_until > ?)
     WHERE api_key.hash = ? ORDER BY signing_secret.valid_until IS NOT NULL, signing_secret.created_at DESC`,
    'brief',
  )
  return {
    tenantById: tenants.row<[id: string]>('WHERE id = ?', 'brief'),
    tenantByName: tenants.row<[name: string]>('WHERE name = ?'),
    /** All tenants, oldest first. */
    tenants: tenants.rows<[]>('ORDER BY created_at, id'),
    /** How many tenants were deleted so far. */
    countDeletedTenants: count<[]>('FROM tenant WHERE deleted_at IS NOT NULL'),
    /** The key with its tenant and the tenant's signing secrets that are valid at `now`; undefined for an unknown key. */
    apiKeyByHash: async (hash: Buffer, now: number) => {
      const found = (await caller(now, hash)).map(CALLER.split)
      const [first] = found
      return (
        first && {
          key: first.key!,
          tenant: first.tenant!,
          secrets: found.flatMap(({ secret }) => secret ?? []),
        }
      )
    },
    /** Keys of both environments, newest first. */
    apiKeys: from(API_KEY).rows<[tenantId: string]>('WHERE tenant_id = ? ORDER BY created_at DESC, id DESC'),
    /** The secrets valid at `now`, the current one first. */
    signingSecrets: from(SIGNING_SECRET).rows<[tenantId: string, now: number]>(
      `WHERE tenant_id = ? AND (valid_until IS NULL OR valid_until > ?)
       ORDER BY valid_until IS NOT NULL, created_at DESC`,
    ),
  }
}

export function tenantWriter(database: Connection) {
  const { insert, run, set } = writing(database)
  const sql = {
    setContract: database.prepare(
      `UPDATE tenant SET rate_per_second = @ratePerSecond, burst = @burst, fmr = @fmr,
       require_liveness = @requireLiveness, replace_verdict_minutes = @replaceVerdictMinutes WHERE id = @id`,
    ),
    setProductionIssued: database.prepare(
      'UPDATE tenant SET production_issued_at = ? WHERE id = ? AND production_issued_at IS NULL',
    ),
  }
  // Keys whose grace period has ended already are left as they are.
  const end = (change: string, condition: string) =>
    database.prepare(
      `UPDATE api_key SET ${change} WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL AND ${condition}`,
    )
  const ofName = `coalesce(name, '') = @name`
  const ends = {
    revokeEvery: end('revoked_at = @revokedAt', '(valid_until IS NULL OR valid_until > @revokedAt)'),
    revoke: end('revoked_at = @revokedAt', `${ofName} AND (valid_until IS NULL OR valid_until > @revokedAt)`),
    limit: end(
      'valid_until = @validUntil',
      `${ofName} AND (valid_until IS NULL OR valid_until > @validUntil)`,
    ),
    revokeGraces: end('revoked_at = @revokedAt', `${ofName} AND valid_until > @revokedAt`),
  }
  return {
    insertTenant: insert(TENANT),
    setContract: async (
      tenantId: string,
      contract: Pick<
        TenantRecord,
        'ratePerSecond' | 'burst' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'
      >,
    ) => void sql.setContract.run({ id: tenantId, ...contract }),
    /** Does nothing where an earlier time is set. */
    setProductionIssued: async (tenantId: string, at: number) =>
      void sql.setProductionIssued.run(at, tenantId),
    setProductionRevealed: set(TENANT, 'productionRevealedAt'),
    /** To null to resume. */
    setSuspended: set(TENANT, 'suspendedAt'),
    /** Sets the time from which the verifies of a tenant are compared. */
    setDriftSince: set(TENANT, 'driftSince'),
    insertApiKey: insert(API_KEY),
    /** Ends every valid key of a type at once, under any name. @returns how many were ended */
    revokeEveryApiKey: async (tenantId: string, type: Environment, revokedAt: number) =>
      (await ends.revokeEvery.run({ tenantId, type, revokedAt })).changes,
    /**
     * Ends the valid keys of a type and a name (null for the first key and its successors): at once (`revokedAt`), or at the end of a grace
     * period (`validUntil`). @returns how many were ended
     */
    endApiKeys: async (
      tenantId: string,
      type: Environment,
      name: string | null,
      end: { revokedAt: number } | { validUntil: number },
    ) => {
      const statement = 'revokedAt' in end ? ends.revoke : ends.limit
      return (await statement.run({ tenantId, type, name: name ?? '', ...end })).changes
    },
    /** Ends the valid keys of a type and a name whose grace period runs at once. @returns how many were ended */
    endGracePeriods: async (tenantId: string, type: Environment, name: string | null, revokedAt: number) =>
      (await ends.revokeGraces.run({ tenantId, type, name: name ?? '', revokedAt })).changes,
    insertSigningSecret: insert(SIGNING_SECRET),
    setSigningSecretEnd: set(SIGNING_SECRET, 'validUntil'),
    /** Deletes all secrets of the tenant but the current one, even those that are still valid. */
    deleteEndedSigningSecrets: run<[tenantId: string]>(
      'DELETE FROM signing_secret WHERE tenant_id = ? AND valid_until IS NOT NULL',
    ),
  }
}
