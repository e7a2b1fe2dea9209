/** The pages in a real browser, where one is installed (`apt install chromium`). */

import { readFile } from 'node:fs/promises'
import { beforeAll, expect } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { loaded } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { webhooksOf } from '../support/webhooks.js'
import { EVERY_LOOK, inChromium, lockOut, photo, receiverOfHooks, VIEWPORTS } from './page-tests.js'

inChromium('the dashboard', (it, tests) => {
  beforeAll(async () => {
    const production = await tests.running.production(tests.tenant)
    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    await production.verify({ user_id: 'ada', image, action: 'x' })
  })

  it.in(EVERY_LOOK)('every page is accessible and fits the screen', async (page) => {
    await page.goto(tests.url)
    await page.getByLabel('Password', { exact: true }).waitFor()
    await page.inspect()
    await page.signIn()
    const ofTenant = ['overview', 'drift', 'keys', 'users', 'webhooks', 'requests', 'audit', 'try']
    const below = ofTenant.map((name) => `tenants/${tests.tenant.id}/${name}`)
    for (const path of ['tenants', 'operators', 'system', ...below]) {
      await page.go(path)
      await page.locator('.card').first().waitFor()
      await page.inspect()
      const [title] = (await page.getByRole('heading', { level: 1 }).innerText()).split(/\s*·/)
      expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).not.toContain(title!.trim())
    }
  })

  it('follows a login link that is pasted into a tab of the dashboard, and keeps it out of the history', async (page) => {
    await page.goto(tests.url)
    await page.getByLabel('Password', { exact: true }).waitFor()
    const link = `${tests.url}/#/login/${await loginToken(tests.running, tests.tenant.id)}`
    await page.evaluate(`location.assign(${JSON.stringify(link)})`)
    await page.heading(1, /Overview/).waitFor()
    await page.goBack()
    expect(page.url()).not.toContain('login')
    await page.go('keys')
    await page.evaluate(`location.assign(${JSON.stringify(link)})`)
    await page.getByRole('alert').getByText('The login link is not valid').waitFor()
  })

  it('keeps the links to a tenant’s pages in one row on a phone, with the current one visible', async (page) => {
    await page.resize('light', 320)
    await page.signInByLink(tests.tenant)
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
  })

  it('says why an entry of the audit log names no user', async (page) => {
    const other = await tests.running.tenant()
    const production = await tests.running.production(other)
    expect((await production.call('DELETE', '/v1/delete', { user_id: 'nobody' })).status).toBe(404)
    await page.signInByLink(other, 'audit')
    await page.getByTitle('No user of that id existed').waitFor()
  })

  it('leads from a lost key to the page that reissues it', async (page) => {
    await page.signInByLink(tests.tenant, 'try')
    await page.getByRole('main').getByRole('link', { name: 'Keys and secrets' }).click()
    await page.button('Reissue sandbox key').waitFor()
  })

  it('asks to sign in again when the session has ended', async (page) => {
    await page.signInByLink(tests.tenant)
    await page.context().clearCookies()
    await page.go('audit')
    await page.getByRole('alert').getByText('Your session has ended').waitFor()
  })

  it('works by keyboard: skip link, pages in order, and a dialog that Escape closes and that returns the focus', async (page) => {
    await page.signInByLink(tests.tenant)
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
      ...['Skip to content', 'Overview', 'Drift', 'Keys and secrets', 'Users', 'Webhooks', 'Capture page'],
      ...['Policy', 'Passkeys', 'Applications', 'Requests', 'Audit log', 'People', 'Sessions', 'Try it'],
      ...['Documentation', 'Dark theme', 'Sign out'],
    ])
    await page.go('keys')
    await page.button('Revoke sandbox keys').focus()
    for (const [open, leave] of [
      ['Enter', () => page.keyboard.press('Escape')],
      ['Space', () => page.button('Cancel').press('Enter')],
    ] as const) {
      await page.keyboard.press(open)
      await page.getByRole('dialog').waitFor()
      await page.inspectDialog()
      await leave()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect((await focused()).text).toBe('Revoke sandbox keys')
    }
    expect((await tests.tenant.sandbox.health()).status).toBe(200)
  })

  it('shows the audit log in pages that fit a phone, with the reason of a rejection in its row', async (page) => {
    const busy = await tests.running.tenant()
    const production = await tests.running.production(busy)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    await production.enroll({ user_id: 'ada', image: ada })
    for (let i = 0; i < 40; i++) await production.call('DELETE', '/v1/delete', { user_id: `nobody-${i}` })
    await production.verify({ user_id: 'ada', image: grace, action: 'x' })
    await page.resize('dark', 390)
    await page.signInByLink(busy, 'audit')
    const numbers = () => page.locator('tbody td:first-child').allTextContents()
    await expect.poll(numbers).toEqual(Array.from({ length: 20 }, (_, i) => String(43 - i)))
    // The newest entry is the sign-in to this page.
    await page.locator('tbody tr').nth(1).getByText('no_match').waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(3500)
    await page.inspect()
    await page.button('Older entries').click()
    await expect.poll(async () => (await numbers())[0]).toBe('23')
    await page.button('Older entries').click()
    await expect.poll(numbers).toEqual(['3', '2', '1'])
    expect(await page.button('Older entries').isDisabled()).toBe(true)
    await page.button('Newer entries').click()
    await expect.poll(async () => (await numbers())[0]).toBe('23')
    // Every time has its zone.
    expect(await page.locator('tbody time').first().textContent()).toMatch(/ (UTC|GMT|[A-Z]{2,5})\S*$/)
  })

  it('names tenant and purpose of every secret that is shown once', async (page) => {
    await page.signIn()
    await page.getByLabel('Name', { exact: true }).fill('acme')
    await page.getByLabel('Requests per second').fill('7')
    await page.button('Create').click()
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
    await page.inspect()
  })

  it('looks up a user, ends a lockout, and erases with a receipt', async (page) => {
    const own = await tests.running.tenant()
    const production = await tests.running.production(own)
    await lockOut(production)
    await page.resize('dark', 390)
    await page.signIn(`tenants/${own.id}/users`)
    await page.lookUp('nobody')
    await page.getByText('Not enrolled in production').waitFor()
    await page.lookUp('ada')
    await page.getByText('locked out').waitFor()
    await page.inspect()
    await page.button('Unlock').click()
    await page.getByRole('status').getByText('none', { exact: true }).waitFor()
    expect(await page.button('Unlock').count()).toBe(0)
    await page.button('Erase…').click()
    await page.answer('Erase forever').click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    await page.inspect()
    await page.lookUp('ada')
    await page.getByText('Not enrolled in production').waitFor()
  })

  it('adds a webhook, shows its deliveries in pages, sends one again and removes it, on a phone', async (page) => {
    await page.resize('light', 390)
    const own = await tests.running.tenant()
    const { url, receiver } = await receiverOfHooks()
    await page.signIn(`tenants/${own.id}/webhooks`)
    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByLabel('Address').fill(url)
    await page.getByLabel('Environment').selectOption('sandbox')
    await page.getByLabel('user.enrolled').check()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const webhooks = page.getByRole('region', { name: 'Webhooks' }).locator('tbody tr:not(.below)')
    await expect.poll(() => webhooks.allTextContents()).toEqual([expect.stringContaining('user.enrolled')])
    expect(await page.getByLabel('Address').inputValue()).toBe('')
    const { store } = tests.running.service.core
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < 24; i++)
        await tests.running.service.core.events.put(tx, {
          ...{ tenantId: own.id, environment: 'sandbox', type: 'user.enrolled', data: { i } },
        })
    })
    tests.running.clock.advance(1)
    await own.sandbox.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const delivered = async () =>
      (await store.read.statements(webhookReader).deliveriesOf(own.id, 100, { status: 'delivered' })).length
    await expect.poll(delivered, { timeout: 30_000 }).toBe(25)
    await page.getByRole('button', { name: 'Delivered', exact: true }).click()
    const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr')
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(20)
    await page.inspect()
    await page.button('Older deliveries').click()
    await expect.poll(() => rows.count()).toBe(5)
    await page.button('Newer deliveries').click()
    await expect.poll(() => rows.count()).toBe(20)
    await page.getByRole('button', { name: 'Failed', exact: true }).click()
    await page.getByText('No delivery is in this state').waitFor()
    await page.button('Test').click()
    await page.getByText('The endpoint accepted the test: 204').waitFor()
    await expect.poll(delivered, { timeout: 20_000 }).toBe(26)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    // Deliveries about users who are not enrolled were deleted after they succeeded.
    await expect.poll(() => page.button('Redeliver').count()).toBe(1)
    await page.button('Redeliver').click()
    const acts = async () =>
      (await store.read.auditEntries(own.id, 0, 100)).map(({ entry }) => JSON.parse(entry).event)
    await expect.poll(acts).toContain('webhook_redelivered')
    await page.button('Remove').click()
    await page.answer('Remove').click()
    await page.getByText('No webhooks yet').waitFor()
    receiver.close()
  })

  it.in(VIEWPORTS)('marks a failing webhook in the list, next to Test and under Failed', async (page) => {
    const own = await tests.running.tenant()
    const record = await tests.running.service.core.tenancy.find(own.id)
    const { url, receiver } = await receiverOfHooks()
    await new Promise((resolve) => receiver.close(resolve))
    await webhooksOf(tests.running.service).add(record, COMMAND_LINE, {
      url,
      environment: 'sandbox',
      events: [],
    })
    await page.signInByLink(own, 'webhooks')
    await page.button('Test').click()
    await page.getByText('The endpoint did not accept the test: ECONNREFUSED').waitFor()
    const webhooks = page.getByRole('region', { name: 'Webhooks' })
    await webhooks.getByText('failing', { exact: true }).waitFor()
    await webhooks.getByText('No delivery has succeeded yet.').waitFor()
    await page.getByRole('button', { name: 'Failed', exact: true }).click()
    await page.getByRole('region', { name: 'Deliveries' }).getByText('failed, will be retried').waitFor()
    await page.getByText('What the states mean').click()
    await page.inspect()
  })

  it.in(VIEWPORTS)(
    'leads from an error to its requests, by addresses for Back and as links',
    async (page) => {
      const own = await tests.running.tenant()
      const image = base64(await face('ada'))
      await own.sandbox.verify({ user_id: 'u+no_face', image, action: 'x' })
      await own.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
      await page.go(`login/${await loginToken(tests.running, own.id)}`)
      // Production is shown first, without the requests to the sandbox.
      await page.getByText('No requests in production within 1 hour').waitFor()
      await page.getByText('There were 2 in the sandbox.').waitFor()
      expect(await page.getByText('100 %').count()).toBe(0)
      await page.getByRole('button', { name: 'Sandbox', exact: true }).click()
      await page.getByText('100 % of verdicts').waitFor()
      expect(page.url()).toContain('environment=sandbox')
      await page.inspect()
      await page.getByRole('link', { name: 'face_not_found' }).click()
      const rows = page.getByRole('region', { name: 'Requests' }).locator('tbody tr:not(.below)')
      await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(1)
      await rows.first().getByText('u+no_face').waitFor()
      await page.button(/^More/).click()
      await page.getByText('API key').waitFor()
      // The page explains the code, and the filter uses the same word as the rows.
      await page.getByText('No face was found').first().waitFor()
      const explanation = page.getByRole('link', { name: '/errors#face_not_found' })
      expect(await explanation.getAttribute('href')).toMatch(/\/errors#face_not_found$/)
      await rows.first().getByText('refused (status 422)').waitFor()
      expect(await page.getByLabel('Outcome').locator('option:checked').textContent()).toBe('refused')
      await page.inspect()
      const shared = page.url()
      await page.button('Clear').click()
      await expect.poll(() => rows.count()).toBe(2)
      await page.goBack()
      await expect.poll(() => rows.count()).toBe(1)
      // An id is found in either environment, and the switch shows in which.
      const id = (await rows.first().locator('code').getAttribute('title'))!
      await page.go(`requests?environment=production&id=${id}`)
      const isChosen = (name: string) =>
        page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')
      await expect.poll(() => isChosen('Sandbox')).toBe('true')
      expect(await isChosen('Production')).toBe('false')
      // The switch then leads to the other environment without the id.
      await page.getByRole('button', { name: 'Production', exact: true }).click()
      await page.getByText('No requests in production yet').waitFor()
      const other = await tests.open(['light', page.width])
      await other.signInByLink(own)
      await other.goto(shared)
      await other.getByText('u+no_face').waitFor()
      expect(await other.getByLabel('Code or reason').inputValue()).toBe('face_not_found')
      await other.context().close()
    },
  )

  it('asks before “Try it” replaces a reference, and suggests no user for a production key', async (page) => {
    const own = await tests.running.tenant()
    const production = await tests.running.production(own)
    const image = base64(await face('ada'))
    const first = (await production.enroll({ user_id: 'ada', image })).body.reference_id
    const reference = async () =>
      (await production.call('GET', '/v1/users/ada')).body.reference.reference_id as string
    await page.signInByLink(own, 'try')
    await page.getByLabel('API key').fill(own.sandboxKey)
    expect(await page.getByLabel('User id').inputValue()).toBe('ada')
    await page.getByLabel('API key').fill(production.key)
    expect(await page.getByLabel('User id').inputValue()).toBe('')
    await page.getByLabel('Photo to enroll').setInputFiles(await photo('ada'))
    const enroll = page.button('Enroll this photo')
    expect(await enroll.isDisabled()).toBe(true)
    await page.getByLabel('User id').fill('ada')
    await enroll.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Replace the reference of ada?').waitFor()
    await page.inspectDialog()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('already_enrolled').first().waitFor()
    expect(await reference()).toBe(first)
    await enroll.click()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await expect.poll(reference, { timeout: 20_000 }).not.toBe(first)
  })

  it('offers a tenant neither a form for webhooks nor a button that ends a lockout', async (page) => {
    const own = await tests.running.tenant()
    await lockOut(await tests.running.production(own))
    await page.signInByLink(own, 'webhooks')
    await page.getByText('The operator of this service adds the address').waitFor()
    expect(await page.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0)
    await page.go('users')
    await page.lookUp('ada')
    await page.getByText('locked out').waitFor()
    expect(await page.button('Unlock').count()).toBe(0)
    expect(await page.button('Erase…').count()).toBe(1)
  })

  it('says that an unknown address has no page', async (page) => {
    await page.signInByLink(tests.tenant)
    for (const path of ['nothing', 'tenants', 'audit/more']) {
      await page.go(path)
      await page.heading(1, 'No such page').waitFor()
    }
    await page.getByRole('link', { name: 'Go to the first page' }).click()
    await page.heading(1, /Overview/).waitFor()
  })

  it('enrols three photos and verifies another, on a phone', async (page) => {
    await page.resize('dark', 390)
    const own = await tests.running.tenant()
    const { key } = await tests.running.production(own)
    await page.signInByLink(own, 'try')
    await page.getByLabel('API key').fill(key)
    await page.getByLabel('User id').fill('ada')
    const toEnroll = page.getByLabel('Photo to enroll')
    await toEnroll.setInputFiles(await photo('ada'))
    await page.getByText('1 of 3 photos').waitFor()
    await toEnroll.setInputFiles([await photo('adaToday'), await photo('ada')])
    await page.getByRole('list', { name: '3 photos to enroll' }).waitFor()
    await page.button('Enroll these 3 photos').click()
    const answers = page.locator('.answer')
    await answers.getByText('enrolled', { exact: true }).waitFor()
    expect(await answers.getByText('Photos in the reference').locator('..').textContent()).toBe(
      'Photos in the reference3',
    )
    await page.getByLabel('Photo to verify').setInputFiles(await photo('adaElsewhere'))
    await page.button('Verify this photo').click()
    await answers.getByText('approved', { exact: true }).waitFor()
    expect(await answers.getByText('suspected', { exact: true }).count()).toBe(0)
    await page.inspect()
    await page.button('Start over').click()
    await page.getByText('No photo yet').waitFor()
  })

  it('filters the audit log', async (page) => {
    const own = await tests.running.tenant()
    const production = await tests.running.production(own)
    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    await production.verify({ user_id: 'ada', image, action: 'x' })
    await page.signInByLink(own, 'audit')
    const rows = page.locator('tbody tr')
    // The entries are two calls and the sign-in.
    await expect.poll(() => rows.count()).toBe(3)
    await page.getByLabel('Outcome').selectOption('approved')
    await page.lookUp('ada')
    await expect.poll(() => rows.count()).toBe(1)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export JSON Lines' }).click()
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).verdict)).toEqual(['approved'])
    await page.lookUp('nobody')
    await page.getByText('No such user').waitFor()
  })

  it('rotates the secret and counts down the overlap', async (page) => {
    await page.signInByLink(tests.tenant, 'keys')
    await page.button('Rotate the signing secret').click()
    await page.locator('.reveal').waitFor()
    expect(await page.locator('.reveal code').allTextContents()).toEqual([
      expect.stringMatching(/^svc-sec-/),
      expect.stringMatching(/^sec_/),
      tests.tenant.id,
    ])
    expect(await page.getByRole('timer').textContent()).toMatch(/^\d+:\d\d$/)
    await page.getByText('No request since the rotation has sent the id of its secret.').waitFor()
    const { secrets, store } = tests.running.service.core
    const { outgoing, incoming } = await secrets.active(store.read, tests.tenant.id)
    for (const { id } of [outgoing, incoming!, incoming!])
      await tests.tenant.sandbox.call('GET', '/v1/health', undefined, {
        headers: { 'X-Svc-Signing-Key-Id': id },
      })
    await page.getByRole('img', { name: /new secret 2, old secret 1,/ }).waitFor()
    await page.getByText('The id of the old secret was last sent just now.').waitFor()
  })

  it('shows the face, the verdict, the signature and the JWT of a tried photo', async (page) => {
    await page.signInByLink(tests.tenant, 'try')
    await page.getByLabel('API key').fill(tests.tenant.sandboxKey)
    await page.getByLabel('User id').fill('u+match')
    await page.getByLabel('Photo to verify').setInputFiles(await photo('ada'))
    await page.getByRole('img', { name: 'Detected face and landmarks' }).waitFor()
    await page.button('Verify this photo').click()
    const answer = page.locator('.answer')
    await answer.getByText('approved', { exact: true }).waitFor()
    expect(await answer.getByText('valid', { exact: true }).count()).toBe(2)
  })

  it.in('light 390, dark 390')(
    'renders an accessible API reference under its content policy',
    async (page) => {
      await page.goto(`${tests.url}/docs/api`)
      await page.getByText('/v1/keys/rotate-signing').first().waitFor()
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(background).toBe(page.scheme === 'dark' ? 'rgb(14, 17, 23)' : 'rgb(247, 248, 250)')
      await page.getByText('/v1/verify').first().click()
      await page.getByText('Runs a step-up check').waitFor()
      await page.inspect()
    },
  )

  it('sends the examples of the API reference to the sandbox and forgets the key, on a phone', async (page) => {
    await page.resize('dark', 360)
    const { sandboxKey, secret } = await tests.running.tenant()
    await page.goto(`${tests.url}/docs/api`)
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
      expect(await operation.locator('.request-url').textContent()).toContain(
        tests.running.service.url('sandbox'),
      )
      await page.inspect()
      await operation.locator('.opblock-summary').click()
    }
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('svc-')
    await page.reload()
    expect(await page.getByLabel('Sandbox key').inputValue()).toBe('')
  })
})
