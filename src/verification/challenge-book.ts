/** Challenges that were given out: each for one user, one purpose and one action, and to be used once. */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { drawSteps, type Mode, type Step } from '../biometrics/challenge/steps.js'
import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { ChallengeRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'

export const PURPOSES = ['verify', 'enroll'] as const
export type Purpose = (typeof PURPOSES)[number]

/** Whom and what a challenge is for: all of it must be the same when it is used. */
export interface ChallengeSubject {
  tenantId: string
  environment: Environment
  blindIndex: Buffer
  purpose: Purpose
  /** RFC 8785 canonical form; null for an enrolment. */
  action: string | null
}

export interface Challenge {
  id: string
  steps: Step[]
  expiresAt: number
}

const NONCE_BYTES = 32
/** Of a nonce in base64url. */
export const NONCE_LENGTH = 43

export class ChallengeBook {
  constructor(
    private readonly clock: Clock,
    private readonly ttlMs: number,
  ) {}

  /** The nonce is told once and kept nowhere. */
  async issue(
    tx: StoreTransaction,
    subject: ChallengeSubject,
    modes: readonly Mode[],
  ): Promise<Challenge & { nonce: string }> {
    const now = this.clock.now()
    const nonce = randomBytes(NONCE_BYTES).toString('base64url')
    const steps = drawSteps(modes, (below) => randomInt(below))
    const { tenantId, environment, blindIndex } = subject
    const record: ChallengeRecord = {
      id: prefixedId('chl', now),
      tenantId,
      environment,
      blindIndex,
      binding: bindingOf(nonce, subject),
      steps: steps.join(' '),
      createdAt: now,
      expiresAt: now + this.ttlMs,
      usedAt: null,
    }
    await tx.insertChallenge(record)
    return { id: record.id, nonce, steps, expiresAt: record.expiresAt }
  }

  /** @throws DomainError challenge_not_found, challenge_used, challenge_expired, challenge_mismatch */
  async open(
    store: StoreReader,
    { id, nonce }: { id: string; nonce: string },
    subject: ChallengeSubject,
  ): Promise<Challenge> {
    const record = await store.challenge(id)
    if (record?.tenantId !== subject.tenantId || record.environment !== subject.environment)
      throw new DomainError('challenge_not_found')
    if (record.usedAt !== null) throw new DomainError('challenge_used')
    if (record.expiresAt <= this.clock.now()) throw new DomainError('challenge_expired')
    if (!timingSafeEqual(record.binding, bindingOf(nonce, subject)))
      throw new DomainError('challenge_mismatch')
    return { id, steps: record.steps.split(' ') as Step[], expiresAt: record.expiresAt }
  }

  /** In the transaction of what the challenge was used for. @throws DomainError challenge_used */
  async use(tx: StoreTransaction, { id }: Pick<Challenge, 'id'>): Promise<void> {
    if (!(await tx.useChallenge(id, this.clock.now()))) throw new DomainError('challenge_used')
  }
}

/** Keyed by the nonce, which the database does not hold: from what it does hold nobody can guess at the action. */
function bindingOf(
  nonce: string,
  { tenantId, environment, blindIndex, purpose, action }: ChallengeSubject,
): Buffer {
  const words = [tenantId, environment, blindIndex.toString('hex'), purpose, action ?? '']
  return createHmac('sha256', Buffer.from(nonce, 'base64url')).update(words.join('\0')).digest()
}
