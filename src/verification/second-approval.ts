/**
 * Approvals of actions that need two people. The first person's verdict is rejected as `second_approval_required` and leaves an approval;
 * the verdict of another person on the same action, which names it, uses it up. Both are compared by what the service keeps, because
 * anyone who holds the signing secret could forge a JWT.
 */
import { canonicalJson } from '../crypto/verification-jwt.js'
import { MINUTE_MS } from '../lib/clock.js'
import type { ErrorDetail } from '../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { UserCall } from './call.js'
import type { VerdictTerms } from './verdict-terms.js'

type ApprovalCall = Pick<
  UserCall<{ action: unknown; approval_id?: string }>,
  'input' | 'tenant' | 'environment' | 'user'
>

/** Whether the rule asks for a second person. */
export function needsSecondApprover({ policy }: VerdictTerms): boolean {
  return policy?.rule.require.second_approver !== undefined
}

export class SecondApproval {
  constructor(private readonly vault: Pick<TemplateVault, 'actionBinding'>) {}

  /**
   * Why the approval that the request names does not count.
   * @param at milliseconds since the Unix epoch
   * @returns none where it counts, where the request names none, and where the rule asks for none
   */
  async faultsOf(
    store: Pick<StoreReader, 'approval'>,
    call: ApprovalCall,
    { policy }: VerdictTerms,
    at: number,
  ): Promise<ErrorDetail[]> {
    const { input, tenant, environment, user } = call
    const windowMinutes = policy?.rule.require.second_approver?.within_minutes
    if (windowMinutes === undefined || input.approval_id === undefined) return []
    const found = await store.approval(input.approval_id)
    if (found?.tenantId !== tenant.id || found.environment !== environment)
      return fault('names no approval that waits for a second person')
    if (found.blindIndex.equals(user.blindIndex)) return fault('is an approval of the same user')
    if (!found.binding.equals(this.bindingOf(call))) return fault('is an approval of another action')
    if (found.policyHash !== policy!.hash) return fault('was given under another version of the policy')
    if (found.usedAt !== null) return fault('has been used')
    if (at >= found.createdAt + windowMinutes * MINUTE_MS) return fault('is too old')
    return []
  }

  /** Uses up the approval that the request names. @returns why it does not count; none where it was used */
  async use(
    tx: StoreTransaction,
    call: ApprovalCall,
    terms: VerdictTerms,
    at: number,
  ): Promise<ErrorDetail[]> {
    const faults = await this.faultsOf(tx, call, terms, at)
    if (faults.length > 0) return faults
    return (await tx.useApproval(call.input.approval_id!, at)) ? [] : fault('has been used')
  }

  /** Keeps the first person's approval. @param verificationId id of the verdict, which the second person's request names */
  async keep(
    tx: StoreTransaction,
    call: ApprovalCall,
    { policy }: VerdictTerms,
    { verificationId, at }: { verificationId: string; at: number },
  ): Promise<void> {
    const { within_minutes: windowMinutes } = policy!.rule.require.second_approver!
    await tx.insertApproval({
      id: verificationId,
      tenantId: call.tenant.id,
      environment: call.environment,
      blindIndex: call.user.blindIndex,
      binding: this.bindingOf(call),
      policyHash: policy!.hash,
      createdAt: at,
      expiresAt: at + windowMinutes * MINUTE_MS,
      usedAt: null,
    })
  }

  private bindingOf({ input, tenant, environment }: ApprovalCall): Buffer {
    return this.vault.actionBinding(tenant.id, environment, canonicalJson(input.action))
  }
}

function fault(issue: string): ErrorDetail[] {
  return [{ path: 'approval_id', issue, requirement: 'second_approver' }]
}
