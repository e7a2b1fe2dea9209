/** Proves that the person holds a passkey of the user: opens the assertion of a verify, checks it, and uses it up with the verdict or reports it. */
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Possession } from '../../contract/acr.js'
import { eventAbout } from '../../events/events.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import type { CaptureInput, UserCall } from '../../verification/call.js'
import { answerIn, type OpenedChallenge } from '../challenges/exports.js'
import { assertCounted, type CheckedAssertion } from './checks/passkey-check.js'
import { ceremonySubject, passkeyChallenge } from './passkey-challenge.js'
import type { PasskeyServices } from './passkey-services.js'
import { type PasskeySettings, passkeySettings } from './passkey-settings.js'
import { type Passkey, type PasskeyVault, userHandle } from './passkey-vault.js'

interface PasskeyInput {
  require_passkey?: boolean
  passkey_assertion?: { challenge_id?: string; nonce?: string; credential: AuthenticationResponseJSON }
}

/** The assertion of a request whose challenge is known. Nothing is checked yet. */
interface OpenedAssertion {
  settings: PasskeySettings
  credential: AuthenticationResponseJSON
  /** The challenge that the authenticator must have signed. */
  expected: string
  /** The challenge that was made for the assertion only; null where it is that of the frames. */
  challenge: OpenedChallenge | null
}

/** Refuses the assertion of a passkey whose counter did not grow. */
class CounterReversedError extends DomainError {
  constructor(readonly passkeyId: string) {
    super('passkey_counter_reversed')
  }
}

export interface ProvenPasskey {
  id: string
  possession: Possession
  /** Whether its provider copies it to other devices since this use. */
  becameSynced: boolean
  /** Stores the use, in the transaction of the verdict. @throws DomainError passkey_not_found, passkey_counter_reversed */
  use(tx: StoreTransaction): Promise<void>
}

/** @throws DomainError passkeys_unavailable for a tenant without settings of passkeys */
export function requiredSettings(tenant: UserCall<unknown>['tenant']): PasskeySettings {
  const settings = passkeySettings(tenant)
  if (!settings) throw new DomainError('passkeys_unavailable')
  return settings
}

/**
 * Opens the assertion of a verify. @returns null for a request without one
 * @param action RFC 8785 canonical form
 * @throws DomainError passkey_required, passkeys_unavailable, invalid_request, and those of `ChallengeBook.open`
 */
export async function openAssertion(
  { challenges, store }: Pick<PasskeyServices, 'challenges' | 'store'>,
  call: UserCall<CaptureInput>,
  action: string,
): Promise<OpenedAssertion | null> {
  const input = call.input as CaptureInput & PasskeyInput
  const given = input.passkey_assertion
  if (!given) {
    if (input.require_passkey) throw new DomainError('passkey_required')
    return null
  }
  const settings = requiredSettings(call.tenant)
  const { challenge_id: id, nonce, credential } = given
  const answered = answerIn(input)
  if (answered) {
    if (id !== undefined || nonce !== undefined)
      throw invalidField('passkey_assertion', 'with `challenge`, its own id and nonce count: leave these out')
    // The caller has opened the challenge, and so knows that the nonce is its own.
    const expected = passkeyChallenge(answered.nonce, action)
    return { settings, credential, expected, challenge: null }
  }
  if (id === undefined || nonce === undefined)
    throw invalidField('passkey_assertion', 'needs the `challenge_id` and `nonce` of its options')
  const subject = ceremonySubject(call, 'passkey_assertion', action)
  const challenge = await challenges.open(store.read, { id, nonce }, subject)
  return { settings, credential, expected: passkeyChallenge(nonce, action), challenge }
}

/** @throws CounterReversedError; DomainError passkey_not_found and the others of `checkAssertion` */
export async function provePossession(
  { store, passkeys, passkeyChecks }: Pick<PasskeyServices, 'store' | 'passkeys' | 'passkeyChecks'>,
  subject: Subject | null,
  { settings, credential, expected }: OpenedAssertion,
): Promise<ProvenPasskey> {
  const found =
    subject &&
    (await passkeys.of(store.read, subject)).find(({ content }) => content.credentialId === credential.id)
  if (!subject || !found) throw new DomainError('passkey_not_found')
  const handle = userHandle(subject.record.blindIndex)
  const { id } = found.record
  const given = { challenge: expected, passkey: found.content, handle }
  const checked = await passkeyChecks.assertion(settings, credential, given).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'passkey_counter_reversed'
      ? new CounterReversedError(id)
      : error
  })
  return {
    id,
    possession: checked.possession,
    becameSynced: checked.isSynced && !found.content.isSynced,
    use: (tx) => noteUse(tx, passkeys, { subject, id, checked }),
  }
}

/** Compares with the passkey as it is in the transaction: it may have been revoked, or used by a parallel request. */
async function noteUse(
  tx: StoreTransaction,
  passkeys: PasskeyVault,
  { subject, id, checked }: { subject: Subject; id: string; checked: CheckedAssertion },
): Promise<void> {
  const present = (await passkeys.of(tx, subject)).find(({ record }) => record.id === id)
  if (!present) throw new DomainError('passkey_not_found')
  assertCounted(present.content, checked.counter)
  const { counter, isSynced, isBackedUp } = checked
  const used: Passkey = { ...present, content: { ...present.content, counter, isSynced, isBackedUp } }
  await passkeys.noteUse(tx, subject, used)
}

/**
 * Reports a passkey that was refused because its counter did not grow: by webhook, with the passkey, and for the audit entry of the call. Does
 * nothing for any other refusal. The signature of the assertion was checked before its counter, so that only a holder of the key, or of
 * a copy, brings a report about.
 * @returns facts for the audit entry of the refused call
 */
export async function reportReversedCounter(
  { vault, passkeys, events }: Pick<PasskeyServices, 'vault' | 'passkeys' | 'events'>,
  tx: StoreTransaction,
  { user }: Pick<UserCall<unknown>, 'user'>,
  error: DomainError,
): Promise<{ passkey_id?: string }> {
  if (!(error instanceof CounterReversedError)) return {}
  const { passkeyId } = error
  const subject = await vault.find(tx, user.blindIndex, user.id)
  const passkey = subject && (await passkeys.of(tx, subject)).find(({ record }) => record.id === passkeyId)
  // The passkey was revoked, or the user erased, since the assertion was checked.
  if (!subject || !passkey) return {}
  await passkeys.noteReversedCounter(tx, subject, passkey)
  const data = { user_id: user.id, passkey_id: passkeyId }
  await events.put(tx, eventAbout(subject, 'user.passkey_counter_reversed', data))
  return { passkey_id: passkeyId }
}
