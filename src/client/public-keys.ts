/** Checks the tokens that are signed with a key of the issuer (ES256), by the keys that the issuer publishes. */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { LOOPBACK } from './client-options.js'
import { VerdictError } from './errors.js'

/** After this time keys are read again, as the service's `Cache-Control` says: a key that was removed is refused from then on. */
const MAX_AGE_MS = 600_000
/** An unknown key id has the keys read again, at most this often: invented ids cannot make this process ask without end. */
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
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOL_DOWN_MS,
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: fetcher,
  })
  const getKey: JWTVerifyGetKey = (header, token) => {
    // Without a key id, jose would take the only key that fits: a verdict has to name its key.
    if (typeof header.kid !== 'string') throw new VerdictError('malformed', 'The token names no key (kid).')
    return keys(header, token).catch((error) => {
      throw keySetError(error)
    })
  }
  byUrl.set(jwksUrl, getKey)
  return getKey
}

/** Address of the keys of an issuer, the `iss` of its verdicts. */
export function jwksUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`
}

function keySetError(error: Error): VerdictError {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
    ? new VerdictError('signature_invalid', 'No key that the issuer publishes made this verdict.')
    : new VerdictError('keys_unavailable', `The issuer's keys cannot be read: ${error.message}`)
}
