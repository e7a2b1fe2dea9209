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

/** @throws TypeError when there is none */
export async function readSecrets(source: SigningSecretSource): Promise<SigningSecret[]> {
  const secrets = typeof source === 'function' ? await source() : source
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
