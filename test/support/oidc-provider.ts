/** A small OpenID provider that signs everyone in at once, with the claims that the test sets. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, SignJWT } from 'jose'
import { rsaKey } from './rsa-keys.js'

export interface OidcProvider {
  issuer: string
  /** Claims of the next ID token in addition to the standard ones. */
  claims: Record<string, unknown>
  /** Number of requests for a token. */
  tokenRequests: number
  close(): Promise<void>
}

/** @param client who may ask, and with which secret */
export async function oidcProvider(client: { id: string; secret: string }): Promise<OidcProvider> {
  const { publicKey, privateKey } = rsaKey()
  const codes = new Map<string, URLSearchParams>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, provider.issuer)
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return answer(200, {
          issuer: provider.issuer,
          authorization_endpoint: `${provider.issuer}/authorize`,
          token_endpoint: `${provider.issuer}/token`,
          jwks_uri: `${provider.issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
        })
      case '/jwks':
        return answer(200, {
          keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }],
        })
      case '/authorize': {
        const code = randomUUID()
        codes.set(code, url.searchParams)
        const back = new URL(url.searchParams.get('redirect_uri')!)
        back.searchParams.set('code', code)
        back.searchParams.set('state', url.searchParams.get('state')!)
        return response.writeHead(302, { Location: back.href }).end()
      }
      case '/token': {
        provider.tokenRequests++
        let text = ''
        for await (const chunk of request) text += chunk
        const form = new URLSearchParams(text)
        const asked = codes.get(form.get('code')!)
        codes.delete(form.get('code')!)
        const challenge = createHash('sha256').update(form.get('code_verifier')!).digest('base64url')
        if (form.get('client_secret') !== client.secret) return answer(401, { error: 'invalid_client' })
        if (
          asked?.get('code_challenge') !== challenge ||
          asked.get('redirect_uri') !== form.get('redirect_uri') ||
          asked.get('client_id') !== client.id
        )
          return answer(400, { error: 'invalid_grant' })
        const idToken = await new SignJWT({ nonce: asked.get('nonce'), ...provider.claims })
          .setProtectedHeader({ alg: 'RS256', kid: 'one' })
          .setIssuer(provider.issuer)
          .setAudience(client.id)
          .setSubject('subject-1')
          .setIssuedAt()
          .setExpirationTime('5m')
          .sign(privateKey)
        return answer(200, { access_token: 'none', token_type: 'Bearer', id_token: idToken })
      }
      default:
        return answer(404, {})
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const provider: OidcProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    claims: {},
    tokenRequests: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return provider
}
