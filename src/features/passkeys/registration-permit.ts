/**
 * A registration of a passkey needs more than the API key: an approved verify of the user for an action of the type `register_passkey`,
 * kept as a challenge whose id is that of the verdict (good once, for ten minutes, erased with the user), or a recovery whose waiting time
 * is over. A user who has a passkey, or had one, needs one at least as strong in that verdict.
 */
import { randomBytes } from 'node:crypto'
import type { Possession } from '../../contract/acr.js'
import { REGISTER_ACTION } from '../../contract/own-actions.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import { challengeReader, challengeWriter } from '../challenges/table/exports.js'
import { strongerOf, strongestOf } from './checks/passkey-check.js'
import { assertRecovered, NOTHING_WAITS } from './passkey-recovery.js'
import type { PasskeySettings } from './passkey-settings.js'
import { passkeyWriter } from './passkey-table.js'
import type { PasskeyVault } from './passkey-vault.js'

/** How long after the verdict a registration can begin and end. */
const PERMIT_MS = 10 * MINUTE_MS

type PermittedUser = Pick<SubjectRecord, 'tenantId' | 'environment' | 'blindIndex'>

export interface Registration {
  settings: PasskeySettings
  subject: Subject
  verificationId: string | undefined
  /** Milliseconds since the Unix epoch. */
  now: number
}

/**
 * @param possession proof of the passkey that signed for the verdict; null for none
 * @param at time of the verdict, milliseconds since the Unix epoch
 */
export async function grantRegistration(
  tx: StoreTransaction,
  { tenantId, environment, blindIndex }: PermittedUser,
  verificationId: string,
  possession: Possession | null,
  at: number,
): Promise<void> {
  await tx.statements(challengeWriter).insert({
    id: verificationId,
    ...{ tenantId, environment, blindIndex },
    // No nonce opens it, so that it can never serve as a challenge.
    binding: randomBytes(32),
    steps: stepsOf(possession),
    display: null,
    createdAt: at,
    expiresAt: at + PERMIT_MS,
    usedAt: null,
  })
}

/**
 * Uses the verdict or the recovery up, in the transaction of the registration.
 * @returns whether a recovery allowed it
 * @throws DomainError as `assertRegistrable`
 */
export async function useRegistrationGrant(
  tx: StoreTransaction,
  passkeys: PasskeyVault,
  registration: Registration,
): Promise<{ isRecovery: boolean }> {
  const { subject, verificationId, now } = registration
  const grant = await assertRegistrable(tx, passkeys, registration)
  if (grant === 'recovery')
    await tx.statements(passkeyWriter).setState({ ...subject.record, ...NOTHING_WAITS, revokedPasskey: null })
  if (grant === 'verdict' && !(await tx.statements(challengeWriter).use(verificationId!, now)))
    throw new DomainError('passkey_verdict_required')
  return { isRecovery: grant === 'recovery' }
}

/**
 * Checks that a passkey may be registered for the user.
 * @returns what allows it; null where the API key is enough
 * @throws DomainError passkey_verdict_required where the verdict is missing, too old, used, or not of this user and action;
 *   passkey_proof_required where no passkey that is strong enough signed for it; passkey_recovery_pending
 */
export async function assertRegistrable(
  store: StoreReader,
  passkeys: PasskeyVault,
  { settings, subject, verificationId, now }: Registration,
): Promise<'verdict' | 'recovery' | null> {
  const { record } = subject
  if (verificationId !== undefined && verificationId === record.passkeyRecovery) {
    assertRecovered(record, now)
    return 'recovery'
  }
  const given = verificationId === undefined ? null : await grantOf(store, record, verificationId, now)
  if (settings.registration === 'verified' && !given) throw new DomainError('passkey_verdict_required')
  const needed = strongestOf(settings, record, await passkeys.of(store, subject))
  const proven = given?.possession ?? null
  if (strongerOf(proven, needed) !== proven) throw new DomainError('passkey_proof_required')
  return given && 'verdict'
}

async function grantOf(
  store: StoreReader,
  { tenantId, environment, blindIndex }: PermittedUser,
  verificationId: string,
  now: number,
): Promise<{ possession: Possession | null } | null> {
  const permit = await store.statements(challengeReader).find(verificationId)
  const possession = ([null, 'swk', 'hwk'] as const).find((one) => permit?.steps === stepsOf(one))
  const isGranted =
    permit?.tenantId === tenantId &&
    permit.environment === environment &&
    permit.blindIndex.equals(blindIndex) &&
    permit.usedAt === null &&
    permit.expiresAt > now
  return isGranted && possession !== undefined ? { possession } : null
}

function stepsOf(possession: Possession | null): string {
  return possession === null ? REGISTER_ACTION : `${REGISTER_ACTION} ${possession}`
}
