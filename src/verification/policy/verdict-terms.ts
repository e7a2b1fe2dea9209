/** The terms of a verdict: the threshold of the comparison, and what the tenant's policy asks of an approval of this action. */
import type { Config } from '../../config/config.js'
import { type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import { type PolicyBook, policyHashIn } from '../../tenants/policy-book.js'
import type { BiometricProvider, OperatingPoint } from '../biometric-provider.js'
import type { UserCall } from '../call.js'
import { decidingProvider } from '../references/deciding-model.js'

export interface VerdictTerms {
  /** Id of the model that decides for the tenant. */
  model: string
  /** The stricter of the contract's operating point and the rule's. */
  point: OperatingPoint
  /** The rule that decides about the action, and the hash of its policy; null where the tenant has no policy. */
  policy: { hash: string; rule: PolicyRule; erasesUnused: boolean } | null
}

export interface TermsParts {
  provider: Pick<BiometricProvider, 'operatingPoint' | 'forModel' | 'model'>
  config: Pick<Config, 'fmr'>
  policies: PolicyBook
}

type ActionCall = Pick<UserCall<{ action?: unknown }>, 'input' | 'tenant' | 'environment'>

/** The terms by the policy that was in force when the caller was authenticated. */
export function termsOf(parts: TermsParts, store: StoreReader, call: ActionCall): Promise<VerdictTerms> {
  return termsUnder(parts, store, call, policyHashIn(call.tenant, call.environment))
}

/**
 * The terms by the policy that is in force inside the transaction, which decide. A policy that was set before the transaction began is
 * obeyed, on every node.
 * @param before terms by which the images were compared
 * @param hash of the policy, which the transaction has read
 */
export async function termsInForce(
  parts: TermsParts,
  tx: StoreTransaction,
  call: ActionCall,
  before: VerdictTerms,
  hash: string | null,
): Promise<VerdictTerms> {
  return hash === (before.policy?.hash ?? null) ? before : termsUnder(parts, tx, call, hash)
}

async function termsUnder(
  { provider: anyProvider, config, policies }: TermsParts,
  store: StoreReader,
  { input, tenant }: ActionCall,
  hash: string | null,
): Promise<VerdictTerms> {
  const provider = decidingProvider(anyProvider, tenant)
  const { model } = provider
  const contract = tenant.fmr ?? config.fmr
  if (hash === null) return { model, point: provider.operatingPoint(contract), policy: null }
  const policy = await policies.read(store, tenant.id, hash)
  const rule = ruleFor(policy, input.action)
  const point = provider.operatingPoint(Math.min(contract, rule.require.max_fmr ?? contract))
  return { model, point, policy: { hash, rule, erasesUnused: policy.retention !== undefined } }
}
