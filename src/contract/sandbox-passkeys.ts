/** Scripted passkeys of the sandbox: answers of an authenticator that nobody has to own. */
import type { PasskeyAuthenticationResponse, PasskeyRegistrationResponse } from './wire-types.js'

/** The codes with which the check of a passkey refuses it, and which a scripted answer can ask for. */
const REFUSALS = [
  'passkey_challenge_mismatch',
  'passkey_origin_not_allowed',
  'passkey_rp_mismatch',
  'passkey_user_not_verified',
  'passkey_not_allowed',
  'passkey_invalid',
] as const

/**
 * Outcomes of a scripted registration: `device_bound` for a passkey that cannot leave its device (attested where the tenant names
 * authorities), `synced` for one that its provider
 * copies, or the code of a refusal.
 */
export const PASSKEY_REGISTRATIONS = ['device_bound', 'synced', ...REFUSALS] as const
/** One of `PASSKEY_REGISTRATIONS`. */
export type PasskeyRegistrationOutcome = (typeof PASSKEY_REGISTRATIONS)[number]

/** Outcomes of a scripted signature: `accepted`, or the code of a refusal. */
export const PASSKEY_SIGNATURES = [
  'accepted',
  ...REFUSALS,
  'passkey_not_found',
  'passkey_counter_reversed',
] as const
/** One of `PASSKEY_SIGNATURES`. */
export type PasskeySignatureOutcome = (typeof PASSKEY_SIGNATURES)[number]

/** Beginning of the id of a scripted credential. */
const PREFIX = 'sandbox-'
/** Stands in the fields of an answer that the sandbox does not read. */
const UNREAD = 'sandbox'
/** Model of a scripted authenticator. */
export const SANDBOX_AAGUID = '00000000-0000-0000-0000-000000000000'

/**
 * Makes the answer of a scripted authenticator to the options of a registration, for the sandbox and for `FakeCountersign`. Production
 * refuses it.
 * @param name names the credential: 1 to 64 characters of A-Z, a-z, 0-9, `-` and `_`, different for each passkey of the tenant
 * @example
 * const credential = sandboxRegistration('ada-phone')
 * await countersign.registerPasskey('ada', { challenge_id, nonce, credential })
 */
export function sandboxRegistration(
  name: string,
  outcome: PasskeyRegistrationOutcome = 'device_bound',
): PasskeyRegistrationResponse {
  const response = { clientDataJSON: UNREAD, attestationObject: outcome, transports: ['internal'] }
  return { ...describe(name), response }
}

/**
 * Makes the answer of a scripted authenticator to the options of a signature, for the sandbox and for `FakeCountersign`. Production
 * refuses it.
 * @param name as at the registration
 * @example
 * const credential = sandboxSignature('ada-phone')
 * await countersign.verify({ user_id: 'ada', image, action, passkey_assertion: { challenge_id, nonce, credential } })
 */
export function sandboxSignature(
  name: string,
  outcome: PasskeySignatureOutcome = 'accepted',
): PasskeyAuthenticationResponse {
  const response = { clientDataJSON: UNREAD, authenticatorData: UNREAD, signature: outcome }
  return { ...describe(name), response }
}

/** @returns the outcome that an answer asks for, or null for an answer of a real authenticator */
export function scriptedRegistration({
  id,
  response,
}: Pick<PasskeyRegistrationResponse, 'id' | 'response'>): PasskeyRegistrationOutcome | null {
  return outcomeOf(PASSKEY_REGISTRATIONS, id, response.attestationObject)
}

/** @returns the outcome that an answer asks for, or null for an answer of a real authenticator */
export function scriptedSignature({
  id,
  response,
}: Pick<PasskeyAuthenticationResponse, 'id' | 'response'>): PasskeySignatureOutcome | null {
  return outcomeOf(PASSKEY_SIGNATURES, id, response.signature)
}

function outcomeOf<T extends string>(
  outcomes: readonly T[],
  id: string,
  word: string,
): T | 'passkey_invalid' | null {
  if (!id.startsWith(PREFIX)) return null
  return outcomes.find((outcome) => outcome === word) ?? 'passkey_invalid'
}

function describe(name: string) {
  if (!/^[\w-]{1,64}$/.test(name))
    throw new TypeError(
      `name is ${JSON.stringify(name)}: give 1 to 64 characters of A-Z, a-z, 0-9, - and _, such as ada-phone`,
    )
  const id = PREFIX + name
  return { id, rawId: id, type: 'public-key' as const }
}
