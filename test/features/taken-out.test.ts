/** Holds each feature to being one line of the list: without it, and without all of them, the service starts and keeps the promises of the law. */
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config.js'
import { addressVariable } from '../../src/config/listener-settings.js'
import type { ListedFeature } from '../../src/features/feature.js'
import { descriptionsOf } from '../../src/features/feature-parts.js'
import { FEATURES, loadFeatures } from '../../src/features/index.js'
import { callbackReader } from '../../src/features/openid/openid-tables.js'
import { expectSigned } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { serviceOfTest, type TestService } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const loaded = await loadFeatures()
const action = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }

/** A path of each endpoint with some value for each parameter. */
const pathOf = (template: string) => template.replaceAll(/\{\w+\}/g, 'some')

/** Holds a service to the promises of every installation: its five endpoints, signed answers, idempotency, an audit log and a rotation. */
async function expectTheLaw(running: TestService): Promise<void> {
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  const photo = base64(await face('ada'))
  const kept = { headers: { 'X-Svc-Idempotency-Key': 'once' } }
  const enrolled = await production.enroll({ user_id: 'ada', image: photo }, kept)
  expect(enrolled.status).toBe(201)
  expect((await production.enroll({ user_id: 'ada', image: photo }, kept)).text).toBe(enrolled.text)
  const verified = await production.verify({ user_id: 'ada', image: base64(await face('adaToday')), action })
  expect(verified.body).toMatchObject({ verdict: 'approved', reason: null })
  expectSigned(verified, tenant)
  expect(decodeJwt(verified.body.jwt, tenant.secret.secret)).toMatchObject({
    valid: true,
    claims: { sub: 'ada', action, verdict: 'approved' },
  })
  const stranger = await production.verify({ user_id: 'ada', image: base64(await face('grace')), action })
  expect(stranger.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
  expect((await production.rotate({})).status).toBe(200)
  expect((await production.health()).body).toMatchObject({ status: 'ok' })
  await expectTheSandbox(tenant.sandbox)
  expect((await production.erase('ada')).status).toBe(200)
  expect((await production.verify({ user_id: 'ada', image: photo, action })).body).toMatchObject({
    code: 'reference_not_found',
  })
  const { body } = await production.call('GET', '/v1/audit')
  const events = body.data.map(({ event }: { event: string }) => event)
  for (const event of ['enroll', 'verify', 'rotate_signing', 'delete']) expect(events).toContain(event)
}

async function expectTheSandbox(sandbox: ApiClient): Promise<void> {
  const photo = base64(await face('ada'))
  expect((await sandbox.verify({ user_id: 'ada+match', image: photo, action })).body).toMatchObject({
    verdict: 'approved',
  })
  expect((await sandbox.verify({ user_id: 'ada+no_match', image: photo, action })).body).toMatchObject({
    reason: 'no_match',
  })
}

describe('a service with some of its features', () => {
  const only = (name: string) => FEATURES.filter((one) => one.name === name)
  const lists: Array<[string, readonly ListedFeature[]]> = [
    ['without any', []],
    ['with the documents of the API alone', only('api-documents')],
    ...FEATURES.map((one): [string, ListedFeature[]] => [
      `without ${one.name}`,
      FEATURES.filter((other) => other !== one && !other.needs?.includes(one.name)),
    ]),
  ]
  it.each(lists)('%s keeps the law, and knows no endpoint that went', async (_, features) => {
    const running = await serviceOfTest({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' }, { features })
    await expectTheLaw(running)
    const tenant = await running.tenant()
    const { body: document } = await running.anonymous('sandbox').call('GET', '/v1/openapi.json')
    const isDescribed = features.includes(only('api-documents')[0]!)
    expect(document.code).toBe(isDescribed ? undefined : 'unknown_endpoint')
    for (const feature of FEATURES)
      for (const { method, path } of descriptionsOf(await feature.load(), loaded)) {
        const isThere = features.includes(feature)
        if (isDescribed) expect(path in document.paths, path).toBe(isThere)
        const json = method === 'POST' ? {} : undefined
        const { body } = await tenant.sandbox.call(method, pathOf(path), json)
        expect(body.code === 'unknown_endpoint', path).toBe(!isThere)
      }
  })

  const withListener = loaded.flatMap(({ listener }) => listener ?? [])
  const addresses = Object.fromEntries(
    withListener.map((listener) => [addressVariable(listener), '127.0.0.1:0']),
  )
  it.each(withListener)('opens no listener “%s” without its feature, and the others serve', async (gone) => {
    const features = FEATURES.filter((_, index) => loaded[index]!.listener !== gone)
    const running = await serviceOfTest(addresses, { features })
    const { service } = running
    for (const listener of withListener) {
      const isThere = listener !== gone
      expect(listener in service.addresses, listener).toBe(isThere)
      const origin = service.origin(listener)
      expect(origin !== null, listener).toBe(isThere)
      if (origin !== null) expect((await fetch(origin)).status, listener).toBe(404)
    }
    expect((await (await running.production(await running.tenant())).health()).status).toBe(200)
  })

  const needing = FEATURES.flatMap(({ name, needs = [] }) => needs.map((needed) => [name, needed] as const))
  it.each(needing)(
    'does not start with “%s” and without “%s”, and says so in one line',
    async (name, needed) => {
      const starting = serviceOfTest({}, { features: FEATURES.filter((one) => one.name !== needed) })
      await expect(starting).rejects.toThrow(
        `The feature ${name} needs the feature ${needed}, which is not listed.`,
      )
      await expect(starting).rejects.toThrow(ConfigError)
    },
  )

  it('reads callbacks of the OpenID provider also where no capture sessions are, for which they wait', async () => {
    const features = FEATURES.filter(({ name }) => name !== 'capture-sessions')
    const running = await serviceOfTest({}, { features })
    const { read } = running.service.core.store
    expect(await read.statements(callbackReader).due(running.clock.now(), 1)).toEqual([])
  })
})
