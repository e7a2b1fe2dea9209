/** The console of a service that is started without this feature: it shows what the database still has, and otherwise nothing. */
import { expect, it } from 'vitest'
import { FEATURES } from '../../../src/features/index.js'
import { signIn } from '../../support/dashboard.js'
import { base64, face } from '../../support/faces.js'
import { scrape } from '../../support/metrics.js'
import { OPERATOR_PASSWORD } from '../../support/operator.js'
import { startService } from '../../support/service.js'

it('nothing is counted or logged, and the dashboard answers as if no request had come, where it is taken out', async () => {
  const running = await startService({}, { features: FEATURES.filter(({ name }) => name !== 'insight') })
  try {
    const tenant = await running.tenant()
    const image = base64(await face('ada'))
    expect((await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })).status).toBe(200)
    expect(await scrape(running)).not.toMatch(/countersign_(?:drift|shadow)_/)
    await running.restart()
    const session = await signIn(running, { password: OPERATOR_PASSWORD })
    const asked = async (path: string) => (await session.call('GET', `/tenants/${tenant.id}/${path}`)).body
    expect(await asked('traffic?window=week')).toMatchObject({ window: 'week', slots: [] })
    expect(await asked('drift')).toEqual({ models: [] })
    expect(await asked('requests?environment=sandbox')).toMatchObject({ requests: [], next_before: null })
  } finally {
    await running.stop()
  }
})
