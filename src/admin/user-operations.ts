/** Operations on a tenant's users: find, unlock, erase (GDPR article 17, CCPA). */

import type {
  Actor,
  AuditedResult,
  AuditedUnitOfWork,
  OpenUnitOfWork,
} from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { type Events, eventAbout } from '../events/events.js'
import { type Clock, DAY_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { CodedError } from '../lib/errors.js'
import type { ErasureRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import { CLEAR, lockoutReason } from '../verification/lockout/lockout.js'
import { erasureFacts, erasureView, userView } from './user-views.js'

/** HTTP statuses of the API's answer to an erasure: the audit entry has one also where the dashboard or the command line asked. */
const STATUS_OK = 200
const STATUS_NOT_FOUND = 404

/** How long a repeated erasure gets the same receipt. */
const RECEIPT_MS = DAY_MS

export class UserOperationError extends CodedError<'reference_disabled'> {}

export interface Erasure {
  receipt: ErasureRecord
  /** True where the user was erased before: the receipt is that of the first erasure. */
  isRepeated: boolean
}

/** Environment and id by which a tenant names a user. */
export interface UserAddress {
  environment: Environment
  userId: string
}

export class UserOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly vault: TemplateVault,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  /** @returns what the service knows about an enrolled user, without biometric data; null where the user is not enrolled */
  async find(
    { id }: TenantRecord,
    { environment, userId }: UserAddress,
  ): Promise<ReturnType<typeof userView> | null> {
    const { vault, store, clock } = this
    const subject = await vault.find(store.read, vault.blindIndex(id, environment, userId), userId)
    if (!subject?.reference) return null
    const { record, reference } = subject
    const reason = lockoutReason(record, clock.now())
    const until = reason === 'locked_out' ? record.lockedUntil : null
    return userView(
      userId,
      subject,
      { ...reference, ...vault.describeReference(subject, reference) },
      reason && { reason, until },
      await store.read.credentialsOf(record.id),
    )
  }

  /** Ids of the models of which a user has templates; none where the user is not enrolled. */
  async modelsOf({ id }: TenantRecord, { environment, userId }: UserAddress): Promise<string[]> {
    const found = await this.store.read.subject(this.vault.blindIndex(id, environment, userId))
    return found?.reference ? [found.reference, ...found.following].map(({ model }) => model) : []
  }

  /**
   * Erases the user. In production the audit log records the erasure, even where there was nobody to erase.
   * @param by who acts, or the unit of work of the API call
   * @returns the receipt, which a repeated call gets again for 24 hours
   * @throws DomainError reference_not_found where the user is unknown and no receipt is left
   */
  async erase(
    { id }: TenantRecord,
    by: Actor | OpenUnitOfWork,
    { environment, userId }: UserAddress,
  ): Promise<Erasure> {
    const blindIndex = this.vault.blindIndex(id, environment, userId)
    const erasure = await this.audited.run(
      id,
      by,
      async (tx): Promise<AuditedResult<Erasure | null>> => {
        const subject = await this.vault.find(tx, blindIndex, userId)
        if (!subject) return repeatedErasure(await tx.erasure(blindIndex, this.clock.now()))
        const receipt = await this.eraseUser(tx, { id, environment, userId, blindIndex })
        return {
          result: { receipt, isRepeated: false },
          facts: {
            event: 'delete',
            status: STATUS_OK,
            subject: subject.pseudonym,
            ...erasureFacts(receipt),
          },
        }
      },
      { isAudited: environment === 'production' },
    )
    if (!erasure) throw new DomainError('reference_not_found')
    return erasure
  }

  /**
   * Ends the lockout of a production user, and resets the count of rejections. A disabled reference stays disabled: only a new
   * enrollment replaces it.
   * @returns the number of rejections before the reset
   * @throws DomainError reference_not_found; UserOperationError reference_disabled
   */
  unlock({ id }: TenantRecord, actor: Actor, userId: string): Promise<number> {
    return this.audited.run(id, actor, async (tx) => {
      const subject = await this.vault.find(tx, this.vault.blindIndex(id, 'production', userId), userId)
      if (!subject) throw new DomainError('reference_not_found')
      const { id: subjectId, failures, disabledAt } = subject.record
      if (disabledAt !== null)
        throw new UserOperationError(
          'reference_disabled',
          'The reference is disabled after too many rejections. Enroll the user again with `"replace": true`.',
        )
      await tx.setLockout(subjectId, CLEAR)
      await this.events.put(tx, eventAbout(subject, 'user.unlocked', { user_id: userId }))
      return {
        result: failures,
        facts: { event: 'user_unlocked', subject: subject.pseudonym, rejections: failures },
      }
    })
  }

  /** Deletes everything about the user, keeps a receipt and announces it. */
  async eraseUser(
    tx: StoreTransaction,
    { id, environment, userId, blindIndex }: { id: string; blindIndex: Buffer } & UserAddress,
  ): Promise<ErasureRecord> {
    const now = this.clock.now()
    const [counts, audience] = await Promise.all([
      tx.eraseSubject(blindIndex),
      this.events.audienceOf(tx, id),
    ])
    const receipt: ErasureRecord = {
      blindIndex,
      erasureId: prefixedId('era', now),
      erasedAt: now,
      expiresAt: now + RECEIPT_MS,
      ...counts,
    }
    await tx.putErasure(receipt)
    // The user's own key is gone: this event is the only one that names an erased user, until it is delivered.
    const data = erasureView(receipt, userId)
    await audience.tell(tx, { tenantId: id, environment, type: 'user.erased', data })
    return receipt
  }
}

/** The erasure of a user who is unknown: the receipt of the first call, or null where none is left. */
function repeatedErasure(receipt: ErasureRecord | undefined): AuditedResult<Erasure | null> {
  // The entry has the status and the code of the API's answer.
  if (!receipt)
    return { result: null, facts: { event: 'delete', status: STATUS_NOT_FOUND, code: 'reference_not_found' } }
  return {
    result: { receipt, isRepeated: true },
    facts: { event: 'delete', status: STATUS_OK, erasure_id: receipt.erasureId, repeated: true },
  }
}
