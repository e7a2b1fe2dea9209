/** Webhooks from the effect to a real receiver, by the real service. */

import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import Schema from 'typebox/schema'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WebhookEvent } from '../../../clients/node/index.js'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import type { DomainEvent } from '../../../src/events/events.js'
import { MAX_PENDING, RETRY_DELAYS_MS } from '../../../src/features/webhooks/outbox.js'
import { bodyOf } from '../../../src/features/webhooks/webhook-schemas.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import { DAY_MS, isoTime, SECOND_MS } from '../../../src/lib/clock.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { expectCode } from '../../support/answers.js'
import type { ApiClient } from '../../support/client.js'
import { poll as pollFor } from '../../support/command.js'
import { photosOf } from '../../support/faces.js'
import { sandboxSdk } from '../../support/sdk.js'
import { serviceOfFile, type TestTenant } from '../../support/service.js'
import { receiverOfFile, webhooksOf } from '../../support/webhooks.js'

interface Received {
  headers: IncomingHttpHeaders
  body: string
  event: WebhookEvent
}

const ATTEMPTS = 2
let tenant: TestTenant
let production: ApiClient & { key: string }
let received: Received[] = []
/** Status that the receiver answers with. */
let answer: { status: number; headers?: Record<string, string> }

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS) })
const [ada, joan] = await photosOf('ada', 'joan')
const receiver = await receiverOfFile(({ headers }, response, body) => {
  received.push({ headers, body, event: JSON.parse(body) })
  response.writeHead(answer.status, answer.headers).end('a word that nobody reads')
})
/** The paths at which webhooks came to the receiver that is slow, in order. */
const order: string[] = []
const slow = await receiverOfFile(({ url }, response) => {
  order.push(url!)
  setTimeout(() => response.writeHead(204).end(), 300)
})
const url = `${receiver.url}/hook?token=geheim`
const NOBODY = { url: 'http://127.0.0.1:2/nobody' }

beforeEach(async () => {
  received = []
  answer = { status: 204 }
  tenant = await running.tenant()
  production = await running.production(tenant)
})
afterEach(async () => {
  for (const { event } of received) expect(Schema.Errors(bodyOf(event.type), event)).toEqual([true, []])
  // Pending deliveries of one test must not reach the next one.
  for (const endpoint of await kept().endpointsOf(tenant.id))
    await write((tx) => tx.statements(webhookWriter).deleteEndpoint(endpoint.id))
})

/** Until it holds; the sender looks once a second. */
const poll = (holds: () => Promise<unknown>) => pollFor(holds, Boolean)
const webhooks = () => webhooksOf(running.service)
const record = () => tenant.record()
const kept = () => running.service.core.store.read.statements(webhookReader)
const deliveries = () => kept().deliveriesOf(tenant.id, 100)
const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
  running.service.core.store.transaction('installation', work)
const put = (event: DomainEvent) => write((tx) => running.service.core.events.put(tx, event))
/** The delivery whose attempt came last to this outcome. */
const cameTo = (outcome: string) => poll(async () => (await deliveries())[0]?.lastOutcome === outcome)
const add = async (
  changes: { events?: string[]; environment?: 'sandbox' | 'production'; url?: string } = {},
) => webhooks().add(await record(), COMMAND_LINE, { url, environment: 'production', events: [], ...changes })
const arrived = (count: number) => poll(async () => received.length >= count)
const settled = (status: string) =>
  poll(async () => (await deliveries()).every((one) => one.status === status))
const client = (signingSecret = tenant.secret) =>
  sandboxSdk(running, tenant, {
    ...{ apiKey: production.key, baseUrl: running.service.url('production'), signingSecret },
  })
const unlocked = (data: object) =>
  ({ tenantId: tenant.id, environment: 'production', type: 'user.unlocked', data }) as never
async function reject(user: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await production.verify({ user_id: user, image: joan, action: 'x' })
}

describe('a webhook', () => {
  it('a webhook reports the events of a user in order, without biometric data', async () => {
    await add()
    const { body: enrolled } = await production.enroll({ user_id: 'ada', image: ada })
    await arrived(1)
    await reject('ada', ATTEMPTS)
    const ends_at = isoTime(running.clock.now() + 30 * SECOND_MS)
    await arrived(2)
    await running.operations.users.unlock(await record(), COMMAND_LINE, 'ada')
    await arrived(3)
    await production.enroll({ user_id: 'ada', image: ada, replace: true })
    await arrived(4)
    const { body: erased } = await production.erase('ada')
    await arrived(5)
    const { model } = enrolled
    const told = { user_id: 'ada', model, views: 1, reference_id: expect.stringMatching(/^ref_/) }
    expect(received.map(({ event: { type, data } }) => ({ type, data }))).toEqual([
      {
        type: 'user.enrolled',
        data: { ...told, reference_id: enrolled.reference_id, replaced: false, added: 0 },
      },
      { type: 'user.locked_out', data: { user_id: 'ada', rejections: ATTEMPTS, ends_at } },
      { type: 'user.unlocked', data: { user_id: 'ada' } },
      { type: 'user.enrolled', data: { ...told, replaced: true, added: 0 } },
      { type: 'user.erased', data: erased },
    ])
    for (const { event } of received)
      expect(event).toMatchObject({
        id: expect.stringMatching(/^evt_/),
        tenant_id: tenant.id,
        environment: 'production',
        created_at: isoTime(running.clock.now()),
      })
  })

  it('a webhook reports that a reference was disabled', async () => {
    await add({ events: ['user.disabled'] })
    await production.enroll({ user_id: 'ada', image: ada })
    for (let failures = 0; failures < 10 * ATTEMPTS; failures++) {
      running.clock.advance(3600 * SECOND_MS)
      await reject('ada', 1)
    }
    await arrived(1)
    const data = { user_id: 'ada', rejections: 10 * ATTEMPTS }
    expect(received).toMatchObject([{ event: { type: 'user.disabled', data } }])
  })

  it('a webhook is signed with the tenant’s secret over environment, time, id and body', async () => {
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    await arrived(1)
    const [{ headers, body, event }] = received as [Received]
    const timestamp = Math.floor(running.clock.now() / SECOND_MS)
    const signed = `webhook:v2:production:${timestamp}:${event.id}:${body}`
    const mac = createHmac('sha256', tenant.secret.secret).update(signed).digest('hex')
    expect(headers['x-svc-signature']).toBe(`t=${timestamp},kid=${tenant.secret.id},v2=${mac}`)
    expect(headers['x-svc-webhook-id']).toBe(event.id)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(await client().verifyWebhook(headers, body)).toEqual(event)
    expect(await client().verifyWebhook(headers, Buffer.from(body))).toEqual(event)
    expect(await client().verifyWebhook(new Headers(headers as Record<string, string>), body)).toEqual(event)
  })

  it('a webhook is signed with both secrets during a rotation', async () => {
    await add()
    const { body } = await production.rotate({})
    await production.enroll({ user_id: 'ada', image: ada })
    await arrived(1)
    for (const signingSecret of [tenant.secret, body.signing_secret]) {
      const [{ headers, body }] = received as [Received]
      expect((await client(signingSecret).verifyWebhook(headers, body)).type).toBe('user.enrolled')
    }
  })

  it('a webhook gets only events of its tenant, environment and subscription', async () => {
    await add({ events: ['user.erased'] })
    const other = await running.production(await running.tenant())
    for (const one of [production, tenant.sandbox, other]) await one.enroll({ user_id: 'ada', image: ada })
    expect(await deliveries()).toEqual([])
    await add({ environment: 'sandbox' })
    await tenant.sandbox.erase('ada')
    await arrived(1)
    expect(received[0]!.event).toMatchObject({ type: 'user.erased', environment: 'sandbox' })
    expect(await deliveries()).toHaveLength(1)
  })

  it('a webhook reports no refused calls', async () => {
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    expect((await production.enroll({ user_id: 'ada', image: ada })).status).toBe(409)
    await production.erase('nobody')
    await production.erase('ada')
    await production.erase('ada')
    expect((await deliveries()).map(({ type }) => type).sort()).toEqual(['user.enrolled', 'user.erased'])
  })

  it('a webhook whose name resolves to another host sends nothing without a certificate for the name', async () => {
    // Stands for the host that a rebound name resolves to: a listener that reads everything.
    let read = ''
    const elsewhere = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (data) => {
        read += data.toString('latin1')
        socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const { port } = elsewhere.address() as AddressInfo
    try {
      const id = await webhooks().test(
        await record(),
        (await add({ url: `https://localhost:${port}/hook?token=geheim` })).id,
      )
      await poll(async () => (await deliveries()).find((one) => one.id === id)?.lastOutcome ?? undefined)
      expect((await deliveries()).map(({ status }) => status)).toEqual(['pending'])
      expect(read.length).toBeGreaterThan(0)
      expect(read).not.toMatch(/POST|geheim|webhook\.test|Svc/)
    } finally {
      elsewhere.close()
    }
  })

  it('a redirect of a webhook endpoint is not followed and counts as a failed attempt', async () => {
    answer = { status: 302, headers: { Location: url.replace('/hook', '/elsewhere') } }
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    await cameTo('302')
    expect(received).toHaveLength(1)
    expect((await deliveries())[0]).toMatchObject({ status: 'pending', attempts: 1 })
  })
})

describe('a delivery that is not taken', () => {
  it('a failed delivery is retried with the same id at growing intervals for about a day, then given up', async () => {
    answer = { status: 500 }
    const told = (id: string) => running.logText().split(`"delivery":"${id}"`).length - 1
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      await poll(async () => (await deliveries())[0]?.lastOutcome && received.length === index + 1)
      await poll(async () => {
        const { nextAttemptAt } = (await deliveries())[0]!
        return nextAttemptAt === running.clock.now() + delayMs || undefined
      })
      // A delivery in flight is leased for a minute, which is also one of the delays: the log shows when the attempt is over.
      await poll(async () => told((await deliveries())[0]!.id) === index + 1)
      running.clock.advance(delayMs)
    }
    await settled('failed')
    // Ten tries are two warnings, the first and the tenth: one dead endpoint does not fill the log.
    const { id } = (await deliveries())[0]!
    const warnings = running
      .logText()
      .split('\n')
      .filter(
        (line) =>
          line.includes(id) &&
          /"level":40.*"webhook delivery failed, (?:will retry|no attempt is left)"/.test(line),
      )
    expect(warnings).toHaveLength(2)
    expect(received).toHaveLength(RETRY_DELAYS_MS.length + 1)
    expect(new Set(received.map(({ event }) => event.id)).size).toBe(1)
    const total = RETRY_DELAYS_MS.reduce((sum, ms) => sum + ms, 0)
    expect(total).toBeGreaterThan(0.9 * DAY_MS)
    expect(total).toBeLessThan(1.1 * DAY_MS)
    answer = { status: 200 }
    await webhooks().redeliver(await record(), COMMAND_LINE, id)
    await settled('delivered')
    expect(received.at(-1)!.event).toEqual(received[0]!.event)
    // Each attempt is signed with its own time, so that a receiver can refuse old signatures.
    await client().verifyWebhook(received.at(-1)!.headers, received.at(-1)!.body)
  }, 120_000)

  it('a pending delivery survives a restart', async () => {
    await add(NOBODY)
    await production.enroll({ user_id: 'ada', image: ada })
    await cameTo('ECONNREFUSED')
    await running.restart()
    await write(async (tx) => {
      const [endpoint] = await tx.statements(webhookWriter).endpointsOf(tenant.id)
      const waiting = (await tx.statements(webhookWriter).deliveriesOf(tenant.id, 1))[0]!
      // The receiver moved.
      await tx.statements(webhookWriter).deleteEndpoint(endpoint!.id)
      await tx.statements(webhookWriter).insertEndpoint({ ...endpoint!, url })
      await tx.statements(webhookWriter).insertDelivery(waiting)
    })
    running.clock.advance(RETRY_DELAYS_MS[0]!)
    await arrived(1)
    expect(received[0]!.event.type).toBe('user.enrolled')
  })

  it('the log of a failed delivery contains neither its body nor the address', async () => {
    answer = { status: 500 }
    await add()
    await production.enroll({ user_id: 'someone-known', image: ada })
    await cameTo('500')
    await poll(async () => running.logText().includes('webhook delivery failed, will retry'))
    expect(running.logText()).not.toContain('someone-known')
    expect(running.logText()).not.toContain('geheim')
  })

  it('a delivery is dropped and counted when too many are pending', async () => {
    const endpoint = await add(NOBODY)
    const occurrence = unlocked({})
    await put(occurrence)
    const [first] = await kept().deliveriesOf(tenant.id, 1)
    await write(async (tx) => {
      // `put` counts all pending deliveries each time: filling the queue with it would take seconds.
      for (let i = 2; i < MAX_PENDING; i++)
        await tx.statements(webhookWriter).insertDelivery({ ...first!, id: `whd_${i}` })
      for (let i = 0; i < 3; i++) await running.service.core.events.put(tx, occurrence)
    })
    expect(await kept().countPending(endpoint.id)).toBe(MAX_PENDING)
    expect((await kept().endpoint(endpoint.id))?.dropped).toBe(2)
    const refused = { code: 'webhook_queue_full' }
    await expect(webhooks().test(await record(), endpoint.id)).rejects.toMatchObject(refused)
  }, 120_000)

  it('a delivery is deleted after a week', async () => {
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    await settled('delivered')
    const now = running.clock.now()
    const forget = (at: number) => write((tx) => tx.deleteExpired(at))
    await forget(now + 7 * DAY_MS - 1)
    expect(await deliveries()).toHaveLength(1)
    await forget(now + 7 * DAY_MS)
    expect(await deliveries()).toEqual([])
  })
})

describe('a suspended tenant', () => {
  const lifecycle = () => running.operations.lifecycle

  it('a suspended tenant gets no webhooks, and gets all of them once it is resumed', async () => {
    await add()
    await lifecycle().suspend(await record(), COMMAND_LINE)
    // It cannot call; the operator still acts for it.
    await put(unlocked({ user_id: 'ada' }))
    // A webhook of another tenant arrives, which proves that the sender has polled since.
    const other = await running.tenant()
    const beside = await running.service.core.tenancy.find(other.id)
    await webhooks().add(beside, COMMAND_LINE, { url, environment: 'sandbox', events: [] })
    await other.sandbox.enroll({ user_id: 'bob', image: ada })
    await arrived(1)
    expect(received.map(({ event }) => event.tenant_id)).toEqual([other.id])
    running.clock.advance(8 * DAY_MS)
    const forget = () => write((tx) => tx.deleteExpired(running.clock.now()))
    await forget()
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: 0 }])
    await lifecycle().resume(await record(), COMMAND_LINE)
    await forget()
    await arrived(2)
    expect(received[1]!.event).toMatchObject({ tenant_id: tenant.id, data: { user_id: 'ada' } })
    await settled('delivered')
    await write(async (tx) => {
      for (const { id } of await tx.statements(webhookWriter).endpointsOf(other.id))
        await tx.statements(webhookWriter).deleteEndpoint(id)
    })
  })

  it('deleting a tenant deletes its pending deliveries', async () => {
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    await lifecycle().delete(await record(), COMMAND_LINE)
    expect(await deliveries()).toEqual([])
    expect(await kept().endpointsOf(tenant.id)).toEqual([])
  })
})

describe('receivers that are slow', () => {
  it('slow receivers with long queues do not hold up deliveries to others', async () => {
    const { tenancy } = running.service.core
    const greedy: Array<[string, string]> = []
    const addTo = async (tenantId: string, path: string) => {
      const webhook = { url: `${slow.url}${path}`, environment: 'production', events: [] } as const
      return (await webhooks().add(await tenancy.find(tenantId), COMMAND_LINE, webhook)).id
    }
    // 20 endpoints: more than the 16 attempts that the sender makes at once.
    for (let i = 0; i < 4; i++) {
      const { id } = await running.tenant()
      for (let j = 0; j < 5; j++) greedy.push([id, await addTo(id, `/greedy-${i}-${j}`)])
    }
    const polite = await addTo(tenant.id, '/polite')
    for (let i = 0; i < 4; i++)
      for (const [id, endpoint] of greedy) await webhooks().test(await tenancy.find(id), endpoint)
    running.clock.advance(1)
    await webhooks().test(await record(), polite)
    const begun = order.length
    await poll(async () => order.includes('/polite'))
    const before = order.slice(begun, order.indexOf('/polite'))
    const rounds = Math.max(...before.map((path) => before.filter((other) => other === path).length))
    // At most two rounds of the 80 deliveries that were due before it: a round may be about to begin when it is stored.
    expect(rounds).toBeLessThanOrEqual(2)
    for (const [id, endpoint] of greedy)
      await webhooks().remove(await tenancy.find(id), COMMAND_LINE, endpoint)
  })
})

describe('an erasure', () => {
  it('an erasure deletes pending deliveries about the user and is reported itself', async () => {
    await add(NOBODY)
    await production.enroll({ user_id: 'ada', image: ada })
    await production.enroll({ user_id: 'bob', image: ada })
    await production.erase('ada')
    const told = (await tenant.told()).map(({ type, data }) => `${type} ${data?.user_id}`)
    expect(told.sort()).toEqual(['user.enrolled bob', 'user.enrolled undefined', 'user.erased ada'])
    const kept = await deliveries()
    expect(kept.map(({ type, status }) => `${type} ${status}`).sort()).toEqual([
      ...['user.enrolled erased', 'user.enrolled pending', 'user.erased pending'],
    ])
    const gone = kept.find(({ status }) => status === 'erased')
    await expectCode(webhooks().redeliver(await record(), COMMAND_LINE, gone!.id), 'body_gone')
  })

  it('no delivery names an erased user once the erasure was delivered', async () => {
    await add()
    await production.enroll({ user_id: 'ada', image: ada })
    await settled('delivered')
    await production.erase('ada')
    await arrived(2)
    await poll(async () => (await deliveries()).every(({ sealed }) => sealed === null))
  })

  it('an erasure of a user who was enrolled again keeps deliveries about the earlier enrollment', async () => {
    await add({ ...NOBODY, events: ['user.erased'] })
    for (let i = 0; i < 2; i++) {
      await production.enroll({ user_id: 'ada', image: ada })
      await production.erase('ada')
    }
    expect((await deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })
})

describe('whoever adds, tests and removes webhooks', () => {
  it('adding, testing and removing webhooks is audited with the host of the address only', async () => {
    const endpoint = await add({ events: ['user.erased', 'user.enrolled', 'user.erased'] })
    const delivery = await webhooks().test(await record(), endpoint.id)
    await arrived(1)
    expect(received[0]!.event).toMatchObject({ type: 'webhook.test', data: {} })
    await poll(async () => (await deliveries())[0]?.status === 'delivered')
    await expectCode(webhooks().redeliver(await record(), COMMAND_LINE, delivery), 'body_gone')
    await webhooks().remove(await record(), COMMAND_LINE, endpoint.id)
    expect(await deliveries()).toEqual([])
    const acts = (await tenant.audit()).filter(({ event }) => event.startsWith('webhook'))
    expect(acts).toMatchObject([
      {
        event: 'webhook_added',
        endpoint: endpoint.id,
        host: new URL(url).host,
        events: 'user.erased,user.enrolled',
      },
      { event: 'webhook_removed', endpoint: endpoint.id },
    ])
    expect(JSON.stringify(acts)).not.toContain('geheim')
  })

  it('a tenant has at most five webhooks and cannot reach those of another tenant', async () => {
    const endpoint = await add()
    const other = await running.service.core.tenancy.find((await running.tenant()).id)
    await expectCode(webhooks().remove(other, COMMAND_LINE, endpoint.id), 'webhook_not_found')
    await expectCode(webhooks().test(other, endpoint.id), 'webhook_not_found')
    for (let i = 1; i < 5; i++) await add()
    await expectCode(add(), 'too_many_webhooks')
  })

  it.each([
    ...['http://example.com/hook', 'http://10.0.0.1/', 'http://169.254.169.254/latest/meta-data/'],
    ...['http://[::ffff:127.0.0.1]/', 'http://[::ffff:169.254.169.254]/', 'http://[fd00::1]/'],
    ...['http://localhost.evil.example/', 'http://127.0.0.1.nip.io/', 'http://localhost@evil.example/'],
    ...['http://evil.example#@localhost/', 'https://user:geheim@example.com/', 'https://example.com/#part'],
    ...['ftp://example.com/', 'file:///etc/passwd', 'gopher://127.0.0.1:6379/', 'javascript:0'],
    ...['//example.com/', 'example.com', `https://example.com/${'x'.repeat(2048)}`],
  ])('refuses the webhook URL %s, which is neither https nor http to localhost', async (address) => {
    await expectCode(add({ url: address }), 'invalid_webhook_url')
  })

  it.each([
    'https://example.com/hook?token=x',
    'https://10.0.0.7:8443/',
    'http://localhost:3000/',
    'http://[::1]:3000/',
  ])('accepts the webhook URL %s', async (address) => {
    expect((await add({ url: address, events: ['user.disabled'] })).url).toBe(address)
  })

  it('refuses a subscription to an unknown event', async () => {
    await expectCode(add({ events: ['user.happy'] }), 'invalid_events')
  })
})
