/** Asks the browser for a passkey, with options in the JSON of WebAuthn Level 3, and answers in the same JSON. */

/** Options as the service sends them. */
export type PasskeyOptions = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON

/** @throws DOMException where the person declines, or the browser has no passkey to use */
export async function usePasskey(options: PasskeyOptions): Promise<unknown> {
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
