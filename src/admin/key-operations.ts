/** Operations on a tenant's API keys and signing secret: reveal, reissue, revoke, rotate. */

import type { Actor, AuditedUnitOfWork, OpenUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import type { ApiKeyRecord, TenantRecord } from '../storage/records.js'
import type { KeyGrants } from '../tenants/key-grants.js'
import type { RevealedSecret, Rotation, SigningSecrets } from '../tenants/signing-secrets.js'
import type { NewApiKey, Tenancy } from '../tenants/tenancy.js'

export class KeyOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly tenancy: Tenancy,
    private readonly secrets: SigningSecrets,
  ) {}

  /**
   * Makes and returns the production key. It can be revealed only once.
   * @param issues whether the operator issues the key where no verify in the sandbox has
   * @param newSecret whether to make a new signing secret as well. The secret used in the sandbox ends at once: anyone who holds it could
   * sign production's verdicts, and production has no callers yet that would need an overlap
   * @throws TenancyError production_key_not_issued, production_key_already_revealed
   */
  revealProduction(
    tenant: TenantRecord,
    actor: Actor,
    { issues = false, newSecret = false } = {},
  ): Promise<{ productionKey: string; signingSecret: RevealedSecret | null }> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const isIssued = issues && (await this.tenancy.issueProductionKey(tx, tenant))
      const productionKey = await this.tenancy.revealProductionKey(tx, tenant)
      const signingSecret = newSecret ? await this.secrets.replace(tx, tenant.id) : null
      return {
        result: { productionKey, signingSecret },
        facts: {
          event: 'key_revealed',
          type: 'production',
          ...(signingSecret ? { new_signing_secret: signingSecret.id } : {}),
          ...(isIssued ? { issued_without_sandbox: true } : {}),
        },
      }
    })
  }

  /** Makes a new key, as `Tenancy.reissueKey` does. @throws TenancyError production_key_not_issued, no_active_key */
  reissue(
    tenant: TenantRecord,
    actor: Actor,
    type: Environment,
    graceMs: number,
    name: string | null,
  ): Promise<string> {
    return this.audited.run(tenant.id, actor, async (tx) => ({
      result: await this.tenancy.reissueKey(tx, tenant, type, graceMs, name),
      facts: {
        event: 'key_reissued',
        type,
        ...(name === null ? {} : { name }),
        grace_seconds: graceMs / SECOND_MS,
      },
    }))
  }

  /** Revokes every valid key of the type at once. @returns how many there were @throws TenancyError no_active_key */
  revoke(tenant: TenantRecord, actor: Actor, type: Environment): Promise<number> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const revoked = await this.tenancy.revokeKeys(tx, tenant, type)
      return { result: revoked, facts: { event: 'key_revoked', type, revoked } }
    })
  }

  /** Makes a named key with its own scopes, networks and client certificate, as `Tenancy.createKey` does. */
  create(tenant: TenantRecord, actor: Actor, type: Environment, grants: KeyGrants): Promise<NewApiKey> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const made = await this.tenancy.createKey(tx, tenant, type, grants)
      const { id, name } = made.record
      return { result: made, facts: { event: 'key_created', type, key: id, name, ...grantsOf(made.record) } }
    })
  }

  /** Revokes a named key at once. @throws TenancyError no_active_key */
  revokeNamed(tenant: TenantRecord, actor: Actor, type: Environment, name: string): Promise<ApiKeyRecord> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const key = await this.tenancy.revokeNamedKey(tx, tenant, type, name)
      const previous = grantsOf(key)
      return { result: key, facts: { event: 'key_revoked', type, name, key: key.id, previous } }
    })
  }

  /** Rotates the signing secret, as `SigningSecrets.rotate` does. @param by who acts, or the unit of work of the API call @throws DomainError rotation_in_progress */
  rotateSigning({ id }: TenantRecord, by: Actor | OpenUnitOfWork, force: boolean): Promise<Rotation> {
    return this.audited.run(id, by, async (tx) => {
      const rotation = await this.secrets.rotate(tx, id, force)
      const facts = { current: rotation.current.id, previous: rotation.previous.id }
      return { result: rotation, facts: { event: 'rotate_signing', ...facts } }
    })
  }
}

const grantsOf = ({ scopes, networks, certificate }: ApiKeyRecord) => ({ scopes, networks, certificate })

/** The signing secret of a new tenant; `rotationView` adds the time at which a secret was made. */
export function secretView({ id, secret }: RevealedSecret) {
  return { id, secret }
}

export function rotationView({ current, previous }: Rotation) {
  return {
    signing_secret: { ...secretView(current), created_at: isoTime(current.createdAt) },
    previous: { id: previous.id, valid_until: isoTime(previous.validUntil) },
  }
}
