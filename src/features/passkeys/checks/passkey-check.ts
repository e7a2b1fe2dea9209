/**
 * Checks what an authenticator answered (WebAuthn Level 3, sections 7.1 and 7.2). Each rule of this file has an error code of its own;
 * `@simplewebauthn/server` then checks the whole again, with the signature.
 */

import { createHash } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Possession } from '../../../contract/acr.js'
import { DomainError } from '../../../lib/domain-error.js'
import type { SubjectRecord } from '../../../storage/records.js'
import { ALGORITHMS } from '../passkey-challenge.js'
import { fingerprintOf, type PasskeySettings } from '../passkey-settings.js'
import type { PasskeyContent } from '../passkey-vault.js'
import { attestingRoot } from './passkey-attestation.js'

export interface CheckedAssertion {
  counter: number
  isSynced: boolean
  isBackedUp: boolean
  possession: Possession
}

/** The library is imported by the first passkey, because it brings 350 modules, which most installations never use. */
type Helpers = typeof import('@simplewebauthn/server/helpers')

/**
 * Checks the answer to a registration.
 * @param challenge of `passkeyChallenge`
 * @throws DomainError passkey_invalid, passkey_challenge_mismatch, passkey_origin_not_allowed, passkey_rp_mismatch,
 *   passkey_user_not_verified, passkey_not_allowed
 */
export async function checkRegistration(
  settings: PasskeySettings,
  response: RegistrationResponseJSON,
  challenge: string,
): Promise<Omit<PasskeyContent, 'name'>> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const helpers = await import('@simplewebauthn/server/helpers')
  const { decodeAttestationObject, isoBase64URL } = helpers
  const attestation = readable(() =>
    decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject)),
  )
  const authData = readable(() => attestation.get('authData'))
  assertCeremony(helpers, settings, response.response.clientDataJSON, authData, {
    type: 'webauthn.create',
    challenge,
  })
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: settings.origins,
    expectedRPID: settings.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(refuse)
  if (!verified) throw new DomainError('passkey_invalid')
  const { credential, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo
  const attestedBy = readable(() => attestingRoot(attestation, aaguid, settings.roots))
  if (settings.aaguids.length > 0 && attestedBy === null)
    throw new DomainError('passkey_not_allowed', {
      message:
        'The tenant accepts only authenticators with an attestation of an authority that it has named.',
    })
  const content = {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
    aaguid,
    ...(attestedBy === null ? {} : { attestedBy }),
  }
  possessionOf(settings, content)
  return content
}

/**
 * Checks what a passkey has signed.
 * @param passkey as it was stored after its last use
 * @param handle user handle of the user whom the request names
 * @throws DomainError as `checkRegistration`, passkey_not_found, passkey_counter_reversed, passkey_became_synced
 */
export async function checkAssertion(
  settings: PasskeySettings,
  response: AuthenticationResponseJSON,
  { challenge, passkey, handle }: { challenge: string; passkey: PasskeyContent; handle: string },
): Promise<CheckedAssertion> {
  const possession = possessionOf(settings, passkey)
  const { clientDataJSON, authenticatorData, userHandle } = response.response
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const helpers = await import('@simplewebauthn/server/helpers')
  const { isoBase64URL } = helpers
  const authData = readable(() => isoBase64URL.toBuffer(authenticatorData))
  const { flags, counter } = assertCeremony(helpers, settings, clientDataJSON, authData, {
    type: 'webauthn.get',
    challenge,
  })
  if (userHandle !== undefined && userHandle !== null && userHandle !== '' && userHandle !== handle)
    throw new DomainError('passkey_not_found')
  const { verified } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: settings.origins,
    expectedTopOrigin: settings.origins,
    expectedRPID: settings.rpId,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      // The counter is compared below, once the signature is known to be the passkey's.
      counter: 0,
    },
  }).catch(refuse)
  // A credential of several devices never becomes one of a single device.
  if (!verified || (passkey.isSynced && !flags.be)) throw new DomainError('passkey_invalid')
  assertCounted(passkey, counter)
  const used = { counter, isSynced: flags.be, isBackedUp: flags.bs }
  if (flags.be === passkey.isSynced) return { ...used, possession }
  // Some providers begin to copy a passkey that they had bound to a device. From then on it is a key in software.
  if (settings.synced === 'refused') throw new DomainError('passkey_became_synced')
  return { ...used, possession: strengthOf(settings, { ...passkey, isSynced: true }) }
}

/**
 * Refuses an answer whose counter did not grow: a copy of the credential may exist. Authenticators that do not count always send 0.
 * @throws DomainError passkey_counter_reversed
 */
export function assertCounted({ counter: before }: Pick<PasskeyContent, 'counter'>, counter: number): void {
  if (before > 0 && counter <= before) throw new DomainError('passkey_counter_reversed')
}

/**
 * Returns the value of the passkey under the tenant's policy.
 * @throws DomainError passkey_not_allowed where the policy refuses it
 */
export function possessionOf(
  settings: PasskeySettings,
  content: Pick<PasskeyContent, 'isSynced' | 'aaguid' | 'attestedBy'>,
): Possession {
  const { synced, aaguids } = settings
  const { isSynced, aaguid } = content
  if (aaguids.length > 0 && !aaguids.includes(aaguid))
    throw new DomainError('passkey_not_allowed', {
      message: `The tenant does not accept authenticators with the AAGUID ${aaguid}.`,
    })
  if (isSynced && synced === 'refused')
    throw new DomainError('passkey_not_allowed', {
      message: 'The tenant accepts only passkeys that cannot leave their device.',
    })
  return strengthOf(settings, content)
}

/**
 * The proof that a passkey gives, whether the tenant accepts it now or not: `hwk` only where a root that the settings name now has attested
 * it. Everything else is a claim of the browser.
 */
export function strengthOf(
  { roots }: Pick<PasskeySettings, 'roots'>,
  { isSynced, attestedBy }: Pick<PasskeyContent, 'isSynced' | 'attestedBy'>,
): Possession {
  return !isSynced && roots.some((root) => fingerprintOf(root) === attestedBy) ? 'hwk' : 'swk'
}

/** The stronger of two proofs; null where there is neither. */
export function strongerOf(one: Possession | null, other: Possession | null): Possession | null {
  return other === 'hwk' ? other : (one ?? other)
}

/** The strongest proof that any of a user’s passkeys gives, or gave before it was revoked; null for a user who had none. */
export function strongestOf(
  settings: Pick<PasskeySettings, 'roots'>,
  { revokedPasskey }: Pick<SubjectRecord, 'revokedPasskey'>,
  passkeys: readonly { content: PasskeyContent }[],
): Possession | null {
  return passkeys.reduce<Possession | null>(
    (strongest, { content }) => strongerOf(strongest, strengthOf(settings, content)),
    revokedPasskey,
  )
}

/** The rules that a registration and a signature share. */
function assertCeremony(
  { decodeClientDataJSON, parseAuthenticatorData }: Helpers,
  { rpId, origins }: PasskeySettings,
  clientDataJSON: string,
  authData: Uint8Array<ArrayBuffer>,
  expected: { type: string; challenge: string },
) {
  const client = readable(() => decodeClientDataJSON(clientDataJSON))
  const { rpIdHash, flags, counter } = readable(() => parseAuthenticatorData(authData))
  if (client.type !== expected.type) throw new DomainError('passkey_invalid')
  if (client.challenge !== expected.challenge) throw new DomainError('passkey_challenge_mismatch')
  // A page of another origin that shows this one in a frame is named by newer browsers.
  if (!origins.includes(client.origin) || (client.topOrigin && !origins.includes(client.topOrigin)))
    throw new DomainError('passkey_origin_not_allowed')
  if (!createHash('sha256').update(rpId).digest().equals(rpIdHash))
    throw new DomainError('passkey_rp_mismatch')
  if (!flags.up || !flags.uv) throw new DomainError('passkey_user_not_verified')
  return { flags, counter }
}

/** @throws DomainError passkey_invalid for bytes that are not what WebAuthn prescribes */
function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new DomainError('passkey_invalid', {
      message: 'The answer of the authenticator cannot be read.',
      cause,
    })
  }
}

function refuse(cause: unknown): never {
  throw new DomainError('passkey_invalid', { cause })
}
