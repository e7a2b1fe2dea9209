/** A sign-in in Chromium, from the application over the hosted page and its camera back to the application, and every way to leave it. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { OpenIdClient } from '../../../src/features/openid/openid-clients.js'
import { CHROMIUM } from '../../support/browser.js'
import { captureUntil, launchBeforeFilm, PATIENT } from '../../support/camera-page.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { checkedVerdict, RELYING_PARTIES } from '../../support/relying-parties.js'
import { type RelyingSite, startRelyingSite } from '../../support/relying-site.js'
import { startService, type TestService, type TestTenant, WITH_OPENID } from '../../support/service.js'

describe.skipIf(!CHROMIUM)('a sign-in in Chromium', { timeout: 180_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let application: OpenIdClient
  let site: RelyingSite
  let browser: Browser

  beforeAll(async () => {
    running = await startService({ ...WITH_OPENID, COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300' })
    // The browser and the libraries use the clock of the system.
    running.clock.now = Date.now
    tenant = await running.tenant()
    site = await startRelyingSite()
    const settings = { name: 'portal', redirectUris: [site.redirectUri] }
    application = await OpenIdApplication.add(running, tenant, settings)
    await useLibrary('openid-client')
    browser = await launchBeforeFilm()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.stop()
    await running?.stop()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })

  async function useLibrary(name: keyof typeof RELYING_PARTIES): Promise<void> {
    site.party = await RELYING_PARTIES[name]({
      issuer: `${running.service.origin('openid')}/sandbox`,
      redirectUri: site.redirectUri,
      clientId: application.record.id,
      proof: { secret: application.secret! },
    })
  }

  async function newContext(): Promise<BrowserContext> {
    const context = await browser.newContext({ permissions: ['camera'] })
    // Only the time limit of the test applies.
    context.setDefaultTimeout(0)
    await context.addInitScript(PATIENT)
    return context
  }

  /** Opens the application, and begins a sign-in there. */
  async function begin(
    user: string,
    more: Record<string, string> = {},
    context?: BrowserContext,
  ): Promise<Page> {
    const page = await (context ?? (await newContext())).newPage()
    await page.goto(site.origin)
    await page.goto(site.begin(user, more))
    await page.getByRole('button', { name: 'Agree and continue' }).waitFor()
    return page
  }

  /** Agrees, and repeats the capture as often as a busy machine needs, until the page shows this. */
  async function agreeAndCapture(page: Page, isThere: () => Promise<boolean>): Promise<void> {
    await page.getByRole('button', { name: 'Agree and continue' }).click()
    const again = page.getByRole('button', { name: 'Try again', exact: true }).filter({ visible: true })
    await captureUntil(page, isThere, again.first())
  }

  const isBack = (page: Page) => async () => page.url().startsWith(site.redirectUri)
  const heading = (page: Page) => page.getByRole('heading').textContent()
  const backToTenant = () => ({ name: `Back to ${tenant.name}`, exact: true })

  it.each([
    ['openid-client', 'query'],
    ['oauth4webapi', 'form_post'],
  ] as const)('ends in tokens that %s has checked, by %s', async (library, mode) => {
    await useLibrary(library)
    const user = `browser-${library}-${mode}+match`
    const page = await begin(user, { response_mode: mode })
    expect(await page.getByText('portal').count()).toBeGreaterThan(0)
    await agreeAndCapture(page, isBack(page))
    expect(await heading(page)).toBe(`Welcome ${user}`)
    const { search } = new URL(page.url())
    expect(search.includes('code=')).toBe(mode === 'query')
    const redeemed = site.redeemed.at(-1)!
    const issuer = running.service.url('sandbox')
    expect(await checkedVerdict(redeemed, issuer, tenant.id, Date.now())).toMatchObject({
      sub: user,
      verdict: 'approved',
      action: { type: 'login', application: 'portal' },
    })
  })

  it('ends in access_denied after three faces that do not match', async () => {
    const page = await begin('browser-eve+no_match')
    const over = page.getByText('you have no more tries').filter({ visible: true })
    await agreeAndCapture(page, () => over.isVisible())
    await page.getByRole('link', backToTenant()).click()
    await page.waitForURL(`${site.redirectUri}*`)
    expect(await heading(page)).toBe('Refused: access_denied')
  })

  it('ends in access_denied when the person declines', async () => {
    const page = await begin('browser-cancel+match')
    await page.getByRole('button', backToTenant()).click()
    await page.waitForURL(`${site.redirectUri}*`)
    expect(await heading(page)).toBe('Refused: access_denied')
  })

  it('goes on after the way back to the application and forward again', async () => {
    const page = await begin('browser-back+match')
    const { href } = new URL(page.url())
    await page.goBack()
    expect(await heading(page)).toBe('Bank')
    await page.goForward()
    expect(page.url()).toBe(href)
    await agreeAndCapture(page, isBack(page))
    expect(await heading(page)).toBe('Welcome browser-back+match')
  })

  it('cannot be repeated by the way back after its end', async () => {
    const page = await begin('browser-again+match')
    const link = page.url()
    await agreeAndCapture(page, isBack(page))
    const answer = page.url()
    const count = site.redeemed.length
    await page.goto(answer)
    expect(await heading(page)).toBe('Refused: unknown state')
    await page.goto(link)
    expect(await page.getByRole('button', { name: 'Agree and continue' }).count()).toBe(0)
    expect(site.redeemed).toHaveLength(count)
  })

  it('keeps two tabs apart, each with its own person', async () => {
    const context = await newContext()
    const one = await begin('browser-tab-1+match', {}, context)
    const two = await begin('browser-tab-2+match', {}, context)
    await agreeAndCapture(two, isBack(two))
    expect(await heading(two)).toBe('Welcome browser-tab-2+match')
    await one.bringToFront()
    await agreeAndCapture(one, isBack(one))
    expect(await heading(one)).toBe('Welcome browser-tab-1+match')
  })

  it('shows nothing in another browser that was sent the link, or the way back', async () => {
    const page = await begin('browser-victim+match')
    const other = await (await newContext()).newPage()
    await other.goto(page.url())
    expect(await heading(other)).toBe('Already open in another browser')
    let back = ''
    await page.route(/\/interaction\/[\w-]+\/done/, (route) => {
      back = route.request().url()
      return route.abort()
    })
    await agreeAndCapture(page, async () => back !== '')
    const response = await other.goto(back)
    expect([response!.status(), await other.innerText('body')]).toEqual([
      400,
      expect.stringMatching(/^invalid_request: .*another browser/),
    ])
    await page.unrouteAll()
    await page.goto(back)
    expect(await heading(page)).toBe('Welcome browser-victim+match')
  })
})
