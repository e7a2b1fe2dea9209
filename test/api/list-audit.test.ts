import { expect, it, vi } from 'vitest'
import { type AuditEntry, Countersign } from '../../clients/node/index.js'
import { expectSigned } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { photoOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const MANY = 5200

const running = await serviceOfFile()
const tenant = await running.tenant({ ratePerSecond: 10_000 })
const production = await running.production(tenant)
const client = new Countersign({
  apiKey: production.key,
  baseUrl: running.service.url('production'),
  signingSecret: tenant.secret,
  now: () => running.clock.now(),
})
const image = await photoOf('ada')
await production.enroll({ user_id: 'ada', image })
await production.verify({ user_id: 'ada', image, action: 'x' })
await production.erase('ada')

const list = (query: string, from: ApiClient = production) =>
  from.call('GET', query ? `/v1/audit?${query}` : '/v1/audit')
const nothingAfter = (next_cursor: string) => ({
  data: [],
  has_more: false,
  next_cursor,
  broken_sequence: null,
})

it('lists the audit log oldest first, with the facts of each entry apart', async () => {
  const response = await list('')
  expect(response.status).toBe(200)
  expectSigned(response, tenant)
  const { data, has_more, next_cursor } = response.body
  expect(data.map(({ event }: AuditEntry) => event)).toEqual(['enroll', 'verify', 'delete'])
  expect({ has_more, next_cursor }).toEqual({ has_more: false, next_cursor: '3' })
  expect(data[1]).toMatchObject({
    sequence: 2,
    actor: expect.stringMatching(/^key_/),
    request_id: expect.any(String),
    status: 200,
    code: null,
    subject: data[0].subject,
    facts: { verdict: 'approved', reason: null },
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(JSON.stringify(data)).not.toContain('"ada"')
  const records = await running.service.core.store.read.auditEntries(tenant.id, 0, 10)
  for (const [index, { hash, entry }] of records.entries()) {
    const { facts, hash: shownHash, created_at: at, ...fields } = data[index]
    const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
    expect({ request_id: null, ...JSON.parse(entry) }).toEqual({ request_id: null, at, ...present, ...facts })
    expect(shownHash).toBe(hash.toString('hex'))
  }
})

it('continues an audit listing where a page ended, now or when more was written', async () => {
  const first = (await list('limit=2')).body
  expect(first).toMatchObject({ has_more: true, next_cursor: '2' })
  const second = (await list(`limit=2&after=${first.next_cursor}`)).body
  expect(second.data.map(({ sequence }: AuditEntry) => sequence)).toEqual([3])
  expect(second).toMatchObject({ has_more: false, next_cursor: '3' })
  expect((await list('after=3')).body).toEqual(nothingAfter('3'))
  expect((await list('limit=3')).body.has_more).toBe(false)
})

it('lists the audit log newest first on demand, and continues towards the start', async () => {
  const sequences = ({ body }: { body: { data: AuditEntry[] } }) => body.data.map(({ sequence }) => sequence)
  const first = await list('order=desc&limit=2')
  expect(sequences(first)).toEqual([3, 2])
  expect(first.body).toMatchObject({ has_more: true, next_cursor: '2' })
  const second = await list(`order=desc&limit=2&after=${first.body.next_cursor}`)
  expect(sequences(second)).toEqual([1])
  expect(second.body).toMatchObject({ has_more: false, next_cursor: '1' })
  expect(sequences(await list('order=desc&after=1'))).toEqual([])
  expect(sequences(await list('order=desc&event=verify'))).toEqual([2])
  const newest: number[] = []
  for await (const { sequence } of client.auditEntries({ order: 'desc', limit: 1 })) newest.push(sequence)
  expect(newest).toEqual([3, 2, 1])
})

it('lists the audit entries of only one event, with a cursor of how far it read', async () => {
  const { data, next_cursor } = (await list('event=verify')).body
  expect(data.map(({ event }: AuditEntry) => event)).toEqual(['verify'])
  expect(next_cursor).toBe('3')
})

it.each([
  'order=newest',
  'after=x',
  'after=-1',
  'after=1e3',
  'after=0x1',
  'after=%201',
  'after=1%00',
  'after=1%27%20OR%201=1',
  'after=99999999999999999999',
  'limit=0',
  'limit=201',
  'limit=1.5',
  'limit=many',
  'event=other',
  'before=1',
  'limit=1&limit=2',
])('refuses an audit listing with %s', async (query) => {
  expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

it('lists no audit entry of another tenant, and none in the sandbox', async () => {
  const other = await running.production(await running.tenant())
  for (const stranger of [other, tenant.sandbox])
    expect((await list('', stranger)).body).toEqual(nothingAfter('0'))
})

it('reads only the caller’s own audit log by any cursor, a made-up one as well', async () => {
  const other = await running.production(await running.tenant())
  await other.enroll({ user_id: 'ada', image: await photoOf('grace') })
  const own = (await list('', other)).body
  expect(own.data.map(({ event }: AuditEntry) => event)).toEqual(['enroll'])
  for (const forged of ['0', '00', '000'])
    expect((await list(`after=${forged}`, other)).body.data).toEqual(own.data)
  for (const forged of ['1', '2', '999999999999999'])
    expect((await list(`after=${forged}`, other)).body.data).toEqual([])
  // Only the API key says whose log is read.
  expect((await list(`tenant_id=${tenant.id}`, other)).body.code).toBe('invalid_request')
})

it('walks the audit log to its end in the SDK, and finds a rare event of a long log on the first page', async () => {
  const { store, audit } = running.service.core
  const by = { actor: 'operator', request_id: null }
  await store.transaction('installation', async (tx) => {
    for (let i = 0; i < MANY; i++) await audit.append(tx, tenant.id, { event: 'verify', ...by })
    await audit.append(tx, tenant.id, { event: 'contract_changed', ...by })
  })
  expect((await list('event=contract_changed')).body).toMatchObject({
    data: [{ sequence: MANY + 4 }],
    has_more: false,
    next_cursor: String(MANY + 4),
  })
  // The next page begins after the last entry that was read, for any event.
  expect((await list('event=enroll')).body.next_cursor).toBe(String(MANY + 4))
  const rare: AuditEntry[] = []
  for await (const entry of client.auditEntries({ event: 'contract_changed' })) rare.push(entry)
  expect(rare.map(({ sequence }) => sequence)).toEqual([MANY + 4])
  let entries = 0
  for await (const entry of client.auditEntries({ limit: 200 })) expect(entry.sequence).toBe(++entries)
  expect(entries).toBe(MANY + 4)
})

/** Entries that the store returns while `work` runs. */
async function entriesRead(work: () => Promise<unknown>): Promise<number> {
  const { read } = running.service.core.store
  const reading = [vi.spyOn(read, 'auditEntries'), vi.spyOn(read, 'auditEntriesOfEvent')]
  try {
    await work()
    const pages = await Promise.all(reading.flatMap(({ mock }) => mock.results.map(({ value }) => value)))
    return pages.reduce((sum, { length }) => sum + length, 0)
  } finally {
    for (const spy of reading) spy.mockRestore()
  }
}

it('reads only one audit entry more than it lists, also where an event is rare', async () => {
  expect(await entriesRead(() => list('limit=3'))).toBe(4)
  expect(await entriesRead(() => list('limit=200'))).toBe(201)
  expect(await entriesRead(() => list('event=contract_changed'))).toBe(1)
  expect(await entriesRead(() => list('event=key_revoked'))).toBe(0)
  expect(await entriesRead(() => list('event=verify&limit=10'))).toBe(11)
  const { body } = await list('limit=200')
  expect([body.data.length, body.has_more]).toEqual([200, true])
})
