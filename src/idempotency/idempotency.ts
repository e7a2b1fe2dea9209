/**
 * The 24-hour idempotency window: each key is executed once, and its response is kept sealed and replayed.
 *
 * A key (with its tenant, environment, method and path: its scope) is in one of three states:
 *
 *   free      no record, no claim
 *   claimed   one service executes the request; nothing is written yet
 *   kept      a record holds the response until `expiresAt`, 24 hours after the request began
 *
 * The steps of a request, and what is durable after each:
 *
 *   1. `begin` claims the scope.             The claim is in memory (`LocalClaims`), or, where several services share a
 *                                            database, a row of the table `claim` that names the service.
 *   2. `begin` reads the record.             A kept response is replayed and the claim released: kept.
 *   3. The endpoint does its slow work.      Nothing is durable yet: a crash up to here leaves nothing to recover.
 *   4. `Execution.keep` inserts the record.  Durable with the commit of the transaction that also holds the effect and the
 *                                            audit entry: either all three exist, or none of them.
 *   5. `Execution.release` frees the claim.  Later requests find the record.
 *
 * A claim in memory dies with its process. A row counts only while the lease of its service lasts; after that the next `begin`
 * takes it over, and until then callers get `idempotency_in_progress` with the rest of the lease as `Retry-After`. A caller that
 * got no answer after step 4 sends the request again and gets the replay.
 *
 * Two executions can overlap where a service is taken for dead and is not. Both try to insert the same record; the second
 * transaction fails with `AlreadyExecutedError`, and `ApiServer.execute` answers with what the first one kept.
 */
import { createHmac } from 'node:crypto'
import type { Environment } from '../config/config.js'
import { open, openWithAny, type SealingKey, seal, sealFor } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { sha256 } from '../crypto/sha256.js'
import { type Clock, DAY_MS, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { Claims } from '../storage/coordinator.js'
import type { IdempotencyRecord } from '../storage/records.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import { LocalClaims } from './local-claims.js'

const WINDOW_MS = DAY_MS
/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/
/** First byte of every body that is kept as it is: bodies are JSON objects, and a sealed box begins with its version. */
const JSON_OBJECT = 0x7b

export interface KeptResponse {
  status: number
  /** The body as it was first sent, byte for byte. */
  body: string
  /**
   * Whether only the caller's idempotency key opens the body, which holds something that nobody else may read. The database has that key
   * only as an HMAC.
   */
  onlyForCaller?: boolean | undefined
}

/** The scope of an idempotency key: two requests are the same one where all of these are the same. */
export interface IdempotentRequest {
  tenantId: string
  environment: Environment
  method: string
  path: string
  key: string
}

/** The user to whom a kept response belongs, and with whom it is erased. */
export interface ResponseOwner {
  blindIndex: Buffer
  /** Subject whose data key seals the response; null for the service's own key. */
  subject: { id: string; dataKey: Buffer } | null
}

/** The right to execute a request. */
export interface Execution {
  /**
   * Keeps the response in the transaction of the effect.
   * @throws AlreadyExecutedError here or at the commit, where another service has kept a response meanwhile
   */
  keep(tx: StoreTransaction, response: KeptResponse, owner?: ResponseOwner): Promise<void>
  /** Frees the key, whether a response was kept or not. */
  release(): void
  /**
   * Response to the same payload about the same user that another key's execution has kept since then; null for none. Read in the
   * transaction of the effect, so that of two at once the second finds that of the first.
   * @param since milliseconds since the Unix epoch
   */
  earlier(tx: StoreTransaction, owner: ResponseOwner, since: number): Promise<KeptResponse | null>
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
    // Read while the claim is under way. A record that another service inserts in between fails our own insert later.
    const reading = this.store.read.idempotencyRecord(scope, createdAt)
    reading.catch(() => {})
    const claim = await claiming
    if ('holderHash' in claim) {
      // The holder may have kept its response already, and be about to release the claim.
      const record = await this.store.read.idempotencyRecord(scope, this.clock.now())
      if (record) return { replay: await this.replayOf(record, payloadHash, request) }
      if (!claim.holderHash.equals(payloadHash)) throw new DomainError('idempotency_key_reused')
      // A caller whose service has just died asks another one: no earlier than the claim can be taken over.
      throw new DomainError('idempotency_in_progress', { retryAfterMs: claim.leaseSeconds * SECOND_MS })
    }
    const { release } = claim
    try {
      const record = await reading
      if (!record)
        return {
          execution: {
            release,
            earlier: async (tx, { blindIndex, subject }, since) => {
              const found = await tx.responseToPayload(blindIndex, payloadHash, since)
              if (!found || found.subjectId === null || found.subjectId !== subject?.id) return null
              const body = open(subject.dataKey, found.sealed, found.scope.toString('hex'))
              return { status: found.status, body: body.toString() }
            },
            keep: async (tx, { status, body, onlyForCaller }, owner) => {
              const content = Buffer.from(body)
              await tx.insertIdempotencyRecord({
                scope,
                blindIndex: owner?.blindIndex ?? null,
                subjectId: owner?.subject?.id ?? null,
                payloadHash,
                status,
                sealed: sealFor(
                  owner?.subject?.dataKey,
                  this.keys.idempotency.current,
                  onlyForCaller ? seal(this.callerKey(request), content, name) : content,
                  name,
                ),
                createdAt,
                expiresAt: createdAt + WINDOW_MS,
              })
            },
          },
        }
      release()
      return { replay: await this.replayOf(record, payloadHash, request) }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Response that an earlier execution kept for the key, for any payload; null where none is kept. */
  async kept(request: IdempotentRequest): Promise<KeptResponse | null> {
    const record = await this.store.read.idempotencyRecord(this.scopeOf(request), this.clock.now())
    return record ? this.responseOf(record, request) : null
  }

  private scopeOf(request: IdempotentRequest): Buffer {
    return this.digestOf('idempotency', request)
  }

  /** Key that nobody can compute who has the database and all keys of the service, but not the caller's idempotency key. */
  private callerKey(request: IdempotentRequest): Buffer {
    return this.digestOf('idempotency-caller', request)
  }

  private digestOf(purpose: string, { tenantId, environment, method, path, key }: IdempotentRequest): Buffer {
    return createHmac('sha256', this.keys.lookup)
      .update(`${purpose}\0${tenantId}\0${environment}\0${method}\0${path}\0${key}`)
      .digest()
  }

  private async replayOf(
    record: IdempotencyRecord,
    payloadHash: Buffer,
    request: IdempotentRequest,
  ): Promise<KeptResponse> {
    if (!record.payloadHash.equals(payloadHash)) throw new DomainError('idempotency_key_reused')
    return this.responseOf(record, request)
  }

  private async responseOf(record: IdempotencyRecord, request: IdempotentRequest): Promise<KeptResponse> {
    const context = record.scope.toString('hex')
    const content = openWithAny(await this.sealingKey(record), record.sealed, context)
    const body = content[0] === JSON_OBJECT ? content : open(this.callerKey(request), content, context)
    return { status: record.status, body: body.toString() }
  }

  /** @throws StoreUnavailableError where the user was erased since the record was read */
  private async sealingKey({ scope, blindIndex, subjectId }: IdempotencyRecord): Promise<SealingKey> {
    if (subjectId === null) return this.keys.idempotency
    const found = await this.store.read.subjectWithoutReference(blindIndex!)
    if (found?.id === subjectId) return { current: this.vault.dataKey(found), others: [] }
    if (await this.store.read.idempotencyRecord(scope, this.clock.now()))
      throw new Error('a kept response outlived the user whose data key sealed it')
    throw new StoreUnavailableError('the user was erased while the kept response was read')
  }
}
