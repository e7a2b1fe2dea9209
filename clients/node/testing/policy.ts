/** Policy of the service in memory: the service's own rules decide, and approvals wait for a second person. */
import { sha256Hex } from '../../../src/contract/action-hash.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../../src/contract/action-policy.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { type UnmetRequirement, unmetMovements } from '../../../src/contract/policy-requirements.js'
import type { Verification } from '../types.js'
import { FakeRefusal } from './refusals.js'

/** The rule that decides about an action, and the hash of its policy. */
export interface FakeTerms {
  hash: string
  rule: PolicyRule
}

/** A verdict that was reached, by which a second person's request names the first person's approval. */
export interface KeptVerdict {
  actionHash: string
  displayHash: string | undefined
  /** Whether it was the approval of the first of two people, and has been used. */
  isUsed: boolean
  verification: Verification
}

/** @param policy null for a tenant without one @returns null for a tenant without a policy */
export async function termsOf(policy: ActionPolicy | null, action: unknown): Promise<FakeTerms | null> {
  return policy && { hash: await sha256Hex(canonicalJson(policy)), rule: ruleFor(policy, action) }
}

/** @param acr the one that an approval by these movements would have @throws FakeRefusal policy_not_met */
export function assertMovements(policy: ActionPolicy | null, action: unknown, acr: string): void {
  if (policy) refuseUnmet(unmetMovements(ruleFor(policy, action).require, acr))
}

/** @throws FakeRefusal policy_not_met */
export function refuseUnmet(details: readonly UnmetRequirement[]): void {
  if (details.length > 0) throw new FakeRefusal('policy_not_met', details)
}

/**
 * Compares the first person's approval with what the second person's request needs.
 * @param first undefined where the request names no verdict
 */
export function unmetApproval(
  first: KeptVerdict | undefined,
  { rule, hash }: FakeTerms,
  second: { userId: string; actionHash: string; nowMs: number },
): UnmetRequirement[] {
  if (!rule.require.second_approver) return []
  const { within_minutes: windowMinutes, user_ids } = rule.require.second_approver
  const unmet = (issue: string): UnmetRequirement[] => [
    { path: 'approval_id', issue, requirement: 'second_approver' },
  ]
  const { reason, replay, user_id, policy_hash, verified_at } = first?.verification ?? {}
  if (!first || reason !== 'second_approval_required' || replay?.suspected)
    return unmet('names no approval that waits for a second person')
  if (user_id === second.userId) return unmet('is an approval of the same user')
  if (user_ids && !user_ids.includes(second.userId)) return unmet('may not be given by this user')
  if (first.actionHash !== second.actionHash) return unmet('is an approval of another action')
  if (policy_hash !== hash) return unmet('was given under another version of the policy')
  if (first.isUsed) return unmet('has been used')
  return second.nowMs >= Date.parse(verified_at ?? '') + windowMinutes * 60_000 ? unmet('is too old') : []
}
