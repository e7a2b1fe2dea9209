/** Checks the tokens that are signed with a key of the issuer (ES256), by the keys that the issuer publishes. */
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { LOOPBACK } from './client-options.js'
import { VerdictError } from './errors.js'

/** After this time keys are read again, as the service's `Cache-Control` says: a key that was removed is refused from then on. */
const MAX_AGE_MS = 600_000
/** While the keys cannot be read, those that are known count for this long. */
const MAX_OUTAGE_MS = 86_400_000
/** Known keys are read again at most this often: neither invented key ids nor an outage make this process ask without end. */
const COOL_DOWN_MS = 30_000
const TIMEOUT_MS = 5000

/** Key sets by address, for each function that fetches. */
const sets = new WeakMap<typeof fetch, Map<string, JWTVerifyGetKey>>()

/** The keys at an address: they are kept, and read again for an unknown key id. @throws TypeError for an address without TLS */
export function publishedKeys(jwksUrl: string, fetcher: typeof fetch = fetch): JWTVerifyGetKey {
  let byUrl = sets.get(fetcher)
  if (!byUrl) {
    byUrl = new Map()
    sets.set(fetcher, byUrl)
  }
  const known = byUrl.get(jwksUrl)
  if (known) return known
  const url = URL.canParse(jwksUrl) ? new URL(jwksUrl) : null
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && LOOPBACK.test(url.hostname)))
    throw new TypeError(`jwksUrl must be https:, since anyone on the way could replace the keys: ${jwksUrl}`)
  const keys = keysAt(url, fetcher)
  const getKey: JWTVerifyGetKey = (header, token) => {
    // Without a key id, jose would take the only key that fits: a verdict has to name its key.
    if (typeof header.kid !== 'string') throw new VerdictError('malformed', 'The token names no key (kid).')
    return keys(header, token)
  }
  byUrl.set(jwksUrl, getKey)
  return getKey
}

/** One read at a time serves all that wait for it; a caller with a known key waits only where it is the reader. */
function keysAt(url: URL, fetcher: typeof fetch): JWTVerifyGetKey {
  let known: JWTVerifyGetKey | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  let failure: string | undefined
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    try {
      known = await fetchKeys(url, fetcher)
      readAt = Date.now()
      failure = undefined
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
    triedAt = Date.now()
    reading = undefined
  }

  async function find(...[header, token]: Parameters<JWTVerifyGetKey>) {
    if (!known || Date.now() - readAt >= MAX_OUTAGE_MS) return undefined
    try {
      return await known(header, token)
    } catch {
      return undefined
    }
  }
  return async (header, token) => {
    const key = await find(header, token)
    const age = Date.now() - readAt
    const isDue = (!key || age >= MAX_AGE_MS) && Date.now() - triedAt >= (known ? COOL_DOWN_MS : TIMEOUT_MS)
    const isReader = isDue && !reading
    if (isReader) reading = read()
    if (isReader || !key) await reading
    const found = await find(header, token)
    if (found) return found
    throw failure === undefined
      ? new VerdictError('signature_invalid', 'No key that the issuer publishes made this verdict.')
      : new VerdictError('keys_unavailable', `The issuer's keys cannot be read: ${failure}`)
  }
}

async function fetchKeys(url: URL, fetcher: typeof fetch): Promise<JWTVerifyGetKey> {
  // The service never redirects, and keys come only from the address that was given.
  const response = await fetcher(url.href, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return createLocalJWKSet((await response.json()) as JSONWebKeySet)
}

/** Address of the keys of an issuer, the `iss` of its verdicts. */
export function jwksUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`
}
