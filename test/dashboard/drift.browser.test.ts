/** The page Drift in a real browser: an alarm, and a tenant without verifies. */
import { pino } from 'pino'
import { expect } from 'vitest'
import { DriftRecorder } from '../../src/features/insight/drift/drift-recorder.js'
import { DAY_MS, ManualClock } from '../../src/lib/clock.js'
import { SimulatedVerifies } from '../features/insight/drift/simulated-verifies.js'
import type { TestTenant } from '../support/service.js'
import { inChromium, VIEWPORTS } from './page-tests.js'

inChromium('the page Drift', (it, tests) => {
  /** Counts five weeks of sharp pictures, and then some that are blurred. */
  async function fill(tenant: TestTenant): Promise<void> {
    const { service, clock: serviceClock } = tests.running
    const now = serviceClock.now()
    const stream = new SimulatedVerifies(
      { people: 1, perDay: 100, seed: 3, recorded: true },
      now - 37 * DAY_MS,
    )
    const clock = new ManualClock(stream.now)
    const recorder = new DriftRecorder({
      ...{ store: service.core.store, clock, log: pino({ level: 'silent' }) },
      modelOf: () => service.engine.pack.modelId,
    })
    const send = async (verifies: number) => {
      for (const verify of stream.verifies(verifies)) {
        clock.jump(stream.now - clock.now())
        recorder.observe({ ...verify, tenantId: tenant.id })
      }
      await recorder.save()
    }
    while (stream.now < now - 2 * DAY_MS) await send(25)
    stream.change = { quality: 1, score: 1 }
    await send(150)
  }

  it.in(VIEWPORTS)('shows what differs from the month before', async (page) => {
    const tenant = await tests.running.tenant()
    await page.signInByLink(tenant, 'drift')
    await page.getByText('No verification in production within five weeks').waitFor()
    await fill(tenant)
    await page.reload()
    const row = page
      .getByRole('region', { name: 'Comparisons' })
      .getByRole('row', { name: /Quality, latest/ })
    await row.getByText('alarm').waitFor()
    const quality = page.locator('.card', { has: page.getByRole('heading', { name: 'Quality' }) })
    await quality.getByText('Show as table').click()
    const names = await quality.getByRole('table').last().getByRole('columnheader').allInnerTexts()
    expect(names).toEqual(['Quality', 'Month before, %', '7 days, %', 'Latest, %'])
    await page.inspect('drift')
  })
})
