/** A service without this feature: the contract decides, even for a tenant whose policy is in the database. */
import { expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { FEATURES } from '../../../src/features/index.js'
import { base64, face } from '../../support/faces.js'
import { setPolicy } from '../../support/policies.js'
import { serviceOfTest } from '../../support/service.js'

it('decides by the contract, and reads no policy, where it is taken out', async () => {
  const running = await serviceOfTest({}, { features: FEATURES.filter(({ name }) => name !== 'policies') })
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  // A service that has the feature makes its tables, as does a command.
  const core = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: running.dataDir }))
  await setPolicy({ service: { core }, clock: running.clock }, tenant.id, {
    rules: [{ name: 'strict', require: { min_photos: 2, second_approver: { within_minutes: 5 } } }],
    retention: { inactive_days: 2, notice_days: 1 },
  })
  await core.store.close()
  // Each read of the policy would fail from now on.
  await running.database.query("UPDATE policy_version SET policy = 'broken'")
  expect((await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })).status).toBe(201)
  const image = base64(await face('adaToday'))
  for (const { body } of [
    await production.verify({ user_id: 'ada', image, action: 'x' }),
    await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' }),
  ]) {
    expect(body.verdict).toBe('approved')
    expect(Object.keys(body).filter((name) => /^policy_|^approval_/.test(name))).toEqual([])
  }
  const challenge = { user_id: 'ada', action: 'x', modes: [] }
  expect((await production.call('POST', '/v1/challenges', challenge)).status).toBe(201)
  const unknown = await production.verify({ user_id: 'ada', image, action: 'x', approval_id: 'ver_1' })
  expect(unknown.body.code).toBe('invalid_request')
  expect(await running.database.query('SELECT * FROM user_activity')).toEqual([])
})
