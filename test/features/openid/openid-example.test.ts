/** Tests of the bank of the guide, docs/examples/openid/step-up.mjs: it pays by an ID token of a person's verdict, which the provider's published key has signed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../../src/http/free-port.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { leash } from '../../support/leash.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { rsaKey } from '../../support/rsa-keys.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

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
    pushed = new URLSearchParams(await text(request))
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

const running = await serviceOfFile(WITH_OPENID)
const stops: Array<() => unknown> = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

/** Starts the bank. @param registered makes its application, given its address @returns the address */
async function startBank(
  issuer: string,
  registered: (bank: string) => Promise<{ id: string; secret: string }>,
): Promise<string> {
  const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
  const bank = `http://localhost:${port}`
  const { id, secret } = await registered(bank)
  const script = packageFile('docs', 'examples', 'openid', 'step-up.mjs')
  const env = { ...process.env, ISSUER: issuer, CLIENT_ID: id, CLIENT_SECRET: secret, PORT: String(port) }
  const program = spawn(process.execPath, [...leash(), script], { env })
  stops.push(() => program.kill())
  expect(String((await once(program.stdout, 'data'))[0])).toContain(`${bank}/pay`)
  return bank
}

describe('the bank of the guide', () => {
  it('pays when the person has confirmed the payment, and not when another face was shown', async () => {
    const tenant = await running.tenant()
    const bank = await startBank(`${running.service.origin('openid')}/sandbox`, async (address) => {
      const redirectUris = [`${address}/callback`]
      const { record, secret } = await OpenIdApplication.add(running, tenant, { redirectUris })
      return { id: record.id, secret: secret! }
    })
    const pay = async (user: string) => {
      const begun = await fetch(`${bank}/pay?user=${encodeURIComponent(user)}`, { redirect: 'manual' })
      const browser = new OpenIdBrowser(running.service.origin('openid')!)
      const answer = await fetch(await browser.signIn(begun.headers.get('location')!))
      return [answer.status, await answer.text()]
    }
    const paid = 'paid, confirmed by ada+match (urn:countersign:acr:face-active)\n'
    expect(await pay('ada+match')).toEqual([200, paid])
    expect(await pay('eve+no_match')).toEqual([403, 'not paid: access_denied\n'])
  })
})

describe('the bank of the guide at a provider of the test', () => {
  let bank = ''
  beforeAll(async () => {
    await once(provider.listen(0, '127.0.0.1'), 'listening')
    stops.push(() => provider.close())
    issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    bank = await startBank(issuer, async () => ({ id: CLIENT_ID, secret: 'secret' }))
  })

  async function pay(): Promise<string> {
    await fetch(`${bank}/pay?user=ada`, { redirect: 'manual' })
    return (await fetch(`${bank}/callback?code=c&state=${pushed.get('state')}`)).text()
  }

  it('pays by an ID token that the published key has signed', async () => {
    expect(await pay()).toBe('paid, confirmed by ada (urn:countersign:acr:face-active)\n')
    expect(keysRead).toBe(1)
  })

  it('does not pay by one that another key has signed, although it came from the right address', async () => {
    signer = another
    expect(await pay()).toMatch(/^not paid/)
  })
})
