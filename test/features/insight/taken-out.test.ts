/** The dashboard of a service that is started without this feature. */
import { expect, it } from 'vitest'
import { FEATURES } from '../../../src/features/index.js'
import { signIn } from '../../support/dashboard.js'
import { base64, face } from '../../support/faces.js'
import { scrape } from '../../support/metrics.js'
import { OPERATOR_PASSWORD } from '../../support/operator.js'
import { serviceOfTest } from '../../support/service.js'

it('nothing is counted or logged, and the dashboard has no addresses for it, where it is taken out', async () => {
  const running = await serviceOfTest({}, { features: FEATURES.filter(({ name }) => name !== 'insight') })
  const tenant = await running.tenant()
  const image = base64(await face('ada'))
  expect((await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })).status).toBe(200)
  expect(await scrape(running)).not.toMatch(/countersign_(?:drift|shadow)_/)
  await running.restart()
  const session = await signIn(running, { password: OPERATOR_PASSWORD })
  for (const path of ['traffic?window=week', 'drift', 'requests?environment=sandbox']) {
    const { status, body } = await session.call('GET', `/tenants/${tenant.id}/${path}`)
    expect([status, body.code], path).toEqual([404, 'unknown_endpoint'])
  }
})
