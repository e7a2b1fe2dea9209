/** Holds an approval to the rule of the tenant's policy: before the engine works for the request, and in the transaction of the verdict. */
import { acrOf } from '../../contract/acr.js'
import type { ErrorDetail } from '../../lib/domain-error.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import type { UserCall } from '../../verification/call.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import type {
  Condition,
  Judgement,
  Verdict,
  VerdictTerms,
  VerifyEvidence,
  VerifyInput,
} from '../../verification/verdict.js'
import type { RuleInForce } from './policy-book.js'
import { needsReview, type Offered, offeredAcr, policyNotMet, unmetRequirements } from './policy-check.js'
import type { PolicyServices } from './policy-services.js'
import { needsSecondApprover } from './second-approval.js'

/** The field that the part of policies adds to the body of a verify. */
export interface ApprovalInput {
  approval_id?: string
}

export class PolicyCondition implements Condition {
  readonly maxFmr: number | undefined

  constructor(
    private readonly parts: PolicyServices,
    private readonly call: UserCall<VerifyInput & ApprovalInput>,
    readonly inForce: RuleInForce,
  ) {
    this.maxFmr = inForce.rule.require.max_fmr
  }

  async assertOffered(subject: Subject | null, evidence: VerifyEvidence, terms: VerdictTerms): Promise<void> {
    const { store, clock, secondApproval } = this.parts
    const { call, inForce } = this
    const at = clock.now()
    const acr = offeredAcr(this.provider, evidence.film, evidence.possession)
    const unmet = [
      ...this.unmetBy({ acr, subject, at }, evidence, terms),
      ...(await secondApproval.faultsOf(store.read, call, inForce, at)),
    ]
    if (unmet.length > 0) throw policyNotMet(inForce, unmet)
  }

  /** The approval stands, waits for a person’s look or for a second person, or may not be given. */
  async judge(tx: StoreTransaction, approval: Verdict, at: number): Promise<Judgement | null> {
    const { secondApproval, config } = this.parts
    const { call, inForce, provider } = this
    const { terms, subject, possession, evidence } = approval
    const comparison = approval.comparison!
    const acr = acrOf(comparison.sample.liveness.methods, evidence.film !== null, possession)
    const unmet = this.unmetBy({ acr, subject, at }, evidence, terms)
    if (unmet.length > 0) return { withheld: policyNotMet(inForce, unmet) }
    if (needsReview(inForce, evidence.integrity)) return { reason: 'review_required', attempt: 'uncounted' }
    if (!needsSecondApprover(inForce)) return null
    // The approval is one of this user's: the face matched, and the policy asks no more of it.
    if (call.input.approval_id === undefined)
      return { reason: 'second_approval_required', attempt: 'succeeded' }
    const { threshold } = provider.operatingPoint(call.tenant.fmr ?? config.fmr)
    const face = { subject, comparison, provider, threshold }
    const used = await secondApproval.use(tx, call, inForce, face, at)
    if ('reason' in used) return { ...used, attempt: 'uncounted' }
    return used.unmet.length > 0 ? { withheld: policyNotMet(inForce, used.unmet) } : null
  }

  private get provider() {
    return decidingProvider(this.parts.provider, this.call.tenant)
  }

  private unmetBy(
    offered: Pick<Offered, 'acr' | 'subject' | 'at'>,
    { images, integrity }: Pick<VerifyEvidence, 'images' | 'integrity'>,
    terms: VerdictTerms,
  ): ErrorDetail[] {
    const capture = {
      images: images.length,
      isReported: integrity !== null,
      binding: this.call.captureSession?.binding ?? null,
    }
    return unmetRequirements(this.inForce, terms, { ...offered, ...capture }, this.parts.vault)
  }
}
