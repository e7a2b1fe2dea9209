/** Tests of a service without webhooks: what happens to its users is sent to nobody, and costs no look for a receiver. */
import { expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { type DomainEvent, Events, type Subscriber } from '../../../src/events/events.js'
import { FEATURES } from '../../../src/features/index.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { photosOf } from '../../support/faces.js'
import { serviceOfFile } from '../../support/service.js'

const TABLES = ['webhook_endpoint', 'webhook_delivery']

const features = FEATURES.filter(({ name }) => name !== 'webhooks')
const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '1' }, { features })

it('has no table of them, and its document names none', async () => {
  const names = running.service.core.store.tables.map(({ name }) => name)
  for (const table of TABLES) {
    expect(names).not.toContain(table)
    await expect(running.database.query(`SELECT * FROM ${table}`)).rejects.toThrow()
  }
  const { body } = await running.anonymous('sandbox').call('GET', '/v1/openapi.json')
  expect(body).not.toHaveProperty('webhooks')
  expect(body.tags.map(({ name }: { name: string }) => name)).not.toContain('webhooks')
})

it('enrolls, locks out, unlocks and erases a user, and suspends and resumes a tenant', async () => {
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  const [ada, joan, adaToday] = await photosOf('ada', 'joan', 'adaToday')
  expect((await production.enroll({ user_id: 'ada', image: ada })).status).toBe(201)
  const verify = (image: string) => production.verify({ user_id: 'ada', image, action: 'x' })
  expect((await verify(joan)).body.verdict).toBe('rejected')
  expect((await verify(ada)).body.reason).toBe('locked_out')
  const { lifecycle, users } = running.operations
  const record = await tenant.record()
  await lifecycle.suspend(record, COMMAND_LINE)
  await lifecycle.resume(record, COMMAND_LINE)
  await users.unlock(record, COMMAND_LINE, 'ada')
  expect((await verify(adaToday)).body.verdict).toBe('approved')
  expect((await production.erase('ada')).status).toBe(200)
})

it('reads nothing for an event that nobody hears, and hands one that somebody hears to each subscriber once', async () => {
  const event: DomainEvent = { tenantId: 'ten', environment: 'sandbox', type: 'user.enrolled', data: {} }
  const untouchable = new Proxy({} as StoreTransaction, {
    get(_, name) {
      throw new Error(`${String(name)} was read`)
    },
  })
  const nobody = new Events([])
  await nobody.put(untouchable, event)
  await nobody.onResume(untouchable, 'ten')
  expect((await nobody.audienceOf(untouchable, 'ten')).hears(event)).toBe(false)

  const told: unknown[] = []
  const subscriber = (name: string, isInterested: boolean): Subscriber => ({
    audienceOf: async (_, tenantId) => ({
      hears: ({ type }) => isInterested && tenantId === 'ten' && type === 'user.enrolled',
      tell: async (tx, given) => void told.push([name, tx === untouchable, given]),
    }),
    onResume: async (_, tenantId) => void told.push([name, tenantId]),
  })
  const events = new Events([subscriber('first', false), subscriber('second', true)])
  await events.put(untouchable, event)
  await events.onResume(untouchable, 'ten')
  expect(told).toEqual([
    ['first', true, event],
    ['second', true, event],
    ['first', 'ten'],
    ['second', 'ten'],
  ])
  const audience = await events.audienceOf(untouchable, 'ten')
  expect(audience.hears(event)).toBe(true)
  expect(audience.hears({ ...event, type: 'user.erased' })).toBe(false)
})
