/** The page Models in a real browser: a change of the model pack from its beginning to its end. */

import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { driftWriter } from '../../src/features/insight/drift/drift-table.js'
import { DAY_MS } from '../../src/lib/clock.js'
import { base64, face } from '../support/faces.js'
import { finishChange, NEW, OLD, startWithTwoPacks } from './console.js'
import { inChromiumWith, VIEWPORTS } from './page-tests.js'

const unknown = { fnmr: null, fnmr_ci95: [0, 1] as [number, number] }

const start = () =>
  startWithTwoPacks([
    { fmr: 1e-4, threshold: 0.7, measured_fmr: 5e-5, fmr_ci95: [1e-5, 9.8e-5], ...unknown },
    {
      ...{ fmr: 1e-5, threshold: 0.75, basis: 'extrapolated', measured_fmr: 5e-6 },
      ...{ fmr_ci95: [1e-6, 9.8e-6], ...unknown },
    },
  ])

inChromiumWith(start)('the page Models', (it, tests) => {
  beforeAll(async () => {
    const production = await tests.running.production(tests.tenant)
    const image = base64(await face('ada'))
    for (const user_id of ['ada', 'late']) await production.enroll({ user_id, image })
  })

  const change = (page: Page) =>
    page.locator('.card', { has: page.getByRole('heading', { name: 'Change of the pack' }) })
  const rowOf = (page: Page) =>
    page.getByRole('region', { name: 'Tenants' }).getByRole('row', { name: new RegExp(tests.tenant.name) })

  it.in(VIEWPORTS)('shows the packs and leads through a change', async (page) => {
    page.tolerate('409')
    await page.signIn('models')
    await page.getByText('No change is under way.').waitFor()
    const rates = page.getByRole('region', { name: `Rates of ${OLD}` })
    await rates.getByText('extrapolated').waitFor()
    await page.getByText('Not measured on your own users').waitFor()
    await page.inspect('models')

    await page.button('Begin…').click()
    await page.getByLabel('Move for a tenant at percent of its users').fill('90')
    await page.inspect('models-begin')
    await page.answer('Begin').click()
    await change(page).getByText('at 90 % of a tenant’s users').waitFor()
    await rowOf(page).getByText('0.0 %').waitFor()
    await page.inspect('models-under-way')

    await page.button('Move the decision…').click()
    await page.getByText('2 users have no template').waitFor()
    await page.answer('Move').click()
    await page.getByText('Too few users have a template').waitFor()
    await page.button('Move the decision…').click()
    await page.getByRole('checkbox').check()
    await page.inspect('models-decide')
    await page.answer('Move').click()
    await rowOf(page).getByText(NEW).waitFor()
    await page.button('Move it back…').click()
    await page.getByRole('checkbox').check()
    await page.answer('Move back').click()
    await rowOf(page).getByText(OLD).waitFor()

    await page.button('Finish…').click()
    expect(await page.answer('Delete forever').isDisabled()).toBe(true)
    await page.getByRole('textbox').fill(NEW)
    await page.inspect('models-finish')
    await page.answer('Delete forever').click()
    await change(page).getByText('finishing').waitFor()
    await finishChange(tests.running)
    await page.reload()
    await page.getByText('No change is under way.').waitFor()
  })

  it('offers no step to a viewer', async (page) => {
    const { password } = await tests.running.operations.operators.add('vera', 'viewer', COMMAND_LINE)
    await page.signIn('models', password, 'vera')
    await page.getByText('No change is under way.').waitFor()
    expect(await page.button('Begin…').count()).toBe(0)
  })

  it('begins a new reference of drift at the page of a tenant', async (page) => {
    const counts = { scores: {}, quality: {}, outcomes: { approved: 3 }, thresholds: {} }
    const at = tests.running.clock.now() - (tests.running.clock.now() % DAY_MS)
    await tests.running.service.core.store.transaction('installation', (tx) =>
      tx.statements(driftWriter).put({
        ...{ tenantId: tests.tenant.id, model: OLD, at, counts: JSON.stringify(counts) },
        blocks: JSON.stringify([{ at, counts }]),
      }),
    )
    await page.signIn('models')
    await page.getByRole('link', { name: `Drift of ${tests.tenant.name}` }).click()
    await page.button('Begin a new reference…').click()
    await page.answer('Begin').click()
    await page.getByText('Verifications are compared from').waitFor()
    await page.inspect('drift-restarted')
  })
})
