/** The operator's pages for tenants and operators in a real browser, and the actions that a viewer is offered. */

import { expect } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { SECOND_MS } from '../../src/lib/clock.js'
import { loaded } from '../support/browser.js'
import { base64, face } from '../support/faces.js'
import type { OidcProvider } from '../support/oidc-provider.js'
import { webhooksOf } from '../support/webhooks.js'
import { startWithProvider } from './console.js'
import { type DashboardPage, inChromiumWith, lockOut, NARROW, receiverOfHooks } from './page-tests.js'

let provider: OidcProvider
const start = async () => {
  const started = await startWithProvider({ COUNTERSIGN_OPERATOR_PASSWORD_SIGN_IN: 'true' })
  provider = started.provider
  return started.running
}

inChromiumWith(start)('an operator', (it, tests) => {
  it.in(NARROW)('changes a tenant’s contract, suspends, resumes and deletes it', async (page) => {
    const doomed = await tests.running.tenant()
    const production = await tests.running.production(doomed)
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const { name } = (await tests.running.service.core.store.read.tenantById(doomed.id))!
    await page.signIn()
    const details = page.button(`Details of ${name}`)
    await details.click()
    await page.getByText('1 in production, 0 in the sandbox').waitFor()
    await page.inspect()

    await page.button('Edit the contract').click()
    await page.getByRole('dialog').getByLabel('Requests per second').fill('17')
    await page.answer('Save').click()
    await page.getByText('17, and 34 at once').waitFor()

    await page.button('Suspend').click()
    await page.inspectDialog()
    await page.answer('Suspend').click()
    await page.getByText('suspended since').waitFor()
    expect((await doomed.sandbox.health()).body.code).toBe('tenant_suspended')
    await page.button('Resume').click()
    await page.answer('Resume').click()
    await page.button('Suspend').waitFor()
    expect((await doomed.sandbox.health()).status).toBe(200)

    await page.button('Delete…').click()
    await page.inspectDialog()
    const typed = page.getByRole('dialog').getByLabel(`Type ${name} to confirm`)
    await typed.fill(name.slice(0, -1))
    await page.keyboard.press('Enter')
    expect(await page.answer('Delete forever').isDisabled()).toBe(true)
    await typed.fill(name)
    await page.answer('Delete forever').click()
    const receipt = page.getByRole('status')
    await receipt.getByText(/^era_/).waitFor()
    const tenants = await tests.running.service.core.store.read.tenants()
    expect(tenants.find(({ id }) => id === doomed.id)!.deletedAt).not.toBeNull()
    expect(await page.button('Delete…').count()).toBe(0)
    await page.inspect()
  })

  it.in(NARROW)('adds an operator who signs in, and keeps the last admin and its role', async (page) => {
    const { operators } = tests.running.operations
    for (const { name } of await operators.list()) await operators.remove(name, COMMAND_LINE)
    const name = 'ada.lovelace@operations.example.com'
    await page.signIn('operators')
    await page.getByText('No operators with a name yet').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Role', { exact: true }).selectOption('admin')
    await page.button('Add').click()
    const shown = page.locator('.reveal')
    await shown.waitFor()
    const [password] = await shown.locator('code').allTextContents()
    await page.inspect()
    await page.getByText('never').waitFor()

    for (const [what, act] of [
      [`Change role… of ${name}`, 'Save'],
      [`Remove… ${name}`, 'Remove'],
    ] as const) {
      await page.button(what).click()
      await page.inspectDialog()
      if (act === 'Save') await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
      await page.answer(act).click()
      await page.getByRole('alert').getByText('is the last operator with a name').waitFor()
    }
    // The browser logs the two refusals as errors.
    await expect.poll(() => page.errors.length).toBe(2)
    expect(page.errors.join()).toContain('409')
    page.tolerate('409')
    expect((await operators.list()).map(({ role }) => role)).toEqual(['admin'])

    await page.button('Sign out').click()
    await page.signIn('operators', password, name)
    await page.getByText('(you)').waitFor()
    await page.getByText(/UTC by password/).waitFor()
    await page.button(`Reset password… of ${name}`).click()
    await page.answer('Reset the password').click()
    await shown.getByText('This session has ended').waitFor()
    const [another] = await shown.locator('code').allTextContents()
    expect(another).not.toBe(password)
    await page.inspect()
    tests.running.clock.advance(10 * SECOND_MS)
    await page.goto('about:blank')
    await page.signIn('tenants', another, name)
  })

  it('offers a viewer nothing that the API would refuse', async () => {
    const { operators } = tests.running.operations
    const { password } = await operators.add('viewer@example.com', 'viewer', COMMAND_LINE)
    const { url, receiver } = await receiverOfHooks()
    const { store } = tests.running.service.core
    const record = (await store.read.tenantById(tests.tenant.id))!
    await webhooksOf(tests.running.service).add(record, COMMAND_LINE, {
      url,
      environment: 'production',
      events: ['user.enrolled'],
    })
    const production = await tests.running.production(tests.tenant)
    await lockOut(production)
    const delivered = async () =>
      (await store.read.statements(webhookReader).deliveriesOf(tests.tenant.id, 10, { status: 'delivered' }))
        .length
    await expect.poll(delivered, { timeout: 30_000 }).toBe(1)
    const offered = async (page: DashboardPage, path: string) => {
      await page.go(path)
      await page.locator('.card').first().waitFor()
      await loaded(page)
      return page.locator('main').getByRole('button').allTextContents()
    }
    const below = `tenants/${tests.tenant.id}`
    const acts: Record<string, string[]> = {
      [`${below}/keys`]: ['Rotate', 'Reissue', 'Revoke'],
      [`${below}/webhooks`]: ['Test', 'Remove', 'Add', 'Redeliver'],
      tenants: ['Login link', 'Create'],
      operators: ['Change role…', 'Reset password…', 'Remove…', 'Add'],
      system: ['Rotate production…', 'Rotate sandbox…'],
    }
    for (const [role, sees] of [
      ['admin', true],
      ['viewer', false],
    ] as const) {
      const page = await tests.open()
      if (sees) await page.signIn()
      else await page.signIn('tenants', password, 'viewer@example.com')
      for (const [path, names] of Object.entries(acts)) {
        const buttons = await offered(page, path)
        for (const name of names)
          expect(
            buttons.some((text) => text.startsWith(name)),
            `${role}, ${path}: ${name}`,
          ).toBe(sees)
      }
      await offered(page, `${below}/users`)
      await page.lookUp('ada')
      await page.getByText('locked out').waitFor()
      for (const act of ['Unlock', 'Erase…'])
        expect([role, act, await page.button(act).count()]).toEqual([role, act, sees ? 1 : 0])
      await offered(page, 'tenants')
      await page.button(`Details of ${record.name}`).click()
      await page.getByText('Tenant id (aud)').waitFor()
      for (const act of ['Edit the contract', 'Suspend', 'Delete…'])
        expect([role, act, await page.button(act).count()]).toEqual([role, act, sees ? 1 : 0])
      await offered(page, `${below}/overview`)
      const pages = await page.locator('nav ul:not(.foot) a').allTextContents()
      expect(pages.includes('Try it')).toBe(sees)
      if (!sees) {
        await page.go(`${below}/try`)
        await page.heading(1, 'Not allowed').waitFor()
        await page.go(`${below}/audit`)
        await page.lookUp('nobody')
        await page.getByText('No such user').waitFor()
      }
      expect(page.errors).toEqual([])
      await page.context().close()
    }
    receiver.close()
  })

  it('signs in by the provider if added before, and else shows the reason with the request id', async (page) => {
    const name = 'grace@example.com'
    await tests.running.operations.operators.add(name, 'viewer', COMMAND_LINE)
    const follow = async (email: string) => {
      provider.claims = { email, email_verified: true }
      await page.goto(tests.url)
      await page.getByRole('link', { name: 'Sign in with SSO' }).click()
    }
    await follow('stranger@example.com')
    const alert = page.getByRole('alert')
    await alert.getByText('You have no account here').waitFor()
    const [requestId] = /[0-9a-f-]{36}/.exec((await alert.textContent())!)!
    expect(tests.running.logText()).toContain(requestId)
    await page.getByLabel('Password', { exact: true }).waitFor()
    await follow(name)
    await page.heading(1, 'Tenants').waitFor()
    await page.go('operators')
    await page.getByText(/by SSO$/).waitFor()
  })

  it('sees in plain words why a sign-in by the provider failed, without any text from the link', async (page) => {
    await page.resize('dark', 360)
    const id = '01932c5e-7a11-7c3a-9d10-6b8d2b7f4e21'
    await page.go(`sign-in-failed/unknown_person/${id}`)
    const alert = page.getByRole('alert')
    await alert.getByText('You have no account here').waitFor()
    expect(await alert.textContent()).toContain(id)
    await page.inspect()
    expect(page.url()).not.toContain('sign-in-failed')
    await page.goto('about:blank')
    await page.go('sign-in-failed/call-555-now/or-else')
    await alert.getByText('Something went wrong in the service').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/555|or-else/)
  })
})
