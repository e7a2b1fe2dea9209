/** A passkey on the hosted page in a real browser, where one is installed, with its virtual authenticator and a camera that shows a film. */
import { randomUUID } from 'node:crypto'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begun, CHROMIUM, violations } from '../../support/browser.js'
import { captureUntil, launchBeforeFilm, PATIENT } from '../../support/camera-page.js'
import { allowReturn, askForSession, lookAt } from '../../support/capture-page.js'
import { startPasskeyPage } from '../../support/passkey-page.js'
import type { TestService, TestTenant } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

describe.skipIf(!CHROMIUM)('a passkey on the hosted page in Chromium', { timeout: 240_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser
  let page: Page
  let devtools: CDPSession
  let authenticatorId: string

  beforeAll(async () => {
    const hosted = await startPasskeyPage({ COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300' })
    running = hosted.running
    tenant = hosted.tenant
    const { origin } = hosted
    running.clock.now = Date.now
    await allowReturn(running, tenant, { returnOrigins: ['http://localhost:9'] })
    browser = await launchBeforeFilm(undefined, origin)
    const context = await browser.newContext({ permissions: ['camera'], locale: 'en' })
    context.setDefaultTimeout(0)
    page = await context.newPage()
    // A busy machine is slow to encode, and the sandbox judges no frames.
    await page.addInitScript(PATIENT)
    devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const options = {
      protocol: 'ctap2' as const,
      transport: 'internal' as const,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    }
    authenticatorId = (await devtools.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  const asked = (fields: Record<string, unknown>) =>
    askForSession(tenant.sandbox, { return_url: 'http://localhost:9/done', confirmation: 'none', ...fields })

  async function visit(fields: Record<string, unknown>): Promise<string> {
    const { body } = await asked(fields)
    // The address to which the page leads back need not exist.
    await page.route('http://localhost:9/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>Bank</title>' }),
    )
    await page.goto(body.url)
    await begun(page)
    return body.session_id
  }
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const look = (id: string) => lookAt(tenant.sandbox, id)

  async function captureUntilPasskey(): Promise<void> {
    await click('Agree and continue')
    await captureUntil(page, () => page.locator('#use-passkey').isVisible())
  }

  it('is refused before the camera by a browser without passkeys, and the person can go back', async () => {
    const { body } = await asked({
      user_id: 'grace',
      passkey: 'register',
      purpose: 'enroll',
      action: undefined,
    })
    const other = await browser.newPage({ locale: 'en' })
    await other.addInitScript(
      "Object.defineProperty(globalThis, 'PublicKeyCredential', { value: undefined }); globalThis.asked = false; navigator.mediaDevices.getUserMedia = () => { globalThis.asked = true; return new Promise(() => {}) }",
    )
    await other.goto(body.url)
    await begun(other)
    await expect.poll(() => other.locator('#message').textContent()).toContain('cannot use passkeys')
    for (const part of ['#consent', '#capture', '#passkey'])
      expect([part, await other.locator(part).isVisible()]).toEqual([part, false])
    expect(await other.evaluate('asked')).toBe(false)
    expect(await violations(other)).toEqual([])
    await other.locator('#cancel').click()
    await expect.poll(async () => (await look(body.session_id)).status).toBe('cancelled')
    await other.close()
  })

  it('is made at an enrollment and signs at a verify, from page to verdict', async () => {
    // A second try finds neither the user nor the passkey of the first.
    const user_id = `ada-${randomUUID()}`
    await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
    const enrollment = await visit({ user_id, purpose: 'enroll', action: undefined, passkey: 'register' })
    await captureUntilPasskey()
    expect(await violations(page, '#passkey')).toEqual([])
    await click('Create passkey')
    await expect.poll(async () => (await look(enrollment)).status, { timeout: 60_000 }).toBe('completed')
    expect((await look(enrollment)).result.body).toMatchObject({
      status: 'enrolled',
      passkey: { transports: ['internal'], synced: false },
    })
    // The page leads back when it has heard of the result, which would break off a visit begun before.
    await page.waitForURL('http://localhost:9/done**')

    const action = { type: 'transfer', amount: '1250.00' }
    const verify = await visit({ user_id, action, passkey: 'required' })
    await captureUntilPasskey()
    // A person whom the authenticator does not know gets no further, and may try again.
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await click('Use passkey')
    await expect.poll(() => page.locator('#message').textContent(), { timeout: 60_000 }).toContain('not used')
    expect((await look(verify)).attempts).toBe(0)
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await click('Use passkey')
    await expect.poll(async () => (await look(verify)).status, { timeout: 60_000 }).toBe('completed')
    const { body } = (await look(verify)).result
    expect(decodeJwt(body.jwt, tenant.secret.secret).claims).toMatchObject({
      verdict: 'approved',
      action,
      amr: ['face', 'swk'],
      acr: 'urn:countersign:acr:face-active-swk',
    })
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }])
  })
})
