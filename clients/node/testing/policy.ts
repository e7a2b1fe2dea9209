/** Policy of the service in memory: the service's own rules decide, and approvals wait for a second person. */

import { sha256Hex } from '../../../src/contract/action-hash.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../../src/contract/action-policy.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import {
  type PolicyFacts,
  type UnmetRequirement,
  unmetMovements,
  unmetOf,
} from '../../../src/contract/policy-requirements.js'
import { FakeRefusal } from './refusals.js'
import type { Call } from './requests.js'

/** The rule that decides about an action, and the hash of its policy. */
export interface FakeTerms {
  hash: string
  rule: PolicyRule
}

interface Approval {
  userId: string
  action: string
  policyHash: string
  createdMs: number
  used: boolean
}

export class FakePolicy {
  private readonly approvals = new Map<string, Approval>()

  /** @param policy null for a tenant without one */
  constructor(public policy: ActionPolicy | null) {}

  /** @returns null for a tenant without a policy */
  async termsOf(action: unknown): Promise<FakeTerms | null> {
    if (!this.policy) return null
    return { hash: await sha256Hex(canonicalJson(this.policy)), rule: ruleFor(this.policy, action) }
  }

  /** @throws FakeRefusal policy_not_met */
  assertOffered(terms: FakeTerms | null, facts: PolicyFacts, call: Call): void {
    if (!terms) return
    const faults = this.faultsOf(call, terms, facts.at)
    refuseUnmet([...unmetOf(terms.rule.require, facts), ...faults], call)
  }

  /** @param acr the one that an approval by these movements would have @throws FakeRefusal policy_not_met */
  async assertMovements(call: Call, acr: string): Promise<void> {
    const terms = await this.termsOf(call.body.action)
    if (terms) refuseUnmet(unmetMovements(terms.rule.require, acr), call)
  }

  /** Keeps the first person's approval, which the second person's request names. */
  keep(verificationId: string, { body }: Call, { hash }: FakeTerms, createdMs: number): void {
    const action = canonicalJson(body.action)
    this.approvals.set(verificationId, {
      userId: body.user_id,
      action,
      policyHash: hash,
      createdMs,
      used: false,
    })
  }

  /** Uses the first person's approval up. */
  use(verificationId: string): void {
    const approval = this.approvals.get(verificationId)
    if (approval) approval.used = true
  }

  forget(userId: string): void {
    for (const [id, approval] of this.approvals) if (approval.userId === userId) this.approvals.delete(id)
  }

  private faultsOf({ body }: Call, { hash, rule }: FakeTerms, nowMs: number): UnmetRequirement[] {
    const { within_minutes: windowMinutes, user_ids } = rule.require.second_approver ?? {}
    if (windowMinutes === undefined || body.approval_id === undefined) return []
    const found = this.approvals.get(body.approval_id)
    if (!found) return fault('names no approval that waits for a second person')
    if (found.userId === body.user_id) return fault('is an approval of the same user')
    if (user_ids && !user_ids.includes(body.user_id)) return fault('may not be given by this user')
    if (found.action !== canonicalJson(body.action)) return fault('is an approval of another action')
    if (found.policyHash !== hash) return fault('was given under another version of the policy')
    if (found.used) return fault('has been used')
    if (nowMs >= found.createdMs + windowMinutes * 60_000) return fault('is too old')
    return []
  }
}

function fault(issue: string): UnmetRequirement[] {
  return [{ path: 'approval_id', issue, requirement: 'second_approver' }]
}

function refuseUnmet(details: readonly UnmetRequirement[], { requestId }: Call): void {
  if (details.length > 0) throw new FakeRefusal('policy_not_met', requestId, details)
}
