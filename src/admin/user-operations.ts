/** What is done to a tenant's users at somebody's request: erasure (GDPR article 17, CCPA). */

import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { type Clock, DAY_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { CodedError } from '../lib/errors.js'
import type { ErasureRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { ownerOf, type TemplateVault } from '../users/template-vault.js'
import { CLEAR, lockoutReason } from '../verification/lockout.js'
import type { Outbox } from '../webhooks/outbox.js'
import type { Act, Actor, AuditedTransactions } from './operation.js'
import { erasureView, userView } from './views.js'

/** HTTP statuses that the API answers an erasure with: entries of the audit log have them whoever asked for the erasure. */
const STATUS_OK = 200
const STATUS_NOT_FOUND = 404

/** How long a repeated request gets the same receipt. */
const RECEIPT_MS = DAY_MS

export class UserOperationError extends CodedError<'reference_disabled'> {
  override readonly name = 'UserOperationError'
}

export interface Erasure {
  receipt: ErasureRecord
  /** The user was gone already: the receipt is the one that was given then. */
  isRepeated: boolean
}

/** A user of one of a tenant's environments. */
export interface UserAddress {
  environment: Environment
  userId: string
}

export class UserOperations {
  constructor(
    private readonly audited: AuditedTransactions,
    private readonly store: Store,
    private readonly vault: TemplateVault,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** What is known of an enrolled user, nothing biometric; null where there is none. */
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
    )
  }

  /**
   * Erases the user, and says in the log of production what came of it, even where there was nobody to erase.
   * @throws DomainError reference_not_found
   */
  async erase({ id }: TenantRecord, actor: Actor, user: UserAddress): Promise<Erasure> {
    if (user.environment === 'sandbox')
      return this.store.transaction(async (tx) => (await this.eraseWithin(tx, id, user)).result, undefined, {
        tenantId: id,
      })
    const outcome = await this.audited.run<Erasure | DomainError>(id, actor, async (tx) => {
      try {
        const { result, facts } = await this.eraseWithin(tx, id, user)
        return { result, facts: { ...facts, status: STATUS_OK } }
      } catch (error) {
        // A refusal has changed nothing, so that its entry may stand in the same transaction.
        if (!(error instanceof DomainError) || error.code !== 'reference_not_found') throw error
        return { result: error, facts: { event: 'delete', status: STATUS_NOT_FOUND, code: error.code } }
      }
    })
    if (outcome instanceof DomainError) throw outcome
    return outcome
  }

  /**
   * Ends the wait of a user of production after too many rejections, and counts anew. A reference that was disabled stays so:
   * whoever went on guessing for so long is answered by a new enrolment alone.
   * @returns the rejections that had been counted
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
          'The reference is disabled after too many rejections: enrol the user anew with `"replace": true`.',
        )
      await tx.setLockout(subjectId, CLEAR)
      await this.outbox.put(tx, {
        tenantId: id,
        environment: 'production',
        type: 'user.unlocked',
        data: { user_id: userId },
        subject: ownerOf(subject),
      })
      return {
        result: failures,
        facts: { event: 'user_unlocked', subject: subject.pseudonym, rejections: failures },
      }
    })
  }

  /** For a transaction that writes the audit entry itself, as that of an API call does. @throws DomainError reference_not_found */
  async eraseWithin(
    tx: StoreTransaction,
    tenantId: string,
    { environment, userId }: UserAddress,
  ): Promise<Act<Erasure>> {
    const now = this.clock.now()
    const blindIndex = this.vault.blindIndex(tenantId, environment, userId)
    const subject = await this.vault.find(tx, blindIndex, userId)
    if (!subject) {
      const receipt = await tx.erasure(blindIndex, now)
      if (!receipt) throw new DomainError('reference_not_found')
      return {
        result: { receipt, isRepeated: true },
        facts: { event: 'delete', erasure_id: receipt.erasureId, repeated: true },
      }
    }
    const [counts, endpoints] = await Promise.all([
      tx.eraseSubject(blindIndex),
      tx.webhookEndpoints(tenantId),
    ])
    const receipt: ErasureRecord = {
      blindIndex,
      erasureId: prefixedId('era', now),
      erasedAt: now,
      expiresAt: now + RECEIPT_MS,
      ...counts,
    }
    await tx.putErasure(receipt)
    // The user's own key is gone: this one event names somebody who is erased, until it is delivered.
    const data = erasureView(receipt, userId)
    await this.outbox.put(tx, { tenantId, environment, type: 'user.erased', data }, endpoints)
    return {
      result: { receipt, isRepeated: false },
      facts: {
        event: 'delete',
        subject: subject.pseudonym,
        erasure_id: receipt.erasureId,
        references: receipt.references,
        captures: receipt.captures,
        idempotency_records: receipt.idempotencyRecords,
      },
    }
  }
}
