/**
 * Approvals of actions that need two people. The first person's verdict is rejected as `second_approval_required` and leaves an approval;
 * the verdict of another person on the same action, which names it, uses it up. Both are compared by what the service keeps, because
 * anyone who holds the signing secret could forge a JWT. Two people are two faces: the second capture and the second reference are compared
 * with the first person's reference.
 */
import { canonicalJson } from '../../contract/canonical-json.js'
import { MINUTE_MS } from '../../lib/clock.js'
import type { ErrorDetail } from '../../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import { comparedTemplate, type TemplateRecord, templateOf } from '../../users/templates.js'
import type { BiometricProvider, Comparison } from '../../verification/biometric-provider.js'
import type { UserCall } from '../../verification/call.js'
import { approvalReader, approvalWriter } from './approval-table.js'
import type { RuleInForce } from './policy-book.js'

type ApprovalCall = Pick<
  UserCall<{ action: unknown; approval_id?: string }>,
  'input' | 'tenant' | 'environment' | 'user'
>

export function needsSecondApprover({ rule }: RuleInForce): boolean {
  return rule.require.second_approver !== undefined
}

/** The face of the second person, as its verdict found it. */
export interface SecondFace {
  subject: Subject | null
  comparison: Comparison
  provider: BiometricProvider
  /** Lowest score at which two faces count as the same person, by the tenant's contract. */
  threshold: number
}

export class SecondApproval {
  constructor(private readonly vault: Pick<TemplateVault, 'actionBinding' | 'find' | 'openReference'>) {}

  /**
   * Why the approval that the request names does not count.
   * @param at milliseconds since the Unix epoch
   * @returns none where it counts, where the request names none, and where the rule asks for none
   */
  async faultsOf(
    store: Pick<StoreReader, 'statements'>,
    call: ApprovalCall,
    { hash, rule }: RuleInForce,
    at: number,
  ): Promise<ErrorDetail[]> {
    const { input, tenant, environment, user } = call
    const required = rule.require.second_approver
    if (!required || input.approval_id === undefined) return []
    const found = await store.statements(approvalReader).one(input.approval_id)
    if (found?.tenantId !== tenant.id || found.environment !== environment)
      return fault('names no approval that waits for a second person')
    if (found.blindIndex.equals(user.blindIndex)) return fault('is an approval of the same user')
    if (required.user_ids && !required.user_ids.includes(user.id))
      return fault('may not be given by this user')
    if (!found.binding.equals(this.bindingOf(call))) return fault('is an approval of another action')
    if (found.policyHash !== hash) return fault('was given under another version of the policy')
    if (found.usedAt !== null) return fault('has been used')
    if (at >= found.createdAt + required.within_minutes * MINUTE_MS) return fault('is too old')
    return []
  }

  /**
   * Uses up the approval that the request names.
   * @returns `same_person` where the face is the first person's; or why the approval does not count, none where it was used
   */
  async use(
    tx: StoreTransaction,
    call: ApprovalCall,
    inForce: RuleInForce,
    face: SecondFace,
    at: number,
  ): Promise<{ reason: 'same_person' } | { unmet: ErrorDetail[] }> {
    const id = call.input.approval_id!
    const unmet = await this.faultsOf(tx, call, inForce, at)
    if (unmet.length > 0) return { unmet }
    // The sandbox knows no faces: there each user id is another person.
    if (call.environment === 'production') {
      const { blindIndex } = (await tx.statements(approvalReader).one(id))!
      const faces = await this.facesOf(tx, blindIndex, face.provider)
      if (faces.length === 0)
        return {
          unmet: fault('cannot be compared with the first person, who has no reference of this model'),
        }
      if (this.shows(faces, face)) return { reason: 'same_person' }
    }
    return { unmet: (await tx.statements(approvalWriter).use(at, id)) ? [] : fault('has been used') }
  }

  /** The embeddings, of the model that decides, as which the user's reference was enrolled and which it has become. */
  private async facesOf(
    tx: StoreTransaction,
    blindIndex: Buffer,
    { model }: BiometricProvider,
  ): Promise<Float32Array[]> {
    // The id would only make a pseudonym, which nothing here uses.
    const user = await this.vault.find(tx, blindIndex, '')
    const template = user && templateOf(user, model)
    return template ? this.embeddingsOf(user, template) : []
  }

  private embeddingsOf(user: Subject, template: TemplateRecord): Float32Array[] {
    const templates = new Set([template, comparedTemplate(user, template)])
    return [...templates].map((one) => this.vault.openReference(user, one).embedding)
  }

  /** Whether the capture of the second person, or their reference, is one of these faces. */
  private shows(faces: Float32Array[], { subject, comparison, provider, threshold }: SecondFace): boolean {
    const template = subject && templateOf(subject, provider.model)
    const own = [
      ...comparison.samples.map(({ embedding }) => embedding),
      ...(template ? this.embeddingsOf(subject, template) : []),
    ]
    return own.some((one) => faces.some((face) => provider.similarity(one, face) >= threshold))
  }

  /** Keeps the first person's approval. @param verificationId id of the verdict, which the second person's request names */
  async keep(
    tx: StoreTransaction,
    call: ApprovalCall,
    { hash, rule }: RuleInForce,
    { verificationId, at }: { verificationId: string; at: number },
  ): Promise<void> {
    const { within_minutes: windowMinutes } = rule.require.second_approver!
    await tx.statements(approvalWriter).insert({
      id: verificationId,
      tenantId: call.tenant.id,
      environment: call.environment,
      blindIndex: call.user.blindIndex,
      binding: this.bindingOf(call),
      policyHash: hash,
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
