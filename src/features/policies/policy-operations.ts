/** Operations on a tenant's policy: put a version in force, take it out, read versions and the history of changes. */
import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { ActionPolicy } from '../../contract/action-policy.js'
import { type Clock, isoTime } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import { checkedPolicy } from './policy.js'
import { policyHashIn } from './policy-book.js'
import { type PolicyVersionRecord, policyReader, policyWriter } from './policy-table.js'
import { retentionReader, retentionWriter } from './retention-statements.js'

export class PolicyOperationError extends CodedError<'policy_not_found' | 'services_outdated'> {}

/** The hash of the policy in force in each environment; null for none. */
export type PoliciesInForce = Record<Environment, string | null>

interface PolicyOperationParts extends Pick<Core, 'store'> {
  operations: Pick<Operations, 'audited'>
  clock: Clock
}

export class PolicyOperations {
  constructor(private readonly parts: PolicyOperationParts) {}

  /**
   * Puts a policy in force, or takes it out. Every verdict whose transaction begins after this one obeys it, on every node.
   * @param value the policy as parsed JSON; null for none
   * @param environments the environments whose verdicts are to obey it
   * @throws PolicyError invalid_policy; PolicyOperationError services_outdated
   */
  async set(
    { id: tenantId }: TenantRecord,
    actor: Actor,
    value: unknown,
    environments: readonly Environment[],
  ): Promise<{ previous: PoliciesInForce; now: PoliciesInForce }> {
    const version = value === null ? null : checkedPolicy(value)
    await this.assertObeyed()
    return this.parts.operations.audited.run(tenantId, actor, async (tx) => {
      const previous = policiesInForce((await tx.tenantById(tenantId))!)
      if (version) {
        const { hash, text: policy } = version
        await tx.statements(policyWriter).keep({ tenantId, hash, policy, firstSetAt: this.parts.clock.now() })
      }
      if (environments.includes('production')) await this.startRetention(tx, tenantId, version?.policy)
      for (const environment of environments)
        await tx.statements(policyWriter).putInForce(tenantId, environment, version?.hash ?? null)
      const now = policiesInForce((await tx.tenantById(tenantId))!)
      return { result: { previous, now }, facts: { event: 'policy_changed', ...now, previous } }
    })
  }

  /** The days of users begin to count when a policy begins to erase them, and go on where another version does so too. */
  private async startRetention(
    tx: StoreTransaction,
    tenantId: string,
    policy: ActionPolicy | undefined,
  ): Promise<void> {
    const { setSince, deleteSince } = tx.statements(retentionWriter)
    if (!policy?.retention) await deleteSince(tenantId)
    else if ((await tx.statements(retentionReader).since(tenantId)) === null)
      await setSince({ tenantId, since: this.parts.clock.now() })
  }

  /** @param hash whole, or its first 8 digits or more @throws PolicyOperationError policy_not_found */
  async version({ id, name }: TenantRecord, hash: string): Promise<PolicyVersionRecord> {
    const versions = await this.parts.store.read.statements(policyReader).versions(id)
    const [found, other] = versions.filter((one) => one.hash.startsWith(hash))
    if (hash.length < MIN_HASH_DIGITS || !found || other)
      throw new PolicyOperationError('policy_not_found', `Tenant ${name} has no policy ${hash}.`)
    return found
  }

  /** A service of an earlier version gives verdicts without looking at a policy. @throws PolicyOperationError services_outdated */
  private async assertObeyed(): Promise<void> {
    const behind = (await this.parts.store.services()).filter(
      ({ schema }) => (schema ?? 0) < this.parts.store.schema,
    )
    if (behind.length > 0)
      throw new PolicyOperationError(
        'services_outdated',
        `Nothing was changed, because services of an earlier version would not obey a policy: ${behind.map(({ name }) => name).join(', ')}.`,
      )
  }
}

const MIN_HASH_DIGITS = 8

export function policiesInForce(tenant: TenantRecord): PoliciesInForce {
  return { production: policyHashIn(tenant, 'production'), sandbox: policyHashIn(tenant, 'sandbox') }
}

const BOTH: readonly Environment[] = ['production', 'sandbox']

/** The environments that a change is for: both, or only the sandbox, to try it. */
export function environmentsOf(isSandboxOnly = false): readonly Environment[] {
  return isSandboxOnly ? ['sandbox'] : BOTH
}

export function versionView({ hash, firstSetAt, policy }: PolicyVersionRecord, tenant: TenantRecord) {
  const inForce = policiesInForce(tenant)
  return {
    /** SHA-256 of the policy in RFC 8785 canonical form. */
    hash,
    first_set_at: isoTime(firstSetAt),
    in_force: BOTH.filter((environment) => inForce[environment] === hash),
    rules: (JSON.parse(policy) as ActionPolicy).rules.length,
  }
}

export async function versionViews(read: StoreReader, tenant: TenantRecord) {
  const versions = await read.statements(policyReader).versions(tenant.id)
  return versions.map((version) => versionView(version, tenant))
}

/** The action as a backend sends it: JSON, or the text itself where it is none, since an action may be a string. */
export function actionIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
