/** The policies in force, read from the database by their hash and kept in memory. */
import type { Environment } from '../../config/config.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import type { TenantRecord } from '../../storage/records.js'
import type { Store, StoreReader } from '../../storage/store.js'
import type { UserCall } from '../../verification/call.js'
import { parsePolicy, policyHashOf } from './policy.js'
import { policyReader } from './policy-table.js'

/** Policies in memory; the oldest makes room. */
const MAX_CACHED = 256

/** The rule that decides about the action of a call. */
export interface RuleInForce {
  /** Hash of its policy. */
  hash: string
  rule: PolicyRule
  /** Whether the policy erases users whom nobody uses. */
  erasesUnused: boolean
}

const books = new WeakMap<Store, PolicyBook>()

/** The book of a database, which all calls and jobs of a service share. */
export function policyBook(store: Store): PolicyBook {
  const book = books.get(store) ?? new PolicyBook()
  books.set(store, book)
  return book
}

export class PolicyBook {
  /** Parsed policies by their hash: a policy with this hash never changes. */
  private readonly cache = new Map<string, ActionPolicy>()

  /** @throws Error where the database holds no policy with this hash, or another text than the one that was set */
  async read(store: Pick<StoreReader, 'statements'>, tenantId: string, hash: string): Promise<ActionPolicy> {
    const known = this.cache.get(hash)
    if (known) return known
    const version = await store.statements(policyReader).version(tenantId, hash)
    if (!version) throw new Error(`tenant ${tenantId} has no policy ${hash}`)
    if (policyHashOf(version.policy) !== hash)
      throw new Error(`the policy ${hash} of tenant ${tenantId} was changed in the database`)
    const { policy } = parsePolicy(version.policy)
    if (this.cache.size >= MAX_CACHED) this.cache.delete(this.cache.keys().next().value!)
    this.cache.set(hash, policy)
    return policy
  }

  /** @param hash of the policy; null for none @returns null where the tenant has no policy */
  async ruleFor(
    store: Pick<StoreReader, 'statements'>,
    { input, tenant }: Pick<UserCall<{ action?: unknown }>, 'input' | 'tenant'>,
    hash: string | null,
  ): Promise<RuleInForce | null> {
    if (hash === null) return null
    const policy = await this.read(store, tenant.id, hash)
    return { hash, rule: ruleFor(policy, input.action), erasesUnused: policy.retention !== undefined }
  }
}

/** Hash of the policy that was in force when the tenant was read; null for none. */
export function policyHashIn(
  tenant: Pick<TenantRecord, 'policyHash' | 'sandboxPolicyHash'>,
  environment: Environment,
): string | null {
  return environment === 'production' ? tenant.policyHash : tenant.sandboxPolicyHash
}
