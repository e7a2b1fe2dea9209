/** Makes the options of WebAuthn, as JSON, by which a browser registers a passkey or lets it sign. */
import { createHash } from 'node:crypto'
import type { CalledUser, UserCall } from '../../verification/call.js'
import type { PasskeySettings } from './passkey-settings.js'
import { type Passkey, userHandle } from './passkey-vault.js'

/** Algorithms of COSE that are accepted: EdDSA, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257]

/**
 * The challenge that the authenticator signs: SHA-256(nonce ‖ SHA-256(action)), in base64url.
 * @param nonce 32 bytes in base64url, drawn for this one challenge
 * @param action RFC 8785 canonical form; null for a registration, whose action is the empty text
 */
export function passkeyChallenge(nonce: string, action: string | null): string {
  const actionHash = createHash('sha256')
    .update(action ?? '')
    .digest()
  return createHash('sha256').update(Buffer.from(nonce, 'base64url')).update(actionHash).digest('base64url')
}

/**
 * The subject of a challenge that a passkey answers without frames.
 * @param action RFC 8785 canonical form; for a registration, the verdict that permits it, or null
 */
export function ceremonySubject(
  { tenant, environment, user }: UserCall<unknown>,
  purpose: 'passkey_assertion' | 'passkey_registration',
  action: string | null,
) {
  return { tenantId: tenant.id, environment, blindIndex: user.blindIndex, purpose, action }
}

/** The names that the person sees when the device asks about the passkey. */
interface PasskeyNames {
  company: string
  user: string
}

/** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.9). */
export function creationOptions(
  { rpId, roots }: PasskeySettings,
  { blindIndex }: CalledUser,
  parts: { challenge: string; passkeys: Passkey[]; names: PasskeyNames; timeoutMs: number },
) {
  const { challenge, passkeys, names, timeoutMs } = parts
  return {
    challenge,
    rp: { id: rpId, name: names.company },
    user: { id: userHandle(blindIndex), name: names.user, displayName: names.user },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: timeoutMs,
    excludeCredentials: descriptors(passkeys),
    authenticatorSelection: {
      residentKey: 'preferred',
      requireResidentKey: false,
      userVerification: 'required',
    },
    // Only an attestation that can be checked makes the authenticator's model more than a claim of the browser.
    attestation: roots.length > 0 ? 'direct' : 'none',
  }
}

/** PublicKeyCredentialRequestOptionsJSON (WebAuthn Level 3, section 5.1.10). */
export function requestOptions(
  { rpId }: PasskeySettings,
  parts: { challenge: string; passkeys: Passkey[]; timeoutMs: number },
) {
  return {
    challenge: parts.challenge,
    rpId,
    timeout: parts.timeoutMs,
    allowCredentials: descriptors(parts.passkeys),
    userVerification: 'required',
  }
}

function descriptors(passkeys: Passkey[]) {
  return passkeys.map(({ content: { credentialId, transports } }) => ({
    type: 'public-key',
    id: credentialId,
    transports,
  }))
}
