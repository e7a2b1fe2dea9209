/** `usePasskey` on a customer's own page, where a browser is installed: its virtual authenticator signs what the sandbox checks. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError, Countersign } from '../../clients/node/index.js'
import { packageFile } from '../../src/lib/package-root.js'
import { CHROMIUM, launchBrowser } from '../support/browser.js'
import { plain } from '../support/images.js'
import { usePasskeys } from '../support/passkeys.js'
import { startService, type TestService } from '../support/service.js'

const action = { type: 'transfer', amount: '1250.00', to: 'Grace' }

/** Bundlers find the module by this name as well. */
const PAGE = '<script type="importmap">{"imports":{"countersign/passkey":"/capture/passkey.js"}}</script>'

describe.skipIf(!CHROMIUM)('a passkey on a page of the customer in Chromium', { timeout: 120_000 }, () => {
  let running: TestService
  let bank: Server
  let countersign: Countersign
  let browser: Browser
  let page: Page
  let devtools: CDPSession
  let authenticatorId: string
  let image: Buffer
  let origin: string
  let user = 'ada'

  beforeAll(async () => {
    running = await startService()
    running.clock.now = Date.now
    const tenant = await running.tenant()
    countersign = new Countersign({
      apiKey: tenant.sandboxKey,
      baseUrl: running.service.url('sandbox'),
      signingSecret: tenant.secret,
      tenantId: tenant.id,
    })
    image = await plain()
    bank = createServer(async (request, response) => {
      const [status, type, body] = await answer(request.url!, await text(request))
      response.writeHead(status, { 'Content-Type': type }).end(body)
    })
    await once(bank.listen(0, '127.0.0.1'), 'listening')
    // Browsers use passkeys over https, and on localhost.
    origin = `http://localhost:${(bank.address() as AddressInfo).port}`
    await usePasskeys(running, tenant, { rpId: 'localhost', origins: [origin] })
    await countersign.enroll({ user_id: user, image })
    browser = await launchBrowser()
    page = await browser.newPage()
    devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const options = {
      ...{ protocol: 'ctap2' as const, transport: 'internal' as const, hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    }
    authenticatorId = (await devtools.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
    await page.goto(origin)
  })
  afterAll(async () => {
    await browser?.close()
    bank?.close()
    await running?.stop()
  })

  let begun: { challenge_id: string; nonce: string }

  /** The bank's pages and its backend, which holds the API key. */
  async function answer(path: string, body: string): Promise<[number, string, string | Buffer]> {
    const json = (value: object): [number, string, string] => [200, 'application/json', JSON.stringify(value)]
    if (path === '/') return [200, 'text/html', PAGE]
    if (path === '/page.mjs')
      return [200, 'text/javascript', readFileSync(packageFile('docs', 'examples', 'passkeys', 'page.mjs'))]
    if (path.startsWith('/capture/'))
      return [
        200,
        'text/javascript',
        readFileSync(packageFile('dist', 'clients', ...path.slice(1).split('/'))),
      ]
    try {
      switch (path) {
        case '/passkeys/registration': {
          const { options, ...kept } = await countersign.beginPasskeyRegistration(user)
          begun = kept
          return json(options)
        }
        case '/passkeys': {
          const { challenge_id, nonce } = begun
          return json(
            await countersign.registerPasskey(user, { challenge_id, nonce, credential: JSON.parse(body) }),
          )
        }
        case '/passkeys/assertion': {
          const { options, ...kept } = await countersign.beginPasskeyAssertion(user, { action })
          begun = kept
          return json(options)
        }
        case '/transfers': {
          const { challenge_id, nonce } = begun
          const passkey_assertion = { challenge_id, nonce, credential: JSON.parse(body) }
          const { jwt } = await countersign.verify({ user_id: user, image, action, passkey_assertion })
          return json(await countersign.verifyVerdict(jwt, { userId: user, action }))
        }
        default:
          return [404, 'text/plain', '']
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return [422, 'application/json', JSON.stringify({ code: error.code })]
    }
  }

  // The code is text, because the test's own compiler would replace its import.
  const ran = (what: string) =>
    page.evaluate(`import('/page.mjs').then((bank) => bank.${what}()).catch((error) => error.name)`)

  it('is made by the options of a registration, and signs by those of an assertion', async () => {
    expect(await ran('makePasskey')).toMatchObject({ user_id: user, transports: ['internal'], synced: false })
    expect(await ran('signTransfer')).toMatchObject({
      action,
      amr: ['face', 'swk'],
      acr: 'urn:countersign:acr:face-swk',
    })
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'localhost' }])
  })

  it('reports a person whom the authenticator does not know, as the browser does', async () => {
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    expect(await ran('signTransfer')).toBe('NotAllowedError')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    expect(await ran('signTransfer')).toMatchObject({ amr: ['face', 'swk'] })
  })

  it.each([
    [
      'a browser that lacks the functions for JSON',
      `delete PublicKeyCredential.parseCreationOptionsFromJSON
       delete PublicKeyCredential.parseRequestOptionsFromJSON
       delete PublicKeyCredential.prototype.toJSON`,
    ],
    [
      'a password manager whose answers have no methods',
      wrapping('({ ...fields(real), response: fields(real.response) })'),
    ],
    [
      'a password manager whose answers have methods that throw',
      wrapping(`Object.assign(like(real), { response: like(real.response) })`),
    ],
  ])('works in %s', async (browserName, change) => {
    user = browserName
    await countersign.enroll({ user_id: user, image })
    await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
    await page.reload()
    await page.evaluate(change)
    expect(await ran('makePasskey')).toMatchObject({ user_id: user, synced: false })
    expect(await ran('signTransfer')).toMatchObject({ amr: ['face', 'swk'] })
  })

  it('reports a browser that cannot use the options', async () => {
    const name = await page.evaluate(`{
      Object.defineProperty(globalThis, 'PublicKeyCredential', { value: undefined, configurable: true })
      import('/capture/passkey.js')
        .then(({ usePasskey }) => usePasskey({ challenge: 'AAAA' }))
        .catch((error) => error.name)
    }`)
    expect(name).toBe('NotSupportedError')
  })
})

/** Replaces the answers of the browser, as the extensions of password managers do. */
function wrapping(answer: string): string {
  return `{
    const fields = (of) => {
      const own = {}
      for (const name in of) if (typeof of[name] !== 'function' && of[name] !== null) own[name] = of[name]
      return own
    }
    const like = (of) => {
      const copy = Object.create(Object.getPrototypeOf(of))
      for (const [name, value] of Object.entries(fields(of))) Object.defineProperty(copy, name, { value, writable: true })
      return copy
    }
    const { credentials } = navigator
    for (const name of ['create', 'get']) {
      const ask = credentials[name].bind(credentials)
      credentials[name] = async (options) => {
        const real = await ask(options)
        return ${answer}
      }
    }
  }`
}
