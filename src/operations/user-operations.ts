/** What is done to a tenant's users at somebody's request: erasure (GDPR article 17, CCPA). */
import { ApiError } from '../api-error.js'
import { type Clock, DAY_MS } from '../clock.js'
import type { Environment } from '../config.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { ErasureRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { SubjectVault } from '../subjects/subject-vault.js'
import type { Act, Actor, AuditedTransactions } from './operation.js'

/** How long a repeated request gets the same receipt. */
const RECEIPT_MS = DAY_MS

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
    private readonly vault: SubjectVault,
    private readonly clock: Clock,
  ) {}

  /**
   * Erases the user, and says in the log of production what came of it, even where there was nobody to erase.
   * @throws ApiError reference_not_found
   */
  async erase({ id }: TenantRecord, actor: Actor, user: UserAddress): Promise<Erasure> {
    if (user.environment === 'sandbox')
      return this.store.transaction(async (tx) => (await this.eraseWithin(tx, id, user)).result)
    const outcome = await this.audited.run<Erasure | ApiError>(id, actor, async (tx) => {
      try {
        const { result, facts } = await this.eraseWithin(tx, id, user)
        return { result, facts: { ...facts, status: 200 } }
      } catch (error) {
        // A refusal has changed nothing, so that its entry may stand in the same transaction.
        if (!(error instanceof ApiError)) throw error
        return { result: error, facts: { event: 'delete', status: error.status, code: error.code } }
      }
    })
    if (outcome instanceof ApiError) throw outcome
    return outcome
  }

  /** For a transaction that writes the audit entry itself, as that of an API call does. @throws ApiError reference_not_found */
  async eraseWithin(
    tx: StoreTransaction,
    tenantId: string,
    { environment, userId }: UserAddress,
  ): Promise<Act<Erasure>> {
    const now = this.clock.now()
    const lookup = this.vault.lookup(tenantId, environment, userId)
    const subject = await this.vault.find(tx, lookup, userId)
    if (!subject) {
      const receipt = await tx.erasure(lookup, now)
      if (!receipt) throw new ApiError('reference_not_found')
      return {
        result: { receipt, isRepeated: true },
        facts: { event: 'delete', erasure_id: receipt.erasureId, repeated: true },
      }
    }
    const receipt: ErasureRecord = {
      lookup,
      erasureId: prefixedId('era', now),
      erasedAt: now,
      expiresAt: now + RECEIPT_MS,
      ...(await tx.eraseSubject(lookup)),
    }
    await tx.putErasure(receipt)
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
