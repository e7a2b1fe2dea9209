/**
 * An Auth0 Action for the trigger post-login: nobody gets in without a face check for this sign-in. It needs the dependency `jose` and
 * the secrets CS_BASE_URL (ends in /v1), CS_API_KEY, CS_TENANT_ID, RELAY_URL and RELAY_SECRET; CS_ENVIRONMENT=sandbox for a trial.
 */
const { createHash } = require('node:crypto')

/** The weakest face check that counts has both movements of the head. Each stronger one has a name of its own. */
const ACCEPTED_ACR = /^urn:countersign:acr:face-active(-pad)?(-hwk|-swk)?$/

/** The action that the person confirms. Its members stand in the order of their names, as in canonical JSON (RFC 8785). */
const actionOf = (event) => ({ application: event.client.name, type: 'login' })

const call = ({ secrets }, path, body) =>
  fetch(`${secrets.CS_BASE_URL}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${secrets.CS_API_KEY}`, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })

/** Checks the public verdict of a session against the keys that the issuer publishes. */
const isApproved = async ({ client, secrets, user }, id, session) => {
  const environment = secrets.CS_ENVIRONMENT === 'sandbox' ? 'sandbox' : 'production'
  const { createRemoteJWKSet, jwtVerify } = await import('jose')
  const keys = createRemoteJWKSet(new URL(`${secrets.CS_BASE_URL}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(session.result.body.jwt_public, keys, {
    ...{ algorithms: ['ES256'], typ: 'stepup+jwt', clockTolerance: 60 },
    ...{ issuer: secrets.CS_BASE_URL, audience: secrets.CS_TENANT_ID },
    requiredClaims: ['exp', 'sub', 'capture_session', 'action_hash'],
  })
  const action = JSON.stringify(actionOf({ client }))
  const hash = createHash('sha256').update(action).digest('hex')
  const isThis = payload.sub === user.user_id && payload.action_hash === hash
  // Only the service writes these claims. `same`: the browser that comes back is the one that captured.
  const isHere = payload.capture_session === id && payload.capture_binding === 'same'
  return (
    isThis &&
    isHere &&
    payload.env === environment &&
    payload.verdict === 'approved' &&
    ACCEPTED_ACR.test(payload.acr)
  )
}

exports.onExecutePostLogin = async (event, api) => {
  const { RELAY_URL, RELAY_SECRET } = event.secrets
  const response = await call(event, '/capture-sessions', {
    ...{ user_id: event.user.user_id, action: actionOf(event), require_liveness: 'active' },
    return_url: `${RELAY_URL}/back`,
  })
  // A person who is not enrolled is refused in the same words as one who was rejected.
  if (response.status !== 201) return api.access.deny('The person was not confirmed.')
  const { session_id, url } = await response.json()
  const continue_uri = `https://${event.request.hostname}/continue`
  const session_token = api.redirect.encodeToken({
    ...{ secret: RELAY_SECRET, expiresInSeconds: 900 },
    payload: { capture_session: session_id, capture_url: url, continue_uri },
  })
  api.redirect.sendUserTo(`${RELAY_URL}/begin`, { query: { session_token } })
}

exports.onContinuePostLogin = async (event, api) => {
  // Throws unless the relay has signed the token for the `state` of this sign-in: no other session of the person counts.
  const { RELAY_SECRET: secret } = event.secrets
  const returned = api.redirect.validateToken({ secret, tokenParameterName: 'session_token' })
  const { capture_session: id, capture_proof: proof } = returned
  // Only the browser that captured brings the proof: without it there is no result.
  const query = proof ? `?${new URLSearchParams({ proof })}` : ''
  const response = await call(event, `/capture-sessions/${id}${query}`)
  const session = response.status === 200 ? await response.json() : {}
  // Everything that cannot be read or checked refuses the sign-in.
  const approved = session.status === 'completed' && (await isApproved(event, id, session).catch(() => false))
  if (!approved) return api.access.deny('The person was not confirmed.')
  api.authentication.recordMethod(`${event.secrets.RELAY_URL}/face`)
}
