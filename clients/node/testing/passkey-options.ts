/** Options of WebAuthn that the service in memory makes for a browser, and the challenge in them. */
import { sha256 } from '../../../src/contract/action-hash.js'
import type { PasskeyCreationOptions, PasskeyDescriptor, PasskeyRequestOptions } from '../types.js'
import { base64url } from './tokens.js'

interface Asked {
  rpId: string
  /** The user's passkeys. */
  known: PasskeyDescriptor[]
  nonce: string
  timeout: number
}

/** @param userName the name that the device shows */
export async function creationOptions(
  { rpId, known, nonce, timeout }: Asked,
  userId: string,
  userName: string,
): Promise<PasskeyCreationOptions> {
  const handle = base64url(await sha256(new TextEncoder().encode(userId)))
  return {
    challenge: await passkeyChallenge(nonce, ''),
    rp: { id: rpId, name: 'Fake' },
    user: { id: handle, name: userName, displayName: userName },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: known,
    authenticatorSelection: {
      residentKey: 'preferred',
      requireResidentKey: false,
      userVerification: 'required',
    },
    attestation: 'none',
  }
}

/** @param action RFC 8785 canonical form */
export async function requestOptions(
  { rpId, known, nonce, timeout }: Asked,
  action: string,
): Promise<PasskeyRequestOptions> {
  const challenge = await passkeyChallenge(nonce, action)
  return { challenge, rpId, timeout, allowCredentials: known, userVerification: 'required' }
}

/** SHA-256(nonce ‖ SHA-256(action)), in base64url. */
async function passkeyChallenge(nonce: string, action: string): Promise<string> {
  const actionHash = await sha256(new TextEncoder().encode(action))
  const random = Uint8Array.from(atob(nonce.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  )
  return base64url(await sha256(new Uint8Array([...random, ...actionHash])))
}
