/** Tests that the bank of the guide, docs/examples/openid/step-up.mjs, believes only an ID token that the provider's published key has signed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../../src/http/free-port.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { leash } from '../../support/leash.js'
import { rsaKey } from '../../support/rsa-keys.js'

const CLIENT_ID = 'oic_bank'
const published = rsaKey()
const another = rsaKey()

let signer = published
/** The last pushed request, with the state and the nonce of the sign-in. */
let pushed = new URLSearchParams()
let keysRead = 0
let issuer = ''
const provider = createServer(async (request, response) => {
  const answer = (body: object, status = 200) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  if (request.url === '/jwks') {
    keysRead++
    return answer({
      keys: [{ ...(await exportJWK(published.publicKey)), kid: 'a', alg: 'RS256', use: 'sig' }],
    })
  }
  if (request.url === '/request') {
    pushed = await formOf(request)
    return answer({ request_uri: 'urn:pushed', expires_in: 60 }, 201)
  }
  if (request.url === '/token') {
    const token = new SignJWT({ nonce: pushed.get('nonce'), acr: 'urn:countersign:acr:face-active' })
      .setProtectedHeader({ alg: 'RS256', kid: 'a' })
      .setIssuer(issuer)
      .setAudience(CLIENT_ID)
      .setSubject('ada')
      .setIssuedAt()
      .setExpirationTime('5m')
    return answer({ access_token: 'x', token_type: 'bearer', id_token: await token.sign(signer.privateKey) })
  }
  return answer({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    pushed_authorization_request_endpoint: `${issuer}/request`,
    id_token_signing_alg_values_supported: ['RS256'],
  })
})

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return new URLSearchParams(Buffer.concat(parts).toString())
}

let bank = ''
let stop = () => {}
beforeAll(async () => {
  const [port, own] = await freePorts([
    { host: '127.0.0.1', port: 0 },
    { host: '127.0.0.1', port: 0 },
  ])
  issuer = `http://127.0.0.1:${own}`
  bank = `http://localhost:${port}`
  await once(provider.listen(own, '127.0.0.1'), 'listening')
  const script = packageFile('docs', 'examples', 'openid', 'step-up.mjs')
  const env = { ...process.env, ISSUER: issuer, CLIENT_ID, CLIENT_SECRET: 'secret', PORT: String(port) }
  const program = spawn(process.execPath, [...leash(), script], { env })
  stop = () => program.kill()
  await once(program.stdout, 'data')
})
afterAll(() => {
  stop()
  provider.close()
})

async function pay(): Promise<string> {
  await fetch(`${bank}/pay?user=ada`, { redirect: 'manual' })
  return (await fetch(`${bank}/callback?code=c&state=${pushed.get('state')}`)).text()
}

describe('the bank of the guide', () => {
  it('pays by an ID token that the published key has signed', async () => {
    expect(await pay()).toBe('paid, confirmed by ada (urn:countersign:acr:face-active)\n')
    expect(keysRead).toBe(1)
  })

  it('does not pay by one that another key has signed, although it came from the right address', async () => {
    signer = another
    expect(await pay()).toMatch(/^not paid/)
  })
})
