/**
 * Checks the public verdict of a request in nginx (njs 0.7 or later), with the issuer's address and no secret. nginx calls `check` for
 * each request and lets it through on 204. Signature, type, issuer, audience, environment, times and approval are checked here; the
 * application behind compares user and action with its own, and uses each verdict once.
 */

/** Clocks may differ by so many seconds. */
const TOLERANCE_SECONDS = 60
/** What comes before the coordinates in the DER form of a P-256 key (RFC 5480). */
const SPKI = '3059301306072a8648ce3d020106082a8648ce3d03010703420004'

/** @param {string} text */
function part(text) {
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}

/** @param {string} text */
function hexOf(text) {
  return Buffer.from(text, 'base64url').toString('hex')
}

/**
 * The key with this id, from a location that caches the issuer's document.
 * @param {any} r the request, as njs has it
 * @param {string} kid
 */
async function keyOf(r, kid) {
  const reply = await r.subrequest('/_verdict_keys')
  if (reply.status !== 200) throw new Error(`the keys cannot be read: ${reply.status}`)
  const jwk = JSON.parse(reply.responseText).keys.find(
    (/** @type {any} */ one) => one.kid === kid && one.kty === 'EC' && one.crv === 'P-256',
  )
  if (!jwk) return null
  const spki = Buffer.from(SPKI + hexOf(jwk.x) + hexOf(jwk.y), 'hex')
  return crypto.subtle.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
}

/**
 * @param {any} r
 * @param {string} token
 * @returns the claims, or null where the token must not pass
 */
async function claimsOf(r, token) {
  const parts = token.split('.')
  if (parts.length !== 3) return null
  const header = part(parts[0])
  // The algorithm is fixed: it is never taken from the token.
  if (header.alg !== 'ES256' || header.typ !== 'stepup+jwt' || header.crit !== undefined) return null
  const signature = Buffer.from(parts[2], 'base64url')
  const key = signature.length === 64 ? await keyOf(r, header.kid) : null
  if (!key) return null
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`)
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  if (!(await crypto.subtle.verify(algorithm, key, signature, signed))) return null
  return part(parts[1])
}

/** @param {any} claims @param {any} r */
function isGood(claims, r) {
  const now = Date.now() / 1000
  return (
    claims.iss === r.variables.verdict_issuer &&
    claims.aud === r.variables.verdict_audience &&
    claims.env === 'production' &&
    claims.verdict === 'approved' &&
    claims.nbf <= now + TOLERANCE_SECONDS &&
    claims.exp > now - TOLERANCE_SECONDS
  )
}

/** @param {any} r */
async function check(r) {
  let claims = null
  try {
    claims = await claimsOf(r, r.headersIn['X-Verdict'] || '')
  } catch (error) {
    r.error(`verdict: ${error}`)
  }
  if (!claims || !isGood(claims, r)) {
    r.return(401)
    return
  }
  r.headersOut['X-Verdict-User'] = encodeURIComponent(claims.sub)
  r.headersOut['X-Verdict-Action-Hash'] = claims.action_hash
  r.headersOut['X-Verdict-Id'] = claims.jti
  r.return(204)
}

export default { check }
