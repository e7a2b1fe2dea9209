/** The 24-hour idempotency window: one execution a key, its response kept sealed and given again. */
import { createHmac } from 'node:crypto'
import type { Environment } from '../config/config.js'
import { openWithAny, type SealingKey, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { sha256 } from '../crypto/sha256.js'
import { type Clock, DAY_MS, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { Claims } from '../storage/coordinator.js'
import type { IdempotencyRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import { LocalClaims } from './local-claims.js'

const WINDOW_MS = DAY_MS
const KEY = /^[\x20-\x7e]{1,255}$/

export interface KeptResponse {
  status: number
  /** The body bytes as first sent. */
  body: string
}

/** Of which there is one execution. */
export interface IdempotentRequest {
  tenantId: string
  environment: Environment
  method: string
  path: string
  key: string
}

/** The user a kept response belongs to. Without a data key of its own, it is sealed under the service's. */
export interface ResponseOwner {
  blindIndex: Buffer
  subject: { id: string; dataKey: Buffer } | null
}

/** The right to execute once; exactly one of `keep` (inside the effect's transaction) and `release` ends it. */
export interface Execution {
  keep(tx: StoreTransaction, response: KeptResponse, owner?: ResponseOwner): Promise<void>
  release(): void
}

export class Idempotency {
  constructor(
    private readonly store: Store,
    private readonly vault: TemplateVault,
    private readonly keys: Pick<ServiceKeys, 'lookup' | 'idempotency'>,
    private readonly clock: Clock,
    private readonly claims: Claims = store.coordinator ?? new LocalClaims(),
  ) {}

  /** @throws DomainError invalid_idempotency_key */
  assertKey(key: string): void {
    if (!KEY.test(key)) throw new DomainError('invalid_idempotency_key')
  }

  /**
   * Resolves with the kept response of an earlier execution, or with the right to execute.
   * @throws DomainError idempotency_key_reused, idempotency_in_progress
   */
  async begin(
    request: IdempotentRequest,
    rawBody: Uint8Array,
  ): Promise<{ replay: KeptResponse } | { execution: Execution }> {
    const scope = this.scopeOf(request)
    const payloadHash = await sha256(rawBody)
    const name = scope.toString('hex')
    const createdAt = this.clock.now()
    const claiming = this.claims.claim(scope, payloadHash)
    // Asked for at once: what another service keeps in between shows when the response of ours is to be kept.
    const reading = this.store.read.idempotencyRecord(scope, createdAt)
    reading.catch(() => {})
    const claim = await claiming
    if ('heldFor' in claim) {
      // Who holds it may only be looking, as we are; or be about to give it back.
      const record = await this.store.read.idempotencyRecord(scope, this.clock.now())
      if (record) return { replay: await this.replayOf(record, payloadHash) }
      if (!claim.heldFor.equals(payloadHash)) throw new DomainError('idempotency_key_reused')
      // Callers whose node has just died ask again at another: not before they can be heard.
      throw new DomainError('idempotency_in_progress', { retryAfterMs: claim.leaseSeconds * SECOND_MS })
    }
    const { release } = claim
    try {
      const record = await reading
      if (!record)
        return {
          execution: {
            release,
            keep: async (tx, { status, body }, owner) => {
              await tx.insertIdempotencyRecord({
                scope,
                blindIndex: owner?.blindIndex ?? null,
                subjectId: owner?.subject?.id ?? null,
                payloadHash,
                status,
                sealed: seal(
                  owner?.subject?.dataKey ?? this.keys.idempotency.current,
                  Buffer.from(body),
                  name,
                ),
                createdAt,
                expiresAt: createdAt + WINDOW_MS,
              })
            },
          },
        }
      release()
      return { replay: await this.replayOf(record, payloadHash) }
    } catch (error) {
      release()
      throw error
    }
  }

  /** What an earlier execution answered, whatever its payload; null where nothing is kept. */
  async kept(request: IdempotentRequest): Promise<KeptResponse | null> {
    const record = await this.store.read.idempotencyRecord(this.scopeOf(request), this.clock.now())
    return record ? this.responseOf(record) : null
  }

  private scopeOf({ tenantId, environment, method, path, key }: IdempotentRequest): Buffer {
    return createHmac('sha256', this.keys.lookup)
      .update(`idempotency\0${tenantId}\0${environment}\0${method}\0${path}\0${key}`)
      .digest()
  }

  private async replayOf(record: IdempotencyRecord, payloadHash: Buffer): Promise<KeptResponse> {
    if (!record.payloadHash.equals(payloadHash)) throw new DomainError('idempotency_key_reused')
    return this.responseOf(record)
  }

  private async responseOf(record: IdempotencyRecord): Promise<KeptResponse> {
    const context = record.scope.toString('hex')
    const body = openWithAny(await this.sealingKey(record), record.sealed, context).toString()
    return { status: record.status, body }
  }

  private async sealingKey({ blindIndex, subjectId }: IdempotencyRecord): Promise<SealingKey> {
    if (subjectId === null) return this.keys.idempotency
    const found = await this.store.read.subjectWithoutReference(blindIndex!)
    if (found?.id !== subjectId) throw new Error('a kept response outlived its user')
    return { current: this.vault.dataKey(found), others: [] }
  }
}
