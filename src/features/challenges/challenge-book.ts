/**
 * Liveness challenges: random movements for one user, one purpose and one action, to be answered once with frames of a camera.
 *
 * A challenge is in one of four states, by its row in the table `challenge`:
 *
 *   issued    `used_at` is null, `expires_at` lies ahead
 *   expired   `used_at` is null, `expires_at` has passed
 *   used      `used_at` is set
 *   gone      no row: never issued, erased with its user, or deleted by `RetentionJob` after it expired
 *
 * The steps, and what is durable after each:
 *
 *   1. `issue` inserts the row with the movements.       Durable with the transaction of `POST /v1/challenges`. The nonce is in
 *                                                        the answer only: the row holds an HMAC keyed by it.
 *   2. `open` checks id, nonce, user, purpose, action.   Reads only. Several requests may hold an open challenge at once.
 *   3. The engine judges the frames.                     Nothing is durable.
 *   4. `use` sets `used_at`, if it is still null.        Durable with the transaction of the verdict, the enrollment, or the
 *                                                        refusal of the pictures. Another refusal, such as
 *                                                        `reference_not_found`, leaves the challenge issued.
 *
 * When several requests use one challenge, the first to commit step 4 has it. The others fail there with `challenge_used`, and their
 * transactions are rolled back.
 *
 * Nobody has to recover anything after a crash. Before step 1 is committed the challenge does not exist, and its caller asks for
 * another one (or, with an idempotency key, for the same answer). Before step 4 is committed the challenge is still issued, and
 * the same frames may be sent again until it expires. After step 4 the caller repeats its idempotency key to learn the outcome.
 *
 * Tested under SIGKILL, with one challenge sent to two services at once, by `test/chaos/short.test.ts`; without kills by
 * `test/features/challenges/challenges.test.ts` and `test/cluster/journeys.test.ts`.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { GoodOnce } from '../../api/good-once.js'
import type { Environment } from '../../config/config.js'
import type { ErrorCode } from '../../contract/error-codes.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { open, seal } from '../../crypto/sealed-box.js'
import type { Clock } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Note } from '../../verification/call.js'
import type { Step } from './film/steps.js'
import { type ChallengeRecord, challengeReader, challengeWriter } from './table/exports.js'

/** Error codes of an endpoint that uses a challenge up. */
export const CHALLENGE_ERRORS = [
  'challenge_not_found',
  'challenge_used',
  'challenge_expired',
  'challenge_mismatch',
] as const satisfies readonly ErrorCode[]

export const PURPOSES = ['verify', 'enroll'] as const
export type Purpose = (typeof PURPOSES)[number]

/** The user, purpose and action of a challenge: all of them must be the same when it is used. */
export interface ChallengeSubject {
  tenantId: string
  environment: Environment
  blindIndex: Buffer
  /** A `Purpose`, or the word of a feature for a challenge without frames. */
  purpose: string
  /** RFC 8785 canonical form; null for an enrollment. */
  action: string | null
}

/** A challenge that may be used. */
export interface OpenedChallenge extends GoodOnce {
  /** Movements of the head, in order. */
  steps: Step[]
  /** Facts that parts of the call keep with the challenge; null for none. */
  note: Note | null
}

const NONCE_BYTES = 32

export class ChallengeBook {
  constructor(private readonly clock: Clock) {}

  /**
   * @param ttlMs milliseconds until it expires
   * @param steps unforeseeable movements; none for a challenge without frames
   * @param note facts that parts of the call keep with the challenge; null for none
   * @returns the challenge's nonce, which is kept nowhere, and the time of its expiry in milliseconds since the Unix epoch
   */
  async issue(
    tx: StoreTransaction,
    subject: ChallengeSubject,
    ttlMs: number,
    steps: readonly Step[] = [],
    note: Note | null = null,
  ): Promise<{ id: string; nonce: string; expiresAt: number }> {
    const now = this.clock.now()
    const id = prefixedId('chl', now)
    const nonce = randomBytes(NONCE_BYTES).toString('base64url')
    const { tenantId, environment, blindIndex } = subject
    const record: ChallengeRecord = {
      id,
      tenantId,
      environment,
      blindIndex,
      binding: bindingOf(nonce, subject),
      steps: steps.join(' '),
      display: note && seal(noteKey(nonce), Buffer.from(JSON.stringify(note)), id),
      createdAt: now,
      expiresAt: now + ttlMs,
      usedAt: null,
    }
    await tx.statements(challengeWriter).insert(record)
    return { id, nonce, expiresAt: record.expiresAt }
  }

  /**
   * Finds a challenge that may still be used, and checks that it is for this subject.
   * @throws DomainError challenge_not_found, challenge_used, challenge_expired, challenge_mismatch
   */
  async open(
    store: StoreReader,
    { id, nonce }: { id: string; nonce: string },
    subject: ChallengeSubject,
  ): Promise<OpenedChallenge> {
    const record = await store.statements(challengeReader).find(id)
    if (record?.tenantId !== subject.tenantId || record.environment !== subject.environment)
      throw new DomainError('challenge_not_found')
    if (record.usedAt !== null) throw new DomainError('challenge_used')
    if (record.expiresAt <= this.clock.now()) throw new DomainError('challenge_expired')
    if (!timingSafeEqual(record.binding, bindingOf(nonce, subject)))
      throw new DomainError('challenge_mismatch')
    const note = record.display && (JSON.parse(open(noteKey(nonce), record.display, id).toString()) as Note)
    const steps = record.steps.split(' ') as Step[]
    const use = (tx: StoreTransaction) => this.use(tx, id)
    return { steps, note, facts: { challenge_id: id }, use }
  }

  /** Uses the challenge up, in the transaction of the outcome. @throws DomainError challenge_used */
  private async use(tx: StoreTransaction, id: string): Promise<void> {
    if (!(await tx.statements(challengeWriter).use(id, this.clock.now())))
      throw new DomainError('challenge_used')
  }
}

/** Key under which a challenge's row holds its note: like the binding, it lets nobody guess at the action. */
function noteKey(nonce: string): Buffer {
  return createHmac('sha256', Buffer.from(nonce, 'base64url')).update('display').digest()
}

/** HMAC keyed by the nonce. The database does not hold the nonce, so that nobody can guess at the action from what it holds. */
function bindingOf(
  nonce: string,
  { tenantId, environment, blindIndex, purpose, action }: ChallengeSubject,
): Buffer {
  const words = [tenantId, environment, blindIndex.toString('hex'), purpose, action ?? '']
  return createHmac('sha256', Buffer.from(nonce, 'base64url')).update(words.join('\0')).digest()
}
