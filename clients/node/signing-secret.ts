/** The tenant's signing secrets as an application configures them. */

/** One signing secret of a tenant. */
export interface SigningSecret {
  /** Key id (`sec_…`): the secret is tried only on signatures of this `kid`, and the service is asked to sign with it. */
  id?: string | undefined
  /** The secret, `svc-sec-…`: its UTF-8 bytes are the HMAC key. */
  secret: string
}

/**
 * One secret or, during a rotation, both, with the preferred one first. A text is `sec_…:svc-sec-…`, or only the secret.
 */
export type SigningSecrets = string | SigningSecret | ReadonlyArray<string | SigningSecret>

/** The secrets, or a function that reads them before every use, so that a rotation needs no restart. */
export type SigningSecretSource = SigningSecrets | (() => SigningSecrets | Promise<SigningSecrets>)

/** @throws TypeError for `svc-sec-…:sec_…`, in which id and secret have changed places */
export function assertNotSwapped(source: SigningSecretSource): void {
  if (typeof source === 'function') return
  for (const item of [source].flat() as Array<string | SigningSecret>) {
    const [first, last] =
      typeof item === 'string' ? item.trim().split(':') : [item.id ?? '', item.secret.trim()]
    const isSwapped = first?.startsWith('svc-sec-') && last?.startsWith('sec_')
    if (isSwapped) throw new TypeError('signingSecret has id and secret swapped: give sec_…:svc-sec-…')
  }
}

/** @throws TypeError where there is no secret, or id and secret have changed places */
export async function readSecrets(source: SigningSecretSource): Promise<SigningSecret[]> {
  const secrets = typeof source === 'function' ? await source() : source
  assertNotSwapped(secrets)
  const list = [secrets].flat() as Array<string | SigningSecret>
  const read = list.map((item) =>
    typeof item === 'string' ? parseSecret(item) : { ...item, secret: item.secret.trim() },
  )
  if (read.length === 0 || read.some(({ secret }) => !secret))
    throw new TypeError('signingSecret is empty: the key of every signature would be known')
  return read
}

function parseSecret(text: string): SigningSecret {
  // A secret read from a file mostly ends in a line feed.
  const [, id, secret = ''] = /^(?:(sec_\w+):)?(.*)$/s.exec(text.trim()) ?? []
  return id === undefined ? { secret } : { id, secret }
}

/** @returns the secrets that may have made a signature with this key id */
export function candidates(secrets: readonly SigningSecret[], kid: string | undefined): SigningSecret[] {
  return secrets.filter(({ id }) => id === undefined || id === kid)
}

/** Makes the secret a CryptoKey, because jose refuses bytes of another realm's class, such as those under jsdom. */
export function hmacKey(secret: string, usage: 'sign' | 'verify') {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [usage])
}

/** @returns why a signature is invalid: its secret is not configured, or the body is not the one that it signed */
export function notSignedText(kids: readonly string[], secrets: readonly SigningSecret[]): string {
  const configured = kids.find((kid) => secrets.some(({ id }) => id === kid))
  return configured === undefined
    ? `No configured secret made this signature (kid ${kids.join(', ')}).`
    : `The secret ${configured} is configured, but the body is not what it signed: pass the raw bytes, or compare the secret's text.`
}
