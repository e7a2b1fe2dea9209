/** A bank that has a payment confirmed through Countersign's OpenID provider, with an OpenID library and no SDK. */
import { createServer } from 'node:http'
import * as openid from 'openid-client'

const { ISSUER = '', CLIENT_ID = '', CLIENT_SECRET = '', PORT = '3000' } = process.env
const redirectUri = `http://localhost:${PORT}/callback`
const isLocal = new URL(ISSUER).protocol === 'http:'

const provider = await openid.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  undefined,
  openid.ClientSecretBasic(CLIENT_SECRET),
  {
    execute: [
      // Checks the signature of the ID token under the keys of the provider. Otherwise only TLS vouches for it.
      openid.enableNonRepudiationChecks,
      // Only for a trial on this computer: the provider of a customer is reached by https.
      ...(isLocal ? [openid.allowInsecureRequests] : []),
    ],
  },
)

/** The person and the secrets of each sign-in, by its `state`. Stands for the session of the person's browser. */
const waiting = new Map()

createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', redirectUri)
  try {
    if (url.pathname === '/pay') {
      // Who is signed in, and what is to be paid, are known to the bank: neither comes from the browser.
      const user = url.searchParams.get('user') ?? ''
      const payment = {
        type: 'payment',
        amount: '1250.00',
        currency: 'EUR',
        payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
      }
      const [verifier, state, nonce] = [
        openid.randomPKCECodeVerifier(),
        openid.randomState(),
        openid.randomNonce(),
      ]
      waiting.set(state, { verifier, nonce, user })
      const address = await openid.buildAuthorizationUrlWithPAR(provider, {
        redirect_uri: redirectUri,
        scope: 'openid',
        login_hint: user,
        authorization_details: JSON.stringify([payment]),
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      response.writeHead(303, { Location: address.href }).end()
    } else if (url.pathname === '/callback') {
      const state = url.searchParams.get('state') ?? ''
      const { verifier, nonce, user } = waiting.get(state) ?? {}
      waiting.delete(state)
      const tokens = await openid.authorizationCodeGrant(provider, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      // The ID token must be about the person of whom the bank asked.
      const answer = claims?.sub === user ? `paid, confirmed by ${claims?.sub} (${claims?.acr})` : 'not paid'
      response.end(`${answer}\n`)
    } else response.writeHead(404).end()
  } catch (error) {
    const refused = error instanceof openid.AuthorizationResponseError ? error.error : String(error)
    response.writeHead(403).end(`not paid: ${refused}\n`)
  }
}).listen(Number(PORT), () => console.log(`open http://localhost:${PORT}/pay?user=…`))
