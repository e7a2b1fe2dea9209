/** The pages in a real browser, where one is installed (`apt install chromium`). */

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { webhooksOf } from '../support/webhooks.js'

const TENANT_PAGES = ['overview', 'drift', 'keys', 'users', 'webhooks', 'requests', 'audit', 'try']

describe.skipIf(!CHROMIUM)('the dashboard in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  beforeAll(async () => {
    running = await startService()
    tenant = await running.tenant()
    const production = await running.production(tenant)
    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    await production.verify({ user_id: 'ada', image, action: 'x' })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  const open = (colorScheme: 'light' | 'dark', width = 1280) =>
    openPage(browser, running, { colorScheme, width })

  async function signInByLink(page: Page): Promise<void> {
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
  }

  for (const scheme of ['light', 'dark'] as const)
    it(`every page of a tenant is accessible and free of errors (${scheme})`, async () => {
      const { page, errors } = await open(scheme)
      await signInByLink(page)
      expect(page.url()).not.toContain('login')
      for (const name of TENANT_PAGES) {
        await page.goto(`${running.service.adminUrl}/#/${name}`)
        await page.locator('.card').first().waitFor()
        await loaded(page)
        expect([name, ...(await violations(page))]).toEqual([name])
      }
      expect(errors).toEqual([])
      await page.context().close()
    }, 90_000)

  for (const [scheme, width] of [
    ['light', 390],
    ['dark', 390],
    ['dark', 1280],
  ] as const)
    it(`every page of the operator is accessible and fits the screen (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await open(scheme, width)
      await page.goto(running.service.adminUrl)
      await page.getByLabel('Password', { exact: true }).waitFor()
      expect(await violations(page)).toEqual([])
      await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
      const below = TENANT_PAGES.map((name) => `tenants/${tenant.id}/${name}`)
      for (const path of ['tenants', 'operators', 'system', ...below]) {
        await page.goto(`${running.service.adminUrl}/#/${path}`)
        await page.locator('.card').first().waitFor()
        await loaded(page)
        expect([path, ...(await violations(page))]).toEqual([path])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        const [title] = (await page.getByRole('heading', { level: 1 }).innerText()).split(/\s*·/)
        expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).not.toContain(title!.trim())
      }
      expect(errors).toEqual([])
      await page.context().close()
    }, 90_000)

  it('follows a login link that is pasted into a tab of the dashboard, and keeps it out of the history', async () => {
    const { page } = await open('light')
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).waitFor()
    const link = `${running.service.adminUrl}/#/login/${await loginToken(running, tenant.id)}`
    await page.evaluate(`location.assign(${JSON.stringify(link)})`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goBack()
    expect(page.url()).not.toContain('login')
    await page.goto(`${running.service.adminUrl}/#/keys`)
    await page.evaluate(`location.assign(${JSON.stringify(link)})`)
    await page.getByRole('alert').getByText('The login link is not valid').waitFor()
    await page.context().close()
  }, 60_000)

  it('keeps the links to a tenant’s pages in one row on a phone, with the current one visible', async () => {
    const { page } = await open('light', 320)
    await signInByLink(page)
    for (const name of ['Try it', 'Overview']) {
      const links = page.locator('nav ul:not(.foot) a')
      await links.getByText(name).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()))
      expect(new Set(boxes.map((box) => box!.y)).size).toBe(1)
      const { x, width } = (await links.getByText(name).boundingBox())!
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(320)
    }
    await page.context().close()
  }, 60_000)

  it('says why an entry of the audit log names no user', async () => {
    const { page } = await open('light')
    const other = await running.tenant()
    const production = await running.production(other)
    expect((await production.call('DELETE', '/v1/delete', { user_id: 'nobody' })).status).toBe(404)
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, other.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/audit`)
    await page.getByTitle('No user of that id existed').waitFor()
    await page.context().close()
  }, 60_000)

  it('leads from a lost key to the page that reissues it, and from the API reference back', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByRole('main').getByRole('link', { name: 'Keys and secrets' }).click()
    await page.getByRole('button', { name: 'Reissue sandbox key' }).waitFor()
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.context().close()
  }, 60_000)

  it('asks to sign in again when the session has ended', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await page.context().clearCookies()
    await page.goto(`${running.service.adminUrl}/#/audit`)
    await page.getByRole('alert').getByText('Your session has ended').waitFor()
    await page.context().close()
  }, 60_000)

  it('works by keyboard: skip link, pages in order, and a dialog that Escape closes and that returns the focus', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await loaded(page)
    const focused = () =>
      page.evaluate(`({
        text: document.activeElement.textContent.trim(),
        isMarked: getComputedStyle(document.activeElement).outlineStyle !== 'none',
      })`) as Promise<{ text: string; isMarked: boolean }>
    const walked: string[] = []
    for (let step = 0; step < 18; step++) {
      await page.keyboard.press('Tab')
      const { text, isMarked } = await focused()
      expect([text, isMarked]).toEqual([text, true])
      walked.push(text)
    }
    expect(walked).toEqual([
      'Skip to content',
      'Overview',
      'Drift',
      'Keys and secrets',
      'Users',
      'Webhooks',
      'Capture page',
      'Policy',
      'Passkeys',
      'Applications',
      'Requests',
      'Audit log',
      'People',
      'Sessions',
      'Try it',
      'Documentation',
      'Dark theme',
      'Sign out',
    ])
    await page.goto(`${running.service.adminUrl}/#/keys`)
    await page.getByRole('button', { name: 'Revoke sandbox keys' }).focus()
    for (const [open, leave] of [
      ['Enter', () => page.keyboard.press('Escape')],
      ['Space', () => page.getByRole('button', { name: 'Cancel' }).press('Enter')],
    ] as const) {
      await page.keyboard.press(open)
      await page.getByRole('dialog').waitFor()
      expect(await violations(page, 'dialog')).toEqual([])
      await leave()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect((await focused()).text).toBe('Revoke sandbox keys')
    }
    expect((await tenant.sandbox.health()).status).toBe(200)
    await page.context().close()
  }, 60_000)

  it('shows the audit log in pages that fit a phone, with the reason of a rejection in its row', async () => {
    const busy = await running.tenant()
    const production = await running.production(busy)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    await production.enroll({ user_id: 'ada', image: ada })
    for (let i = 0; i < 40; i++) await production.call('DELETE', '/v1/delete', { user_id: `nobody-${i}` })
    await production.verify({ user_id: 'ada', image: grace, action: 'x' })
    const { page, errors } = await open('dark', 390)
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, busy.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/audit`)
    const numbers = () => page.locator('tbody td:first-child').allTextContents()
    await expect.poll(numbers).toEqual(Array.from({ length: 20 }, (_, i) => String(43 - i)))
    // The newest entry is the sign-in to this page.
    await page.locator('tbody tr').nth(1).getByText('no_match').waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(3500)
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Older entries' }).click()
    await expect.poll(async () => (await numbers())[0]).toBe('23')
    await page.getByRole('button', { name: 'Older entries' }).click()
    await expect.poll(numbers).toEqual(['3', '2', '1'])
    expect(await page.getByRole('button', { name: 'Older entries' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Newer entries' }).click()
    await expect.poll(async () => (await numbers())[0]).toBe('23')
    // Every time has its zone.
    expect(await page.locator('tbody time').first().textContent()).toMatch(/ (UTC|GMT|[A-Z]{2,5})\S*$/)
    expect(errors).toEqual([])
    await page.context().close()
  }, 90_000)

  it('names tenant and purpose of every secret that is shown once', async () => {
    const { page } = await open('light')
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('acme')
    await page.getByLabel('Requests per second').fill('7')
    await page.getByRole('button', { name: 'Create' }).click()
    const cards = page.locator('.reveal')
    await expect.poll(() => cards.count()).toBe(3)
    const codes = (index: number) => cards.nth(index).locator('code').allTextContents()
    expect(await codes(0)).toEqual([expect.stringMatching(/^svc-sbx-/), expect.stringMatching(/^ten_/)])
    expect(await codes(1)).toEqual([expect.stringMatching(/^svc-sec-/), expect.stringMatching(/^sec_/)])
    const link = (await cards.nth(2).textContent())!
    expect(link).toContain('it signs in once, within an hour')
    expect(link).not.toContain('secret store')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
    expect(await page.getByLabel('Requests per second').inputValue()).toBe('')
    expect(await violations(page)).toEqual([])
    await page.context().close()
  }, 60_000)

  it('looks up a user, ends a lockout, and erases with a receipt', async () => {
    const own = await running.tenant()
    const production = await running.production(own)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    await production.enroll({ user_id: 'ada', image: ada })
    for (let i = 0; i < 5; i++) await production.verify({ user_id: 'ada', image: grace, action: 'x' })
    const { page, errors } = await open('dark', 390)
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/tenants/${own.id}/users`)
    const lookUp = async (id: string) => {
      await page.getByLabel('User id').fill(id)
      await page.keyboard.press('Enter')
    }
    await lookUp('nobody')
    await page.getByText('Not enrolled in production').waitFor()
    await lookUp('ada')
    await page.getByText('locked out').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('status').getByText('none', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Unlock' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Erase…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Erase forever' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    expect(await violations(page)).toEqual([])
    await lookUp('ada')
    await page.getByText('Not enrolled in production').waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('adds a webhook, shows its deliveries in pages, sends one again and removes it, on a phone', async () => {
    const width = 390
    const own = await running.tenant()
    const receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const { page, errors } = await open('light', width)
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/tenants/${own.id}/webhooks`)
    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByLabel('Address').fill(url)
    await page.getByLabel('Environment').selectOption('sandbox')
    await page.getByLabel('user.enrolled').check()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const webhooks = page.getByRole('region', { name: 'Webhooks' }).locator('tbody tr:not(.below)')
    await expect.poll(() => webhooks.allTextContents()).toEqual([expect.stringContaining('user.enrolled')])
    expect(await page.getByLabel('Address').inputValue()).toBe('')
    const { store } = running.service.core
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < 24; i++)
        await running.service.core.events.put(tx, {
          tenantId: own.id,
          environment: 'sandbox',
          type: 'user.enrolled',
          data: { i },
        })
    })
    running.clock.advance(1)
    await own.sandbox.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const delivered = async () =>
      (await store.read.statements(webhookReader).deliveriesOf(own.id, 100, { status: 'delivered' })).length
    await expect.poll(delivered, { timeout: 30_000 }).toBe(25)
    await page.getByRole('button', { name: 'Delivered', exact: true }).click()
    const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr')
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(20)
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.getByRole('button', { name: 'Older deliveries' }).click()
    await expect.poll(() => rows.count()).toBe(5)
    await page.getByRole('button', { name: 'Newer deliveries' }).click()
    await expect.poll(() => rows.count()).toBe(20)
    await page.getByRole('button', { name: 'Failed', exact: true }).click()
    await page.getByText('No delivery is in this state').waitFor()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('The endpoint accepted the test: 204').waitFor()
    await expect.poll(delivered, { timeout: 20_000 }).toBe(26)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    // Deliveries about users who are not enrolled were deleted after they succeeded.
    await expect.poll(() => page.getByRole('button', { name: 'Redeliver' }).count()).toBe(1)
    await page.getByRole('button', { name: 'Redeliver' }).click()
    const acts = async () =>
      (await store.read.auditEntries(own.id, 0, 100)).map(({ entry }) => JSON.parse(entry).event)
    await expect.poll(acts).toContain('webhook_redelivered')
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No webhooks yet').waitFor()
    expect(errors).toEqual([])
    await page.context().close()
    receiver.close()
  }, 90_000)

  it('marks a failing webhook in the list, next to the button Test and under Failed', async () => {
    const own = await running.tenant()
    const { tenancy } = running.service.core
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/hook`
    await new Promise((resolve) => closed.close(resolve))
    const record = await tenancy.find(own.id)
    await webhooksOf(running.service).add(record, COMMAND_LINE, { url, environment: 'sandbox', events: [] })
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const { page, errors } = await open(scheme, width)
      await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
      await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
      await page.goto(`${running.service.adminUrl}/#/webhooks`)
      if (width === 1280) {
        await page.getByRole('button', { name: 'Test' }).click()
        await page.getByText('The endpoint did not accept the test: ECONNREFUSED').waitFor()
      }
      const webhooks = page.getByRole('region', { name: 'Webhooks' })
      await webhooks.getByText('failing', { exact: true }).waitFor()
      await webhooks.getByText('No delivery has succeeded yet.').waitFor()
      await page.getByRole('button', { name: 'Failed', exact: true }).click()
      await page.getByRole('region', { name: 'Deliveries' }).getByText('failed, will be retried').waitFor()
      await page.getByText('What the states mean').click()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(errors).toEqual([])
      await page.context().close()
    }
  }, 90_000)

  it('leads from an error on the overview to its requests, by addresses that work with Back and as links', async () => {
    const own = await running.tenant()
    const photo = base64(await face('ada'))
    await own.sandbox.verify({ user_id: 'u+no_face', image: photo, action: 'x' })
    await own.sandbox.verify({ user_id: 'u+match', image: photo, action: 'x' })
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const { page, errors } = await open(scheme, width)
      await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
      // Production is shown first, without the requests to the sandbox.
      await page.getByText('No requests in production within 1 hour').waitFor()
      await page.getByText('There were 2 in the sandbox.').waitFor()
      expect(await page.getByText('100 %').count()).toBe(0)
      await page.getByRole('button', { name: 'Sandbox', exact: true }).click()
      await page.getByText('100 % of verdicts').waitFor()
      expect(page.url()).toContain('environment=sandbox')
      expect(await violations(page)).toEqual([])
      await page.getByRole('link', { name: 'face_not_found' }).click()
      const rows = page.getByRole('region', { name: 'Requests' }).locator('tbody tr:not(.below)')
      await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(1)
      await rows.first().getByText('u+no_face').waitFor()
      await page.getByRole('button', { name: /^More/ }).click()
      await page.getByText('API key').waitFor()
      // The page explains the code, and the filter uses the same word as the rows.
      await page.getByText('No face was found').first().waitFor()
      const explanation = page.getByRole('link', { name: '/errors#face_not_found' })
      expect(await explanation.getAttribute('href')).toMatch(/\/errors#face_not_found$/)
      await rows.first().getByText('refused (status 422)').waitFor()
      expect(await page.getByLabel('Outcome').locator('option:checked').textContent()).toBe('refused')
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      const shared = page.url()
      await page.getByRole('button', { name: 'Clear' }).click()
      await expect.poll(() => rows.count()).toBe(2)
      await page.goBack()
      await expect.poll(() => rows.count()).toBe(1)
      // An id is found in either environment, and the switch shows in which.
      const id = (await rows.first().locator('code').getAttribute('title'))!
      await page.goto(`${running.service.adminUrl}/#/requests?environment=production&id=${id}`)
      const isChosen = (name: string) =>
        page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')
      await expect.poll(() => isChosen('Sandbox')).toBe('true')
      expect(await isChosen('Production')).toBe('false')
      // The switch then leads to the other environment without the id.
      await page.getByRole('button', { name: 'Production', exact: true }).click()
      await page.getByText('No requests in production yet').waitFor()
      const { page: other } = await open('light', width)
      await other.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
      await other.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
      await other.goto(shared)
      await other.getByText('u+no_face').waitFor()
      expect(await other.getByLabel('Code or reason').inputValue()).toBe('face_not_found')
      expect(errors).toEqual([])
      await other.context().close()
      await page.context().close()
    }
  }, 120_000)

  it('asks before “Try it” replaces a reference, and suggests no user for a production key', async () => {
    const own = await running.tenant()
    const production = await running.production(own)
    const photo = await face('ada')
    const first = (await production.enroll({ user_id: 'ada', image: base64(photo) })).body.reference_id
    const reference = async () =>
      (await production.call('GET', '/v1/users/ada')).body.reference.reference_id as string
    const { page, errors } = await open('light')
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByLabel('API key').fill(own.sandboxKey)
    expect(await page.getByLabel('User id').inputValue()).toBe('ada')
    await page.getByLabel('API key').fill(production.key)
    expect(await page.getByLabel('User id').inputValue()).toBe('')
    await page
      .getByLabel('Photo to enroll')
      .setInputFiles({ name: 'ada.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(photo) })
    const enroll = page.getByRole('button', { name: 'Enroll this photo' })
    expect(await enroll.isDisabled()).toBe(true)
    await page.getByLabel('User id').fill('ada')
    await enroll.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Replace the reference of ada?').waitFor()
    expect(await violations(page, 'dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('already_enrolled').first().waitFor()
    expect(await reference()).toBe(first)
    await enroll.click()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await expect.poll(reference, { timeout: 20_000 }).not.toBe(first)
    expect(errors).toEqual([])
    await page.context().close()
  }, 90_000)

  it('shows a tenant its webhooks without a form to add one', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/webhooks`)
    await page.getByText('The operator of this service adds the address').waitFor()
    expect(await page.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0)
    await page.context().close()
  }, 60_000)

  it('shows a tenant a user’s lockout without a button to end it', async () => {
    const own = await running.tenant()
    const production = await running.production(own)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    await production.enroll({ user_id: 'ada', image: ada })
    const { page } = await open('light')
    for (let i = 0; i < 5; i++) await production.verify({ user_id: 'ada', image: grace, action: 'x' })
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/users`)
    await page.getByLabel('User id').fill('ada')
    await page.keyboard.press('Enter')
    await page.getByText('locked out').waitFor()
    expect(await page.getByRole('button', { name: 'Unlock' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Erase…' }).count()).toBe(1)
    await page.context().close()
  }, 60_000)

  it('says that an unknown address has no page', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    for (const path of ['nothing', 'tenants', 'audit/more']) {
      await page.goto(`${running.service.adminUrl}/#/${path}`)
      await page.getByRole('heading', { level: 1, name: 'No such page' }).waitFor()
    }
    await page.getByRole('link', { name: 'Go to the first page' }).click()
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.context().close()
  }, 60_000)

  it('enrols three photos and verifies another, on a phone', async () => {
    const width = 390
    const { page, errors } = await open('dark', width)
    const own = await running.tenant()
    const { key } = await running.production(own)
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByLabel('API key').fill(key)
    await page.getByLabel('User id').fill('ada')
    const photo = async (name: Parameters<typeof face>[0]) => ({
      name: `${name}.jpg`,
      mimeType: 'image/jpeg',
      buffer: await face(name),
    })
    const toEnroll = page.getByLabel('Photo to enroll')
    await toEnroll.setInputFiles(await photo('ada'))
    await page.getByText('1 of 3 photos').waitFor()
    await toEnroll.setInputFiles([await photo('adaToday'), await photo('ada')])
    await page.getByRole('list', { name: '3 photos to enroll' }).waitFor()
    await page.getByRole('button', { name: 'Enroll these 3 photos' }).click()
    const answers = page.locator('.answer')
    await answers.getByText('enrolled', { exact: true }).waitFor()
    expect(await answers.getByText('Photos in the reference').locator('..').textContent()).toBe(
      'Photos in the reference3',
    )
    await page.getByLabel('Photo to verify').setInputFiles(await photo('adaElsewhere'))
    await page.getByRole('button', { name: 'Verify this photo' }).click()
    await answers.getByText('approved', { exact: true }).waitFor()
    expect(await answers.getByText('suspected', { exact: true }).count()).toBe(0)
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText('No photo yet').waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  }, 90_000)

  it('filters the audit log', async () => {
    const { page } = await open('light')
    const own = await running.tenant()
    const production = await running.production(own)
    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    await production.verify({ user_id: 'ada', image, action: 'x' })
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, own.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/audit`)
    const rows = page.locator('tbody tr')
    // The entries are two calls and the sign-in.
    await expect.poll(() => rows.count()).toBe(3)
    await page.getByLabel('Outcome').selectOption('approved')
    await page.getByLabel('User id').fill('ada')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.count()).toBe(1)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export JSON Lines' }).click()
    const file = await readFile(await (await download).path(), 'utf8')
    expect(
      file
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).verdict),
    ).toEqual(['approved'])
    await page.getByLabel('User id').fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('No such user').waitFor()
    await page.context().close()
  }, 60_000)

  it('rotates the secret and counts down the overlap', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/keys`)
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click()
    await page.locator('.reveal').waitFor()
    expect(await page.locator('.reveal code').allTextContents()).toEqual([
      expect.stringMatching(/^svc-sec-/),
      expect.stringMatching(/^sec_/),
      tenant.id,
    ])
    expect(await page.getByRole('timer').textContent()).toMatch(/^\d+:\d\d$/)
    await page.getByText('No request since the rotation has sent the id of its secret.').waitFor()
    const { outgoing, incoming } = await running.service.core.secrets.active(
      running.service.core.store.read,
      tenant.id,
    )
    for (const { id } of [outgoing, incoming!, incoming!])
      await tenant.sandbox.call('GET', '/v1/health', undefined, { headers: { 'X-Svc-Signing-Key-Id': id } })
    await page.getByRole('img', { name: /new secret 2, old secret 1,/ }).waitFor()
    await page.getByText('The id of the old secret was last sent just now.').waitFor()
    await page.context().close()
  }, 60_000)

  it('shows the face, the verdict, the signature and the JWT of a tried photo', async () => {
    const { page, errors } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByLabel('API key').fill(tenant.sandboxKey)
    await page.getByLabel('User id').fill('u+match')
    const photo = { name: 'ada.jpg', mimeType: 'image/jpeg', buffer: await face('ada') }
    await page.getByLabel('Photo to verify').setInputFiles(photo)
    await page.getByRole('img', { name: 'Detected face and landmarks' }).waitFor()
    await page.getByRole('button', { name: 'Verify this photo' }).click()
    const answer = page.locator('.answer')
    await answer.getByText('approved', { exact: true }).waitFor()
    expect(await answer.getByText('valid', { exact: true }).count()).toBe(2)
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  for (const scheme of ['light', 'dark'] as const)
    it(`renders an accessible API reference under its content policy (${scheme})`, async () => {
      const { page, errors } = await open(scheme, 390)
      await page.goto(`${running.service.adminUrl}/docs/api`)
      await page.getByText('/v1/keys/rotate-signing').first().waitFor()
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(background).toBe(scheme === 'dark' ? 'rgb(14, 17, 23)' : 'rgb(247, 248, 250)')
      await page.getByText('/v1/verify').first().click()
      await page.getByText('Runs a step-up check').waitFor()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect(errors).toEqual([])
      await page.context().close()
    }, 60_000)

  it('sends the examples of the API reference to the sandbox and forgets the key, on a phone', async () => {
    const width = 360
    const { page, errors } = await open('dark', width)
    const { sandboxKey, secret } = await running.tenant()
    await page.goto(`${running.service.adminUrl}/docs/api`)
    await page.getByLabel('Sandbox key').fill(sandboxKey)
    for (const [operationId, status, said] of [
      ['enrollment-enroll', '201', '"enrolled"'],
      ['verification-verify', '200', '"approved"'],
    ] as const) {
      const operation = page.locator(`#operations-${operationId}`)
      await operation.locator('.opblock-summary').click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      const answer = operation.locator('.live-responses-table')
      await answer.getByText(status, { exact: true }).waitFor()
      await answer.getByText(said).first().waitFor()
      await answer.getByText(`kid=${secret.id},v2=`).waitFor()
      expect(await operation.locator('.request-url').textContent()).toContain(running.service.url('sandbox'))
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(await violations(page)).toEqual([])
      await operation.locator('.opblock-summary').click()
    }
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('svc-')
    await page.reload()
    expect(await page.getByLabel('Sandbox key').inputValue()).toBe('')
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)
})
