import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { photoOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()
const production = await running.production(tenant)
const photo = await photoOf('ada')

async function entries(): Promise<Array<Record<string, unknown>>> {
  const all = await running.service.core.store.read.auditEntries(tenant.id, 0, 1000)
  return all.map(({ entry }) => JSON.parse(entry))
}

const verifyChain = () => running.service.core.audit.verify(running.service.core.store.read, tenant.id)

async function enrolAndVerify(user_id: string): Promise<void> {
  expect((await production.enroll({ user_id, image: photo })).status).toBe(201)
  expect((await production.verify({ user_id, image: photo, action: 'login' })).status).toBe(200)
}

describe('the audit log in production', () => {
  it('each call in production is recorded with actor, request, status and one pseudonym of the user', async () => {
    const before = (await entries()).length
    await enrolAndVerify('ada')
    const refused = await production.enroll({ user_id: 'ada', image: photo })
    expect(refused.status).toBe(409)
    const added = (await entries()).slice(before)
    expect(added).toMatchObject([
      { event: 'enroll', status: 201 },
      { event: 'verify', status: 200, verdict: 'approved' },
      { event: 'enroll', status: 409, code: 'already_enrolled', request_id: refused.body.request_id },
    ])
    for (const { actor } of added) expect(actor).toMatch(/^key_[0-9a-f]{32}$/)
    expect(added[0]!.subject).toMatch(/^[0-9a-f]{32}$/)
    expect(added[1]!.subject).toBe(added[0]!.subject)
    expect(JSON.stringify(added)).not.toContain('"ada"')
  })

  it('a refused call is recorded under the pseudonym of an enrolled user, and without one for a user who is not enrolled', async () => {
    await production.enroll({ user_id: 'hopper', image: photo })
    const before = await entries()
    const { subject } = before.at(-1)!
    const unreadable = Buffer.from('this is no picture').toString('base64')
    for (const user_id of ['hopper', 'nobody']) {
      const refused = await production.verify({ user_id, image: unreadable, action: 'login' })
      expect(refused.status).toBe(user_id === 'hopper' ? 422 : 404)
      await production.enroll({ user_id, image: unreadable, replace: true })
    }
    const added = (await entries()).slice(before.length)
    expect(added.map(({ event, code, subject }) => ({ event, code, subject }))).toEqual([
      { event: 'verify', code: 'image_unreadable', subject },
      { event: 'enroll', code: 'image_unreadable', subject },
      { event: 'verify', code: 'reference_not_found', subject: undefined },
      { event: 'enroll', code: 'image_unreadable', subject: undefined },
    ])
    expect(JSON.stringify(added)).not.toMatch(/hopper|nobody/)
  })

  it('a call in the sandbox appends no audit entry', async () => {
    const before = await entries()
    await tenant.sandbox.enroll({ user_id: 'ada', image: photo })
    for (const user_id of ['ada', 'ada+no_match', 'nobody'])
      await tenant.sandbox.verify({ user_id, image: photo, action: 'login' })
    await tenant.sandbox.erase('ada')
    await tenant.sandbox.rotate({})
    expect(await entries()).toEqual(before)
  })

  it('a rotation in the sandbox, and the verify there that issues the production key, append no audit entry', async () => {
    const other = await running.tenant()
    expect((await other.sandbox.rotate({})).status).toBe(200)
    const cleared = await other.sandbox.verify({ user_id: 'u+match', image: photo, action: 'login' })
    expect(cleared.body).toMatchObject({ verdict: 'approved', production_key: 'issued' })
    expect(await running.service.core.store.read.auditHead(other.id)).toBeUndefined()
  })

  it('an erasure makes the pseudonym unlinkable and leaves the audit log intact', async () => {
    await enrolAndVerify('grace')
    const { subject } = (await entries()).at(-1)! as { subject: string }
    expect((await production.erase('grace')).status).toBe(200)
    const after = await entries()
    expect(after.filter((entry) => entry.subject === subject).map(({ event }) => event)).toEqual([
      'enroll',
      'verify',
      'delete',
    ])
    expect(await verifyChain()).toEqual({ entries: after.length, brokenAt: null })

    // The pseudonym cannot be computed again from the user id and every remaining key.
    const { keys } = running.service.core
    const { wrapping, secrets, idempotency, audit, lookup, instance } = keys
    const all = [wrapping.current, secrets.current, idempotency.current, ...audit, lookup, instance]
    const made = all.flatMap((key) =>
      ['grace', `${tenant.id}\0production\0grace`].map((text) =>
        createHmac('sha256', key).update(text).digest('hex').slice(0, 32),
      ),
    )
    expect(made).not.toContain(subject)
  })

  it('a user who is enrolled again after an erasure gets another pseudonym', async () => {
    await enrolAndVerify('mary')
    const first = (await entries()).at(-1)!.subject
    await production.erase('mary')
    await enrolAndVerify('mary')
    const second = (await entries()).at(-1)!.subject
    expect(second).toMatch(/^[0-9a-f]{32}$/)
    expect(second).not.toBe(first)
    expect((await verifyChain()).brokenAt).toBeNull()
  })

  it('the same user id of two tenants has two pseudonyms', async () => {
    const other = await running.tenant()
    const client = await running.production(other)
    await client.enroll({ user_id: 'ada', image: photo })
    const [entry] = await running.service.core.store.read.auditEntries(other.id, 0, 1)
    const subjects = (await entries()).map(({ subject }) => subject)
    expect(subjects).not.toContain(JSON.parse(entry!.entry).subject)
  })
})
