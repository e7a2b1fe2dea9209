/** The parts that all pages of the dashboard share, in a real browser: titles, times, focus, and the texts of empty lists. */

import { expect } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { FEATURES } from '../../src/features/index.js'
import { loaded } from '../support/browser.js'
import { serviceOfTest } from '../support/service.js'
import { inChromium, VIEWPORTS } from './page-tests.js'

inChromium('every page', (it, tests) => {
  it('shows the tenant in its heading and its title', async (page) => {
    await page.signIn(`tenants/${tests.tenant.id}/keys`)
    await page.heading(1, tests.tenant.name).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      `Keys and secrets · ${tests.tenant.name}`,
    )
    await expect.poll(() => page.title()).toBe(`Keys and secrets · ${tests.tenant.name} · Countersign`)
  })

  it('offers no page of a feature that the service lacks, and shows the tenant without its traffic', async () => {
    const features = FEATURES.filter(({ name }) => !['insight', 'policies', 'webhooks'].includes(name))
    const less = await serviceOfTest({}, { features })
    const { id, name } = await less.tenant()
    const page = await tests.open(undefined, { running: less })
    await page.signIn(`tenants/${id}/overview`)
    await page.heading(2, 'Tenant').waitFor()
    const offered = await page.getByRole('list', { name }).getByRole('link').allTextContents()
    expect(offered).toEqual([
      ...['Overview', 'Keys and secrets', 'Users', 'Capture page', 'Passkeys', 'Applications'],
      ...['Audit log', 'People', 'Sessions', 'Try it'],
    ])
    await page.go(`tenants/${id}/policy`)
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor()
    expect(page.errors).toEqual([])
    await page.context().close()
  })

  it('starts without an error in the console, and reveals a typed password on request', async (page) => {
    await page.goto(tests.url)
    const password = page.getByLabel('Password', { exact: true })
    await password.fill('what I typed')
    expect(await password.getAttribute('type')).toBe('password')
    await page.button('Show password').click()
    expect(await password.getAttribute('type')).toBe('text')
    await page.inspect()
  })

  it('shows times in the 24-hour format, in the computer’s zone or in UTC as the reader chooses', async () => {
    const page = await tests.open(undefined, { timezoneId: 'Asia/Tokyo', locale: 'en-US' })
    await page.signIn('system')
    const since = page.locator('time').first()
    await since.waitFor()
    const iso = (await since.getAttribute('datetime'))!
    const [day, rest] = [iso.slice(0, 10), iso.slice(11, 19)]
    expect(await since.textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+9$/)
    await page.button('Times in UTC').click()
    await expect.poll(() => since.textContent()).toBe(`${day} ${rest} UTC`)
    await page.reload()
    await expect.poll(() => since.textContent()).toBe(`${day} ${rest} UTC`)
    await page.context().close()
  })

  it('returns the focus to the button that was pressed', async (page) => {
    await page.signIn(`tenants/${tests.tenant.id}/users`)
    await page.getByLabel('User id').fill('nobody')
    const lookUp = page.button('Look up')
    await lookUp.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Not enrolled in production').waitFor()
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Look up')
  })

  for (const [name, path] of [
    ['requests', 'requests?*'],
    ['audit', 'audit?*'],
    ['webhooks', 'webhooks/deliveries?*'],
  ] as const)
    it(`offers a retry on the page ${name} when only its list cannot be loaded`, async (page) => {
      page.tolerate('ERR_FAILED')
      await page.signIn()
      const address = `**/api/tenants/*/${path}`
      await page.route(address, (route) => route.abort())
      await page.go(`tenants/${tests.tenant.id}/${name}`)
      const retry = page.button('Retry')
      await retry.waitFor()
      await page.unroute(address)
      await retry.click()
      await retry.waitFor({ state: 'detached' })
    })

  it('offers a retry when the service cannot be reached, on the first page and on any other', async (page) => {
    page.tolerate('ERR_FAILED')
    await page.signIn()
    const retry = page.button('Retry')
    await page.route('**/api/**', (route) => route.abort())
    await page.go('operators')
    await page.getByText('The service cannot be reached.').waitFor()
    await retry.waitFor()
    expect(await page.getByText('Loading…').count()).toBe(0)
    await page.unroute('**/api/**')
    await retry.click()
    await page.getByText('No operators with a name yet').waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.reload()
    await retry.waitFor()
    await page.unroute('**/api/**')
    await retry.click()
    await page.getByText('No operators with a name yet').waitFor()
  })

  it('reports an unknown tenant, and a page that the role may not open', async (page) => {
    const { password } = await tests.running.operations.operators.add('vera', 'viewer', COMMAND_LINE)
    await page.signIn('tenants', password, 'vera')
    page.tolerate('404')
    for (const id of ['ten_nobody', `ten_${'0'.repeat(32)}`]) {
      await page.go(`tenants/${id}/overview`)
      await page.getByRole('heading', { name: 'There is no such tenant' }).waitFor()
      await loaded(page)
    }
    await page.go(`tenants/${tests.tenant.id}/try`)
    await page.getByRole('heading', { name: 'Your role may not open this page' }).waitFor()
    await page.inspect()
  })

  it.in(VIEWPORTS)('shows disk, backup, certificates and calibration on the page System', async (page) => {
    await page.signIn('system')
    await page.getByText('Free on the disk').waitFor()
    await page.getByText('Last backup').waitFor()
    await page.getByText('Certificate, admin').waitFor()
    expect(await page.getByRole('region', { name: 'Calibration' }).getByText('in use').count()).toBe(1)
    await page.inspect('system')
    if (page.width === 390) {
      const heights = await page
        .locator('nav a:visible, nav button:visible')
        .evaluateAll((all) =>
          all.map((one) => one.getBoundingClientRect().height).filter((height) => height > 1),
        )
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
    }
  })
})
