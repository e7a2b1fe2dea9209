/** The page Models in a real browser: a change of the model pack from its beginning to its end. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { driftWriter } from '../../src/features/insight/drift/drift-table.js'
import { DAY_MS, MINUTE_MS } from '../../src/lib/clock.js'
import { CHROMIUM, launchBrowser, loaded, openPage } from '../support/browser.js'
import { base64, face } from '../support/faces.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { writeCalibration, writeShiftedPack } from '../support/packs.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { checkPage, VIEWPORTS } from './page-tests.js'

const OLD = 'baseline@1.0.0'
const NEW = 'shifted@1.0.0'

describe.skipIf(!CHROMIUM)('the page Models in Chromium', () => {
  let folder: string
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-models-pages-'))
    const models = join(folder, 'models')
    await cp(inject('modelsDir'), models, { recursive: true })
    const baseline = join(models, 'baseline')
    const unknown = { fnmr: null, fnmr_ci95: [0, 1] as [number, number] }
    await writeCalibration(join(baseline, 'calibration.json'), baseline, {
      source: 'users',
      data: {
        ...{ photos: 900, people: 600, genuine_pairs: 0, impostor_pairs: 179_700 },
        ...{ failed_to_acquire: 0, likely_duplicates: 2 },
      },
      points: [
        { fmr: 1e-4, threshold: 0.7, measured_fmr: 5e-5, fmr_ci95: [1e-5, 9.8e-5], ...unknown },
        {
          ...{ fmr: 1e-5, threshold: 0.75, basis: 'extrapolated', measured_fmr: 5e-6 },
          ...{ fmr_ci95: [1e-6, 9.8e-6], ...unknown },
        },
      ],
    })
    await writeShiftedPack(join(folder, 'shifted'), inject('modelsDir'))
    running = await startService(
      {
        COUNTERSIGN_MODELS_DIR: models,
        COUNTERSIGN_FOLLOWING_PACKS: join(folder, 'shifted'),
        COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
      },
      { ownEngine: true },
    )
    tenant = await running.tenant()
    const production = await running.production(tenant)
    const image = base64(await face('ada'))
    for (const user_id of ['ada', 'late']) await production.enroll({ user_id, image })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const answer = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })
  const change = (page: Page) =>
    page.locator('.card', { has: page.getByRole('heading', { name: 'Change of the pack' }) })
  const rowOf = (page: Page) =>
    page.getByRole('region', { name: 'Tenants' }).getByRole('row', { name: new RegExp(tenant.name) })

  async function signIn(page: Page): Promise<void> {
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/models`)
    await loaded(page)
  }

  for (const [scheme, width] of VIEWPORTS)
    it(`shows the packs and leads through a change (${scheme}, ${width} px)`, async () => {
      const name = `models-${scheme}-${width}`
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      await signIn(page)
      await page.getByText('No change is under way.').waitFor()
      const rates = page.getByRole('region', { name: `Rates of ${OLD}` })
      await rates.getByText('extrapolated').waitFor()
      await page.getByText('Not measured on your own users').waitFor()
      await checkPage(page, name)

      await button(page, 'Begin…').click()
      await page.getByLabel('Move for a tenant at percent of its users').fill('90')
      await checkPage(page, `${name}-begin`)
      await answer(page, 'Begin').click()
      await change(page).getByText('at 90 % of a tenant’s users').waitFor()
      await rowOf(page).getByText('0.0 %').waitFor()
      await checkPage(page, `${name}-under-way`)

      await button(page, 'Move the decision…').click()
      await page.getByText('2 users have no template').waitFor()
      await answer(page, 'Move').click()
      await page.getByText('Too few users have a template').waitFor()
      await button(page, 'Move the decision…').click()
      await page.getByRole('checkbox').check()
      await checkPage(page, `${name}-decide`)
      await answer(page, 'Move').click()
      await rowOf(page).getByText(NEW).waitFor()
      await button(page, 'Move it back…').click()
      await page.getByRole('checkbox').check()
      await answer(page, 'Move back').click()
      await rowOf(page).getByText(OLD).waitFor()

      await button(page, 'Finish…').click()
      expect(await answer(page, 'Delete forever').isDisabled()).toBe(true)
      await page.getByRole('textbox').fill(NEW)
      await checkPage(page, `${name}-finish`)
      await answer(page, 'Delete forever').click()
      await change(page).getByText('finishing').waitFor()
      running.clock.advance(2 * MINUTE_MS)
      await operationsOf(running.service).modelSweep.advance(() => true)
      await page.reload()
      await page.getByText('No change is under way.').waitFor()
      expect(errors.filter((error) => !error.includes('409'))).toEqual([])
      await page.context().close()
    }, 90_000)

  it('offers no step to a viewer', async () => {
    const { password } = await operationsOf(running.service).operators.add('vera', 'viewer', COMMAND_LINE)
    const { page, errors } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await page.goto(running.service.adminUrl)
    await page.getByLabel('User name', { exact: true }).fill('vera')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/models`)
    await page.getByText('No change is under way.').waitFor()
    expect(await button(page, 'Begin…').count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('begins a new reference of drift at the page of a tenant', async () => {
    const counts = { scores: {}, quality: {}, outcomes: { approved: 3 }, thresholds: {} }
    const at = running.clock.now() - (running.clock.now() % DAY_MS)
    await running.service.core.store.transaction('installation', (tx) =>
      tx.statements(driftWriter).put({
        ...{ tenantId: tenant.id, model: OLD, at, counts: JSON.stringify(counts) },
        blocks: JSON.stringify([{ at, counts }]),
      }),
    )
    const { page, errors } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page)
    await page.getByRole('link', { name: `Drift of ${tenant.name}` }).click()
    await button(page, 'Begin a new reference…').click()
    await answer(page, 'Begin').click()
    await page.getByText('Verifications are compared from').waitFor()
    await checkPage(page, 'drift-restarted')
    expect(errors).toEqual([])
    await page.context().close()
  })
})
