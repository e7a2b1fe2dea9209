/**
 * The verdict that a registration of a passkey may need: an approved verify of the user, with a check of liveness, for an action of the
 * type `register_passkey`. It is kept as a challenge whose id is that of the verdict: good once, for ten minutes, erased with the user.
 */
import { randomBytes } from 'node:crypto'
import type { Environment } from '../config/config.js'
import { MINUTE_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'

/** The `type` of the action to which the user's approved verify must be bound. */
export const REGISTER_ACTION = 'register_passkey'
/** How long after the verdict a registration can begin and end. */
const PERMIT_MS = 10 * MINUTE_MS

interface PermittedUser {
  tenantId: string
  environment: Environment
  blindIndex: Buffer
}

/** Whether an approved verify for this action allows a passkey to be registered. */
export function permitsRegistration(action: unknown): boolean {
  return typeof action === 'object' && action !== null && 'type' in action && action.type === REGISTER_ACTION
}

/** @param at time of the verdict, milliseconds since the Unix epoch */
export async function grantRegistration(
  tx: StoreTransaction,
  user: PermittedUser,
  verificationId: string,
  at: number,
): Promise<void> {
  await tx.insertChallenge({
    id: verificationId,
    ...user,
    // No nonce opens it, so that it can never serve as a challenge.
    binding: randomBytes(32),
    steps: REGISTER_ACTION,
    display: null,
    createdAt: at,
    expiresAt: at + PERMIT_MS,
    usedAt: null,
  })
}

/** Uses the verdict up, in the transaction of the registration. @throws DomainError passkey_verdict_required */
export async function useRegistrationGrant(
  tx: StoreTransaction,
  user: PermittedUser,
  verificationId: string | undefined,
  now: number,
): Promise<void> {
  await assertRegistrationGranted(tx, user, verificationId, now)
  if (!(await tx.useChallenge(verificationId!, now))) throw new DomainError('passkey_verdict_required')
}

/** @throws DomainError passkey_verdict_required where the verdict is missing, too old, used, or not of this user and action */
export async function assertRegistrationGranted(
  store: StoreReader,
  { tenantId, environment, blindIndex }: PermittedUser,
  verificationId: string | undefined,
  now: number,
): Promise<void> {
  const permit = verificationId === undefined ? undefined : await store.challenge(verificationId)
  const isGranted =
    permit?.steps === REGISTER_ACTION &&
    permit.tenantId === tenantId &&
    permit.environment === environment &&
    permit.blindIndex.equals(blindIndex) &&
    permit.usedAt === null &&
    permit.expiresAt > now
  if (!isGranted) throw new DomainError('passkey_verdict_required')
}
