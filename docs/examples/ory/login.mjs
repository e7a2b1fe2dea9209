/** The login app of Ory Hydra: a person whom its own sign-in knows confirms each request with their face, by a verdict that is checked without a secret. */
import { createServer } from 'node:http'
import { ACTIVE_ACR, VerdictError, verifyVerdict } from 'countersign/client'

const { CS_BASE_URL = '', CS_API_KEY = '', CS_TENANT_ID = '', CS_ENVIRONMENT, PORT = '3000' } = process.env
const { HYDRA_ADMIN_URL = 'http://127.0.0.1:4445', APP_URL = `http://localhost:${PORT}` } = process.env
/** @type {'sandbox' | 'production'} */
const environment = CS_ENVIRONMENT === 'sandbox' ? 'sandbox' : 'production'

/**
 * Requests that wait for a face, by the id of their capture session. Stands for your database.
 * @type {Map<string, { challenge: string, user: string, action: { type: 'login', application: string } }>}
 */
const waiting = new Map()

/** Stands for your own sign-in, which has checked the first factor: who is in front of the browser. @param {import('node:http').IncomingMessage} request */
const signedIn = ({ headers }) => new URLSearchParams(headers.cookie?.replaceAll('; ', '&')).get('user')

/** @param {string} path @param {unknown} [body] */
const countersign = async (path, body) => {
  const response = await fetch(`${CS_BASE_URL}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${CS_API_KEY}`, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return response.ok ? response.json() : null
}

/** @param {string} challenge @param {'' | '/accept' | '/reject'} step @param {unknown} [body] */
const hydra = async (challenge, step, body) => {
  const query = new URLSearchParams({ login_challenge: challenge })
  const response = await fetch(`${HYDRA_ADMIN_URL}/admin/oauth2/auth/requests/login${step}?${query}`, {
    method: body ? 'PUT' : 'GET',
    headers: { 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`Hydra answered ${response.status}`)
  return response.json()
}

/** @param {string} challenge */
const reject = async (challenge) =>
  (await hydra(challenge, '/reject', { error: 'access_denied', error_description: 'Not confirmed.' }))
    .redirect_to

/** @param {string} challenge @param {string} user @returns the address of the capture page, or back to Hydra */
async function begin(challenge, user) {
  const { client, skip, subject } = await hydra(challenge, '')
  // Hydra remembers another person than the one who is signed in here.
  if (skip && subject !== user) return reject(challenge)
  /** @type {{ type: 'login', application: string }} */
  const action = { type: 'login', application: client.client_name || client.client_id }
  const session = await countersign('/capture-sessions', {
    ...{ user_id: user, action, require_liveness: 'active', return_url: `${APP_URL}/done` },
  })
  // A person who is not enrolled is refused like one who was rejected.
  if (!session) return reject(challenge)
  waiting.set(session.session_id, { challenge, user, action })
  return session.url
}

/** @param {string} id @param {string} proof @param {string} user @returns the address back to Hydra, or null where this person waits for no such session */
async function finish(id, proof, user) {
  const request = waiting.get(id)
  if (request?.user !== user) return null
  waiting.delete(id)
  const { challenge, action } = request
  // Only the browser that captured brings the proof: without it there is no result.
  const query = proof ? `?${new URLSearchParams({ proof })}` : ''
  const session = await countersign(`/capture-sessions/${id}${query}`)
  const token = session?.result?.body?.jwt_public ?? ''
  const expected = { issuer: CS_BASE_URL, audience: CS_TENANT_ID, environment, userId: user, action }
  const claims = await verifyVerdict(token, { ...expected, captureSessionId: id, acr: ACTIVE_ACR }).catch(
    (error) => {
      // Any other error is one of this program: Hydra gets no answer then.
      if (error instanceof VerdictError) return null
      throw error
    },
  )
  if (!claims) return reject(challenge)
  // `remember: false`: each request needs a face of its own. The context reaches your consent app.
  const { acr, amr } = claims
  const login = { subject: user, acr, amr, remember: false, context: { verdict: token } }
  return (await hydra(challenge, '/accept', login)).redirect_to
}

createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', APP_URL)
  const user = signedIn(request)
  try {
    if (!user) return response.writeHead(401).end('Sign in first.\n')
    const to =
      url.pathname === '/login'
        ? await begin(url.searchParams.get('login_challenge') ?? '', user)
        : url.pathname === '/done'
          ? await finish(
              url.searchParams.get('capture_session') ?? '',
              url.searchParams.get('capture_proof') ?? '',
              user,
            )
          : null
    if (to === null) return response.writeHead(404).end('Nothing waits to be confirmed.\n')
    response.writeHead(303, { Location: to }).end()
  } catch (error) {
    console.error(error)
    response.writeHead(502).end('This cannot be confirmed now.\n')
  }
}).listen(Number(PORT), () => console.log(`login app at ${APP_URL}`))
