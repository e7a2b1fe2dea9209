/** A service without public verdicts, whose answers, documents and database know nothing of them, and one with nothing else. */
import { expect, it } from 'vitest'
import { clusterSettings } from '../../../src/app/cluster-settings.js'
import { FEATURES } from '../../../src/features/index.js'
import { blank } from '../../support/images.js'
import { serviceOfTest } from '../../support/service.js'

const NAME = 'public-verdicts'

it('signs verdicts for the tenant only, publishes no keys and keeps none', async () => {
  const features = FEATURES.filter(({ name, needs = [] }) => name !== NAME && !needs.includes(NAME))
  const running = await serviceOfTest({}, { features })
  const tenant = await running.tenant()
  const { body } = await tenant.sandbox.verify({
    user_id: 'ada+match',
    image: blank,
    action: 'x',
  })
  expect(body).toMatchObject({ verdict: 'approved', jwt: expect.any(String), jwt_next: null })
  expect(body).not.toHaveProperty('jwt_public')
  const anybody = running.anonymous('sandbox')
  for (const document of ['jwks.json', 'openid-configuration'])
    expect((await anybody.call('GET', `/v1/.well-known/${document}`)).status).toBe(404)
  const { text } = await anybody.call('GET', '/v1/openapi.json')
  expect(text).not.toMatch(/jwt_public|well-known/)
  expect(running.service.core.store.tables.map(({ name }) => name)).not.toContain('verdict_key')
})

it('signs publicly in a service without any other feature, and has the cluster compare the life of its keys', async () => {
  const features = FEATURES.filter(({ name }) => name === NAME)
  const running = await serviceOfTest({}, { features })
  const tenant = await running.tenant()
  const { body } = await tenant.sandbox.verify({
    user_id: 'ada+match',
    image: blank,
    action: 'x',
  })
  expect(body.jwt_public.split('.')[1]).toBe(body.jwt.split('.')[1])
  const { config, engine } = running.service
  const { features: attached } = Reflect.get(running.service, 'work')
  const listeners = { url: () => '', adminUrl: '', ofFeatures: [], origin: () => null }
  expect(clusterSettings(config, engine, listeners as never, attached)).toMatchObject({
    COUNTERSIGN_VERDICT_KEY_DAYS: '90',
  })
})
