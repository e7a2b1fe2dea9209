/** The tenant's signing secrets as an application configures them. */

export interface SigningSecret {
  /** Key id (`sec_…`): only signatures of this `kid` are tried with it, and the service is asked for it. */
  id?: string | undefined
  /** `svc-sec-…`; its UTF-8 bytes are the HMAC key. */
  secret: string
}

/**
 * One secret or, during a rotation, both: the one that the backend prefers first. As text: `sec_…:svc-sec-…`, or the
 * secret alone.
 */
export type SigningSecrets = string | SigningSecret | ReadonlyArray<string | SigningSecret>

/** The secrets, or where to read them before every use, so that a rotation needs no restart. */
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

/** @throws TypeError when there is none, or id and secret have changed places */
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

/** Those that may have made a signature of this key id. */
export function candidates(secrets: readonly SigningSecret[], kid: string | undefined): SigningSecret[] {
  return secrets.filter(({ id }) => id === undefined || id === kid)
}

/** Says why a signature does not hold: its secret is not configured, or it is and what was signed is something else. */
export function notSignedText(kids: readonly string[], secrets: readonly SigningSecret[]): string {
  const configured = kids.find((kid) => secrets.some(({ id }) => id === kid))
  return configured === undefined
    ? `No configured secret made this signature (kid ${kids.join(', ')}).`
    : `The secret ${configured} is configured, but the body is not what it signed: pass the raw bytes, or compare the secret's text.`
}
