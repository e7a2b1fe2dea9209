import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../src/lib/clock.js'
import { expectInvalid, expectRefusal } from '../support/answers.js'
import { countRows } from '../support/database.js'
import { base64, face, photosOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const action = 'sign in'

const running = await serviceOfFile()
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, adaToday] = await photosOf('ada', 'adaElsewhere')

const keyed = () => ({ headers: { 'X-Svc-Idempotency-Key': randomUUID() } })
const enrol = (user_id: string, options = {}) => production.enroll({ user_id, image: ada }, options)

describe('an erasure', () => {
  it('answers an erasure with 200 and a receipt that counts the erased records', async () => {
    await enrol('counted', keyed())
    await production.verify({ user_id: 'counted', image: adaToday, action }, keyed())
    const response = await production.erase('counted')
    expect(response.status).toBe(200)
    expect(response.body).toEqual({
      user_id: 'counted',
      status: 'erased',
      erasure_id: expect.stringMatching(/^era_[0-9a-f]{32}$/),
      erased_at: new Date(running.clock.now()).toISOString(),
      erased: { references: 1, captures: 2, passkeys: 0, idempotency_records: 2 },
    })
  })

  it('takes the user to erase from the query as well', async () => {
    await enrol('user+with &signs')
    const path = `/v1/delete?user_id=${encodeURIComponent('user+with &signs')}`
    const body = { user_id: 'user+with &signs', erased: { references: 1 } }
    expect(await production.call('DELETE', path)).toMatchObject({ status: 200, body })
  })

  it('takes the user from body and query when both agree, and refuses when they differ', async () => {
    await enrol('twice-named')
    const erase = (query: string) =>
      production.call('DELETE', `/v1/delete?user_id=${query}`, { user_id: 'twice-named' })
    await expectInvalid(erase('other'), 'user_id')
    expect((await erase('twice-named')).status).toBe(200)
  })

  it('refuses an erasure without a user', async () => {
    for (const path of ['/v1/delete', '/v1/delete?user_id='])
      await expectInvalid(production.call('DELETE', path), 'user_id')
  })

  it('leaves no row of an erased user, who can no longer be verified', async () => {
    await enrol('gone', keyed())
    await production.erase('gone')
    const verified = production.verify({ user_id: 'gone', image: adaToday, action })
    await expectRefusal(verified, 404, 'reference_not_found')
    for (const table of ['reference', 'capture'])
      expect(await countRows(running, table, 'subject_id NOT IN (SELECT id FROM subject)')).toBe(0)
  })

  it('lets an erased user be enrolled again, whose captures are forgotten', async () => {
    await enrol('returning')
    await production.verify({ user_id: 'returning', image: adaToday, action })
    await production.erase('returning')
    expect((await enrol('returning')).status).toBe(201)
    const verified = await production.verify({ user_id: 'returning', image: adaToday, action })
    expect(verified.body).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
  })

  it('erases kept responses: the same idempotency key executes again', async () => {
    const once = keyed()
    const first = await enrol('replayed', once)
    await production.erase('replayed')
    const second = await enrol('replayed', once)
    expect(second.status).toBe(201)
    expect(second.headers.get('x-svc-idempotent-replay')).toBeNull()
    expect(second.body.reference_id).not.toBe(first.body.reference_id)
  })

  it('erases kept refusals about the user too', async () => {
    await enrol('refused')
    const once = keyed()
    expect((await enrol('refused', once)).status).toBe(409)
    const erased = await production.erase('refused')
    expect(erased.body.erased.idempotency_records).toBe(1)
    expect((await enrol('refused', once)).status).toBe(201)
  })

  it('erases nothing of other users', async () => {
    await enrol('stays')
    await enrol('leaves')
    await production.erase('leaves')
    const verified = await production.verify({ user_id: 'stays', image: adaToday, action })
    expect(verified.body.verdict).toBe('approved')
  })

  it('audits an erasure under a pseudonym that changes when the user is enrolled again', async () => {
    await enrol('pseudonymous')
    const first = await production.erase('pseudonymous')
    await enrol('pseudonymous')
    await production.erase('pseudonymous')
    const entries = (await tenant.audit()).slice(-4)
    expect(entries.map(({ event }) => event)).toEqual(['enroll', 'delete', 'enroll', 'delete'])
    expect(entries[1]).toMatchObject({
      subject: entries[0].subject,
      erasure_id: first.body.erasure_id,
      references: 1,
      status: 200,
    })
    expect(entries[2].subject).not.toBe(entries[0].subject)
    expect(JSON.stringify(entries)).not.toContain('"pseudonymous"')
  })
})

describe('a user never seen', () => {
  it('answers 404 for a user never seen', async () => {
    await expectRefusal(production.erase('stranger'), 404, 'reference_not_found', { error: 'not_found' })
  })

  it('answers the same for a user never seen and for one who was refused before', async () => {
    await production.verify({ user_id: 'asked-for', image: ada, action }, keyed())
    expect((await production.erase('asked-for')).status).toBe(404)
  })
})

describe('a repeated erasure', () => {
  it('answers a repeated erasure with the same receipt for 24 hours, and with 404 after that', async () => {
    await enrol('repeated')
    const first = await production.erase('repeated')
    const soon = await production.erase('repeated')
    expect(soon.status).toBe(200)
    expect(soon.body).toEqual(first.body)
    running.clock.advance(DAY_MS - 1)
    const late = await production.erase('repeated')
    expect(late.body).toEqual(first.body)
    running.clock.advance(1)
    await expectRefusal(production.erase('repeated'), 404, 'reference_not_found')
  })

  it('answers a repeated erasure with a new receipt when the user was enrolled in between', async () => {
    await enrol('in-between')
    const first = await production.erase('in-between')
    running.clock.advance(MINUTE_MS)
    await enrol('in-between')
    const second = await production.erase('in-between')
    expect(second.body.erasure_id).not.toBe(first.body.erasure_id)
    expect((await production.erase('in-between')).body).toEqual(second.body)
  })

  it('erases a user once when requests come in parallel', async () => {
    await enrol('parallel')
    const receipts = await Promise.all(Array.from({ length: 5 }, () => production.erase('parallel')))
    const { body } = receipts[0]!
    for (const receipt of receipts) expect(receipt).toMatchObject({ status: 200, body })
  })
})

it('leaves no kept response that cannot be opened when requests about the user overlap the erasure', async () => {
  const { sandbox } = tenant
  const photo = base64(await face('ada', 500))
  await sandbox.enroll({ user_id: 'racing', image: photo })
  const keys = Array.from({ length: 8 }, keyed)
  // Eight verifies wait for one worker; the erasure needs none and overtakes them.
  const verifies = keys.map((key) =>
    sandbox.verify({ user_id: 'racing', images: Array(5).fill(photo), action }, key),
  )
  await verifies[0]
  await sandbox.erase('racing')
  const first = await Promise.all(verifies)
  for (const { status } of first) expect([200, 404]).toContain(status)
  for (const key of keys) {
    const again = await sandbox.verify({ user_id: 'racing', images: Array(5).fill(photo), action }, key)
    expect(again.status).toBe(404)
  }
})
