/** A consent that is recorded without a photo: whom it is for, what stays as it was, and what a policy makes of it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeCountersign } from '../../clients/node/testing.js'
import { DAY_MS } from '../../src/lib/clock.js'
import { expectCode, expectRefusal } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { photoOf } from '../support/faces.js'
import { setPolicy } from '../support/policies.js'
import { serviceOfFile } from '../support/service.js'

const TERMS = { id: 'terms-2', agreed_at: '2026-11-23T12:00:00Z' }

let users = 0

const running = await serviceOfFile()
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, adaToday] = [await photoOf('ada'), await photoOf('adaToday')]

const record = (
  user_id: string,
  body: object = { consent: TERMS },
  client: ApiClient = production,
  headers = {},
) => client.call('POST', `/v1/users/${user_id}/consent`, body, { headers })
const look = async (user_id: string, client: ApiClient = production) =>
  (await client.call('GET', `/v1/users/${user_id}`)).body
async function enrolled(
  client: ApiClient = production,
  consent: object | undefined = { ...TERMS, id: 'terms-1' },
) {
  const user_id = `agreeing-${++users}`
  expect((await client.enroll({ user_id, image: ada, consent })).status).toBe(201)
  return user_id
}

describe.each(['production', 'sandbox'] as const)('a consent that is recorded in %s', (environment) => {
  const client = () => (environment === 'production' ? production : tenant.sandbox)

  it('replaces the one before, and leaves reference and time as they were', async () => {
    const user_id = await enrolled(client())
    const before = await look(user_id, client())
    running.clock.advance(1000)
    const { status, body } = await record(user_id, undefined, client())
    const { reference_id } = before.reference
    expect([status, body]).toEqual([200, { user_id, reference_id, consent: TERMS }])
    const after = await look(user_id, client())
    expect(after).toEqual({ ...before, reference: { ...before.reference, consent: TERMS } })
  })

  it('is recorded for each user whose call has the same idempotency key', async () => {
    const [first, second] = [await enrolled(client()), await enrolled(client())]
    const headers = { 'X-Svc-Idempotency-Key': `consent-${first}` }
    for (const user_id of [first, second, first]) {
      const { status, body } = await record(user_id, undefined, client(), headers)
      expect([status, body.user_id]).toEqual([200, user_id])
    }
    expect((await look(second, client())).reference.consent).toEqual(TERMS)
  })

  it('is refused for a user who is not enrolled, and without a consent', async () => {
    await expectRefusal(record('nobody', undefined, client()), 404, 'reference_not_found')
    const user_id = await enrolled(client())
    for (const wrong of [
      {},
      { consent: { id: 'x' } },
      { consent: { ...TERMS, text: 'more' } },
      { ...TERMS },
    ]) {
      const { status, body } = await record(user_id, wrong, client())
      expect([status, body.code], JSON.stringify(wrong)).toEqual([400, 'invalid_request'])
    }
  })
})

describe('a recorded consent', () => {
  it('is enough for a policy that asks for it, and the face is compared with the same template', async () => {
    const user_id = await enrolled()
    const rules = [{ name: 'agreed', require: { consent_id: TERMS.id, max_reference_age_days: 30 } }]
    const environments = ['production'] as const
    await setPolicy(running, tenant.id, { rules }, environments)
    onTestFinished(async () => void (await setPolicy(running, tenant.id, null, environments)))
    const verify = () => production.verify({ user_id, image: adaToday, action: 'x' })
    const issue = 'has consented to "terms-1"; "terms-2" is required'
    expect((await verify()).body.details).toMatchObject([{ requirement: 'consent_id', issue }])
    await record(user_id)
    expect((await verify()).body.verdict).toBe('approved')
    // A consent makes no reference younger.
    running.clock.advance(30 * DAY_MS)
    await record(user_id)
    expect((await verify()).body.details).toMatchObject([{ requirement: 'max_reference_age_days' }])
  })

  it('is in the audit log under the pseudonym of the user, without the id of the consent', async () => {
    const user_id = await enrolled()
    await record(user_id)
    const { body } = await production.call('GET', '/v1/audit?order=desc&limit=1')
    expect(body.data[0]).toMatchObject({
      event: 'consent_recorded',
      subject: expect.stringMatching(/^[0-9a-f]{32}$/),
      facts: { replaced: true, reference_id: (await look(user_id)).reference.reference_id },
    })
    for (const unsaid of [user_id, TERMS.id]) expect(JSON.stringify(body.data[0])).not.toContain(unsaid)
  })

  it('stays when photos are added, and is recorded once for one idempotency key', async () => {
    const user_id = await enrolled()
    const headers = { 'X-Svc-Idempotency-Key': 'once' }
    const first = await record(user_id, undefined, production, headers)
    const again = await record(user_id, undefined, production, headers)
    expect(again.text).toBe(first.text)
    expect((await production.enroll({ user_id, image: adaToday, add: true })).status).toBe(201)
    expect((await look(user_id)).reference.consent).toEqual(TERMS)
  })

  it('is answered by the service in memory in the same way', async () => {
    const fake = new FakeCountersign()
    const countersign = fake.client()
    await expectCode(countersign.recordConsent('ada', TERMS), 'reference_not_found')
    await countersign.enroll({ user_id: 'ada', image: ada })
    const { reference_id, consent } = await countersign.recordConsent('ada', TERMS)
    const { reference } = await countersign.getUser('ada')
    expect([consent, reference.consent, reference.reference_id]).toEqual([TERMS, TERMS, reference_id])
  })
})
