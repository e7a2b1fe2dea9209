/** Asks the browser for a passkey, with options in the JSON of WebAuthn Level 3, and answers in the same JSON. */

/** Options for a passkey that the service made: of a registration, or of a signature. */
export type PasskeyOptions = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON

/**
 * Makes a passkey, or lets one sign, by options of the service.
 * @returns the browser's answer, which the backend sends as `credential`
 * @throws DOMException NotAllowedError where the person declines or the device has no such passkey, InvalidStateError where it has one
 *   already, NotSupportedError for a browser that cannot read the options
 */
export async function usePasskey(options: PasskeyOptions): Promise<unknown> {
  if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON)
    throw new DOMException('This browser cannot use passkeys.', 'NotSupportedError')
  const credential =
    'rp' in options
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
        })
  return (credential as PublicKeyCredential).toJSON()
}
