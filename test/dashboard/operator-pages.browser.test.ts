/** The operator's pages for tenants and operators in a real browser, and the actions that a viewer is offered. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { SECOND_MS } from '../../src/lib/clock.js'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { base64, face } from '../support/faces.js'
import { type OidcProvider, oidcProvider } from '../support/oidc-provider.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { webhooksOf } from '../support/webhooks.js'

const dir = mkdtempSync(join(tmpdir(), 'countersign-operator-pages-'))

describe.skipIf(!CHROMIUM)('an operator in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  let provider: OidcProvider

  beforeAll(async () => {
    const client = { id: 'countersign', secret: 'client-secret' }
    provider = await oidcProvider(client)
    const file = join(dir, 'client.secret')
    writeFileSync(file, client.secret, { mode: 0o600 })
    running = await startService({
      COUNTERSIGN_OIDC_ISSUER: provider.issuer,
      COUNTERSIGN_OIDC_CLIENT_ID: client.id,
      COUNTERSIGN_OPERATOR_PASSWORD_SIGN_IN: 'true',
      COUNTERSIGN_OIDC_CLIENT_SECRET_FILE: file,
    })
    tenant = await running.tenant()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
    await provider?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const open = (colorScheme: 'light' | 'dark', width = 1280) =>
    openPage(browser, running, { colorScheme, width })

  /** Signs in by name and password, or by the operator's password without a name. */
  async function signInOperator(page: Page, password = OPERATOR_PASSWORD, name = ''): Promise<void> {
    await page.goto(running.service.adminUrl)
    await page.getByLabel('User name', { exact: true }).fill(name)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await loaded(page)
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const answer = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`changes a tenant's contract, suspends, resumes and deletes it (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await open(scheme, width)
      const doomed = await running.tenant()
      const production = await running.production(doomed)
      await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
      const { name } = (await running.service.core.store.read.tenantById(doomed.id))!
      await signInOperator(page)
      const details = button(page, `Details of ${name}`)
      await details.click()
      await page.getByText('1 in production, 0 in the sandbox').waitFor()
      expect(await violations(page)).toEqual([])

      await button(page, 'Edit the contract').click()
      await page.getByRole('dialog').getByLabel('Requests per second').fill('17')
      await answer(page, 'Save').click()
      await page.getByText('17, and 34 at once').waitFor()

      await button(page, 'Suspend').click()
      expect(await violations(page, 'dialog')).toEqual([])
      await answer(page, 'Suspend').click()
      await page.getByText('suspended since').waitFor()
      expect((await doomed.sandbox.health()).body.code).toBe('tenant_suspended')
      await button(page, 'Resume').click()
      await answer(page, 'Resume').click()
      await button(page, 'Suspend').waitFor()
      expect((await doomed.sandbox.health()).status).toBe(200)

      await button(page, 'Delete…').click()
      expect(await violations(page, 'dialog')).toEqual([])
      const typed = page.getByRole('dialog').getByLabel(`Type ${name} to confirm`)
      await typed.fill(name.slice(0, -1))
      await page.keyboard.press('Enter')
      expect(await answer(page, 'Delete forever').isDisabled()).toBe(true)
      await typed.fill(name)
      await answer(page, 'Delete forever').click()
      const receipt = page.getByRole('status')
      await receipt.getByText(/^era_/).waitFor()
      const tenants = await running.service.core.store.read.tenants()
      expect(tenants.find(({ id }) => id === doomed.id)!.deletedAt).not.toBeNull()
      expect(await button(page, 'Delete…').count()).toBe(0)
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(errors).toEqual([])
      await page.context().close()
    }, 90_000)

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`adds an operator who signs in, changes role and password, and keeps the last admin (${scheme}, ${width} px)`, async () => {
      const { operators } = operationsOf(running.service)
      for (const { name } of await operators.list()) await operators.remove(name, COMMAND_LINE)
      const name = 'ada.lovelace@operations.example.com'
      const { page, errors } = await open(scheme, width)
      await signInOperator(page)
      await page.goto(`${running.service.adminUrl}/#/operators`)
      await page.getByText('No operators with a name yet').waitFor()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Role', { exact: true }).selectOption('admin')
      await button(page, 'Add').click()
      const shown = page.locator('.reveal')
      await shown.waitFor()
      const [password] = await shown.locator('code').allTextContents()
      expect(await violations(page)).toEqual([])
      await page.getByText('never').waitFor()

      for (const [what, act] of [
        [`Change role… of ${name}`, 'Save'],
        [`Remove… ${name}`, 'Remove'],
      ] as const) {
        await button(page, what).click()
        expect(await violations(page, 'dialog')).toEqual([])
        if (act === 'Save') await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
        await answer(page, act).click()
        await page.getByRole('alert').getByText('is the last operator with a name').waitFor()
      }
      // The browser logs the two refusals as errors.
      await expect.poll(() => errors.length).toBe(2)
      expect(errors.splice(0).join()).toContain('409')
      expect((await operators.list()).map(({ role }) => role)).toEqual(['admin'])

      await button(page, 'Sign out').click()
      await signInOperator(page, password, name)
      await page.goto(`${running.service.adminUrl}/#/operators`)
      await page.getByText('(you)').waitFor()
      await page.getByText(/UTC by password/).waitFor()
      await button(page, `Reset password… of ${name}`).click()
      await answer(page, 'Reset the password').click()
      await shown.getByText('This session has ended').waitFor()
      const [another] = await shown.locator('code').allTextContents()
      expect(another).not.toBe(password)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      running.clock.advance(10 * SECOND_MS)
      await page.goto('about:blank')
      await signInOperator(page, another, name)
      expect(errors).toEqual([])
      await page.context().close()
    }, 90_000)

  it('offers a viewer nothing that the API would refuse', async () => {
    const { operators } = operationsOf(running.service)
    const webhooks = webhooksOf(running.service)
    const { password } = await operators.add('viewer@example.com', 'viewer', COMMAND_LINE)
    const receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const { store } = running.service.core
    const record = (await store.read.tenantById(tenant.id))!
    await webhooks.add(record, COMMAND_LINE, { url, environment: 'production', events: ['user.enrolled'] })
    const production = await running.production(tenant)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    await production.enroll({ user_id: 'ada', image: ada })
    for (let i = 0; i < 5; i++) await production.verify({ user_id: 'ada', image: grace, action: 'x' })
    const delivered = async () =>
      (await store.read.statements(webhookReader).deliveriesOf(tenant.id, 10, { status: 'delivered' })).length
    await expect.poll(delivered, { timeout: 30_000 }).toBe(1)
    const offered = async (page: Page, path: string) => {
      await page.goto(`${running.service.adminUrl}/#/${path}`)
      await page.locator('.card').first().waitFor()
      await loaded(page)
      return page.locator('main').getByRole('button').allTextContents()
    }
    const below = `tenants/${tenant.id}`
    const acts: Record<string, string[]> = {
      [`${below}/keys`]: ['Rotate', 'Reissue', 'Revoke'],
      [`${below}/webhooks`]: ['Test', 'Remove', 'Add', 'Redeliver'],
      tenants: ['Login link', 'Create'],
      operators: ['Change role…', 'Reset password…', 'Remove…', 'Add'],
    }
    for (const [role, sees] of [
      ['admin', true],
      ['viewer', false],
    ] as const) {
      const { page, errors } = await open('light')
      if (sees) await signInOperator(page)
      else await signInOperator(page, password, 'viewer@example.com')
      for (const [path, names] of Object.entries(acts)) {
        const buttons = await offered(page, path)
        for (const name of names)
          expect([role, path, name, buttons.some((text) => text.startsWith(name))]).toEqual([
            role,
            path,
            name,
            sees,
          ])
      }
      await offered(page, `${below}/users`)
      await page.getByLabel('User id').fill('ada')
      await page.keyboard.press('Enter')
      await page.getByText('locked out').waitFor()
      expect([role, await button(page, 'Unlock').count()]).toEqual([role, sees ? 1 : 0])
      expect([role, await button(page, 'Erase…').count()]).toEqual([role, sees ? 1 : 0])
      await offered(page, 'tenants')
      await button(page, `Details of ${record.name}`).click()
      await page.getByText('Tenant id (aud)').waitFor()
      for (const act of ['Edit the contract', 'Suspend', 'Delete…'])
        expect([role, act, await button(page, act).count()]).toEqual([role, act, sees ? 1 : 0])
      await offered(page, `${below}/overview`)
      const pages = await page.locator('nav ul:not(.foot) a').allTextContents()
      expect(pages.includes('Try it')).toBe(sees)
      if (!sees) {
        await page.goto(`${running.service.adminUrl}/#/${below}/try`)
        await page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
        await page.goto(`${running.service.adminUrl}/#/${below}/audit`)
        await page.getByLabel('User id').fill('nobody')
        await page.keyboard.press('Enter')
        await page.getByText('No such user').waitFor()
      }
      expect(errors).toEqual([])
      await page.context().close()
    }
    receiver.close()
  }, 90_000)

  it('signs in by the provider if added before, and else shows the reason with the request id', async () => {
    const name = 'grace@example.com'
    await operationsOf(running.service).operators.add(name, 'viewer', COMMAND_LINE)
    const { page, errors } = await open('light')
    const follow = async (email: string) => {
      provider.claims = { email, email_verified: true }
      await page.goto(running.service.adminUrl)
      await page.getByRole('link', { name: 'Sign in with SSO' }).click()
    }
    await follow('stranger@example.com')
    const alert = page.getByRole('alert')
    await alert.getByText('You have no account here').waitFor()
    const [requestId] = /[0-9a-f-]{36}/.exec((await alert.textContent())!)!
    expect(running.logText()).toContain(requestId)
    await page.getByLabel('Password', { exact: true }).waitFor()
    await follow(name)
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/operators`)
    await page.getByText(/by SSO$/).waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('sees in plain words why a sign-in by the provider failed, without any text from the link', async () => {
    const { page, errors } = await open('dark', 360)
    const id = '01932c5e-7a11-7c3a-9d10-6b8d2b7f4e21'
    await page.goto(`${running.service.adminUrl}/#/sign-in-failed/unknown_person/${id}`)
    const alert = page.getByRole('alert')
    await alert.getByText('You have no account here').waitFor()
    expect(await alert.textContent()).toContain(id)
    expect(await violations(page)).toEqual([])
    expect(page.url()).not.toContain('sign-in-failed')
    await page.goto('about:blank')
    await page.goto(`${running.service.adminUrl}/#/sign-in-failed/call-555-now/or-else`)
    await alert.getByText('Something went wrong in the service').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/555|or-else/)
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)
})
