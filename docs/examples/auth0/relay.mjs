/** Leads a person from an Auth0 Action to the capture page and back, because only Auth0 knows the `state` of the sign-in. It keeps nothing. */
import { createServer } from 'node:http'
import { jwtVerify, SignJWT } from 'jose'

const { RELAY_SECRET = '', PORT = '3000', RELAY_COOKIE = '__Host-step-up' } = process.env
const key = new TextEncoder().encode(RELAY_SECRET)
if (key.length < 32) throw new Error('RELAY_SECRET must have 32 characters or more.')
const LIFETIME = '15 minutes'

/** @param {Record<string, unknown>} claims @param {string} lifetime */
const sign = (claims, lifetime) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setIssuedAt().setExpirationTime(lifetime).sign(key)

/** @param {string} token */
const claimsOf = async (token) => (await jwtVerify(token, key, { algorithms: ['HS256'] })).payload

/** @param {import('node:http').IncomingMessage} request */
const cookieOf = ({ headers }) =>
  (headers.cookie ?? '')
    .split('; ')
    .find((pair) => pair.startsWith(`${RELAY_COOKIE}=`))
    ?.slice(RELAY_COOKIE.length + 1) ?? ''

/** From the Action: the address has Auth0's `state`, and the token that the Action has signed. @param {URL} url */
async function begin(url) {
  const { sub, capture_session, capture_url, continue_uri } = await claimsOf(
    url.searchParams.get('session_token') ?? '',
  )
  const state = url.searchParams.get('state') ?? ''
  const cookie = await sign({ sub, capture_session, continue_uri, state }, LIFETIME)
  // `__Host-` keeps other hosts of the domain from setting the cookie. It needs https.
  const flags = `Path=/; HttpOnly; SameSite=Lax${RELAY_COOKIE.startsWith('__Host-') ? '; Secure' : ''}`
  return { Location: String(capture_url), 'Set-Cookie': `${RELAY_COOKIE}=${cookie}; ${flags}` }
}

/** From the capture page: only the browser that began has the cookie, and only for the session that it began. @param {URL} url @param {string} cookie */
async function back(url, cookie) {
  const { sub, capture_session, continue_uri, state } = await claimsOf(cookie)
  if (url.searchParams.get('capture_session') !== capture_session) throw new Error('another session')
  const to = new URL(String(continue_uri))
  to.searchParams.set('state', String(state))
  const capture_proof = url.searchParams.get('capture_proof') ?? undefined
  const claims = { sub, capture_session, capture_proof, state }
  to.searchParams.set('session_token', await sign(claims, '1 minute'))
  return { Location: to.href, 'Set-Cookie': `${RELAY_COOKIE}=; Path=/; Max-Age=0` }
}

createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://relay')
  try {
    if (url.pathname === '/begin') response.writeHead(303, await begin(url)).end()
    else if (url.pathname === '/back') response.writeHead(303, await back(url, cookieOf(request))).end()
    else response.writeHead(404).end()
  } catch {
    response.writeHead(403).end('This sign-in was begun in another browser, or too long ago. Begin again.\n')
  }
}).listen(Number(PORT), () => console.log(`relay at port ${PORT}`))
