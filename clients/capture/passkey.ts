/**
 * Asks the browser for a passkey, with options in the JSON of WebAuthn Level 3, and answers in the same JSON. Both ways are converted here:
 * Safari before 18.4 lacks the functions of the standard, and password managers answer with objects whose methods throw.
 */

/** Options for a passkey that the service made: of a registration, or of a signature. */
export type PasskeyOptions = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON

/** Whether this browser has passkeys: ask it before the person is asked for anything else. */
export function hasPasskeys(): boolean {
  return Boolean(globalThis.PublicKeyCredential && globalThis.navigator?.credentials)
}

/**
 * Makes a passkey, or lets one sign, by options of the service.
 * @returns the browser's answer, which the backend sends as `credential`
 * @throws DOMException NotAllowedError where the person declines or the device has no such passkey, InvalidStateError where it has one
 *   already, NotSupportedError for a browser without passkeys
 */
export async function usePasskey(options: PasskeyOptions): Promise<unknown> {
  if (!hasPasskeys()) throw new DOMException('This browser cannot use passkeys.', 'NotSupportedError')
  const challenge = toBytes(options.challenge)
  const credential =
    'rp' in options
      ? await navigator.credentials.create({
          publicKey: {
            ...options,
            challenge,
            user: { ...options.user, id: toBytes(options.user.id) },
            excludeCredentials: known(options.excludeCredentials),
          } as object as PublicKeyCredentialCreationOptions,
        })
      : await navigator.credentials.get({
          publicKey: {
            ...options,
            challenge,
            allowCredentials: known(options.allowCredentials),
          } as object as PublicKeyCredentialRequestOptions,
        })
  return toJson(credential as PublicKeyCredential)
}

function known(credentials: readonly PublicKeyCredentialDescriptorJSON[] = []) {
  return credentials.map((one) => ({ ...one, id: toBytes(one.id) }))
}

/** Reads the fields of an answer. A method of a look-alike may be missing or throw, so nothing that the service needs comes from one. */
function toJson(credential: PublicKeyCredential): unknown {
  const response = credential.response as AuthenticatorAttestationResponse & AuthenticatorAssertionResponse
  const id = toText(credential.rawId)
  const fields = [
    'clientDataJSON',
    'attestationObject',
    'authenticatorData',
    'signature',
    'userHandle',
  ] as const
  const bytes = fields.flatMap((name) => {
    const value = read(() => response[name])
    return value ? [[name, toText(value)]] : []
  })
  const transports = read(() => response.getTransports())
  return {
    id,
    rawId: id,
    type: 'public-key',
    authenticatorAttachment: read(() => credential.authenticatorAttachment) ?? undefined,
    clientExtensionResults: read(() => credential.getClientExtensionResults()) ?? {},
    response: { ...Object.fromEntries(bytes), ...(transports ? { transports } : {}) },
  }
}

function read<T>(value: () => T): T | undefined {
  try {
    return value()
  } catch {
    return undefined
  }
}

function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  const base64 = base64url.replaceAll('-', '+').replaceAll('_', '/')
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}

function toText(bytes: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte))
  return btoa(letters.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
