/** Tests of a tenant's policy: no request gets an approval that the rule of its action does not allow. */
import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Environment } from '../../../src/config/config.js'
import type { PolicyRequirements, PolicyRule } from '../../../src/contract/action-policy.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { policyHashOf } from '../../../src/features/policies/policy.js'
import { policyReader } from '../../../src/features/policies/policy-table.js'
import { allowReturn, askForSession, Visitor } from '../../support/capture-page.js'
import { answerTo } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { photosOf } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { policyOperations, setPolicy as putInForce } from '../../support/policies.js'
import { serviceOfFile, WITH_PAGE } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const ACR = 'urn:countersign:acr:'
const PAYMENT = {
  type: 'payment',
  amount: '1000.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}
const ANY: PolicyRule = { name: 'any', require: {} }

let user: string
let users = 0

const running = await serviceOfFile({ ...WITH_PAGE, COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })
const [ada, adaToday, adaElsewhere, grace] = await photosOf('ada', 'adaToday', 'adaElsewhere', 'grace')
const tenant = await running.tenant()
const production = await running.production(tenant)
const sandbox = tenant.sandbox
await allowReturn(running, tenant)

beforeEach(async () => {
  await setPolicy(null)
  user = `governed-${++users}`
  for (const client of [production, sandbox])
    expect((await client.enroll({ user_id: user, image: ada })).status).toBe(201)
})

async function setPolicy(
  rules: PolicyRule[] | null,
  environments: Environment[] = ['production', 'sandbox'],
) {
  const { now } = await putInForce(running, tenant.id, rules && { rules }, environments)
  return now.sandbox!
}
const require = (required: PolicyRequirements) => setPolicy([{ name: 'strict', require: required }])
const verify = (fields: Record<string, unknown> = {}, client: ApiClient = production) =>
  client.verify({ user_id: user, image: adaToday, action: PAYMENT, ...fields })
const claimsOf = (answer: Awaited<ReturnType<typeof verify>>) =>
  decodeJwt(answer.body.jwt, tenant.secret.secret).claims
const lockoutOf = async () => (await production.call('GET', `/v1/users/${user}`)).body.lockout

/** The requirements that an answer names as not met. */
function unmetOf({ status, body }: Awaited<ReturnType<typeof verify>>) {
  expect([status, body.error, body.code]).toEqual([422, 'invalid_request', 'policy_not_met'])
  expect(body.jwt).toBeUndefined()
  return body.details.map(({ requirement }: { requirement: string }) => requirement)
}

describe('a tenant without a policy', () => {
  it('gets the answers, claims and audit entries that it got before there were policies', async () => {
    const answer = await verify()
    expect(answer.body.verdict).toBe('approved')
    expect(answer.body).toMatchObject({ policy_hash: null, policy_rule: null, approval_id: null })
    for (const named of [claimsOf(answer), (await lastEntry('verify')).facts])
      expect(Object.keys(named).filter((name) => /polic|approval/.test(name))).toEqual([])
  })
})

describe('the policy of a tenant', () => {
  it('names its hash and the rule in the answer, in the JWT and in the audit log', async () => {
    const hash = await setPolicy([ANY])
    expect(hash).toBe(policyHashOf('{"rules":[{"name":"any","require":{}}]}'))
    const answer = await verify()
    const named = { policy_hash: hash, policy_rule: 'any' }
    expect(answer.body).toMatchObject({ verdict: 'approved', ...named })
    expect(claimsOf(answer)).toMatchObject(named)
    expect((await lastEntry('verify')).facts).toMatchObject(named)
    const rejected = await verify({ image: grace })
    expect(claimsOf(rejected)).toMatchObject({ verdict: 'rejected', reason: 'no_match', ...named })
  })

  it('gives no approval to photos where the rule asks for frames of a challenge', async () => {
    await require({ acr: `${ACR}face-active` })
    for (const client of [production, sandbox]) expect(unmetOf(await verify({}, client))).toEqual(['acr'])
    expect(unmetOf(await verify({ require_liveness: 'none' }))).toEqual(['acr'])
    expect(unmetOf(await verify({ image: undefined, images: [ada, adaToday, adaElsewhere] }))).toEqual([
      'acr',
    ])
  })

  it('approves a challenge that makes every required movement, and one that makes more', async () => {
    for (const required of ['face-active', 'face-active-turn', 'face-no-motion', 'face']) {
      await require({ acr: ACR + required })
      const asked = await sandbox.call('POST', '/v1/challenges', { user_id: user, action: PAYMENT })
      const answer = await verify({ image: undefined, challenge: answerTo(asked.body, ada) }, sandbox)
      expect([required, answer.body.verdict]).toEqual([required, 'approved'])
      expect(claimsOf(answer).acr).toBe(`${ACR}face-active`)
    }
  })

  it('refuses a challenge that asks for less, and leaves it unused', async () => {
    const { body: weak } = await production.call('POST', '/v1/challenges', {
      ...{ user_id: user, action: PAYMENT, modes: [] },
    })
    await require({ acr: `${ACR}face-active` })
    const asked = { user_id: user, action: PAYMENT, modes: ['turn'] }
    expect(unmetOf(await production.call('POST', '/v1/challenges', asked))).toEqual(['acr'])
    expect(unmetOf(await askForSession(production, asked))).toEqual(['acr'])
    const verifyWeak = () => verify({ image: undefined, challenge: answerTo(weak, ada) })
    expect(unmetOf(await verifyWeak())).toEqual(['acr'])
    await setPolicy(null)
    expect((await verifyWeak()).body.code).not.toBe('challenge_used')
  })

  it('counts no refusal towards the lockout, and every face that does not match', async () => {
    await require({ acr: `${ACR}face-active` })
    for (let i = 0; i < 3; i++) unmetOf(await verify({ image: grace }))
    expect(await lockoutOf()).toMatchObject({ status: 'none', rejections: 0 })
    await setPolicy([ANY])
    for (let i = 0; i < 2; i++) await verify({ image: grace })
    expect((await lockoutOf()).status).toBe('locked_out')
    await require({ acr: `${ACR}face-active` })
    // A lockout is a verdict, and says nothing about the policy.
    expect((await verify()).body).toMatchObject({ verdict: 'rejected', reason: 'locked_out' })
  })

  it('audits a refusal with its code, and keeps it for the idempotency key', async () => {
    await require({ min_photos: 2 })
    const headers = { 'X-Svc-Idempotency-Key': `refused-${users}` }
    const refused = await production.verify({ user_id: user, image: adaToday, action: PAYMENT }, { headers })
    expect(unmetOf(refused)).toEqual(['min_photos'])
    expect(await lastEntry('verify')).toMatchObject({ status: 422, code: 'policy_not_met' })
    await setPolicy(null)
    const again = await production.verify({ user_id: user, image: adaToday, action: PAYMENT }, { headers })
    expect(unmetOf(again)).toEqual(['min_photos'])
  })

  it('obeys a policy that is set while the images are compared', async () => {
    const { clock } = running
    const sleep = clock.sleep.bind(clock)
    const user_id = `${user}+slow`
    await sandbox.enroll({ user_id, image: ada })
    let hash = ''
    clock.sleep = async (ms, signal) => {
      hash = await require({ acr: `${ACR}face-active` })
      return sleep(ms, signal)
    }
    onTestFinished(() => {
      clock.sleep = sleep
    })
    expect(unmetOf(await verify({ user_id }, sandbox))).toEqual(['acr'])
    clock.sleep = async (ms, signal) => {
      hash = await setPolicy([ANY])
      return sleep(ms, signal)
    }
    await setPolicy(null)
    expect((await verify({ user_id }, sandbox)).body).toMatchObject({
      verdict: 'approved',
      policy_hash: hash,
    })
  })

  it('may be another one in the sandbox', async () => {
    await setPolicy([ANY])
    await setPolicy([{ name: 'next', require: { min_photos: 2 } }], ['sandbox'])
    expect(unmetOf(await verify({}, sandbox))).toEqual(['min_photos'])
    expect((await verify()).body).toMatchObject({ verdict: 'approved', policy_rule: 'any' })
  })

  it('holds for one tenant only', async () => {
    await require({ min_photos: 2 })
    const other = await running.tenant()
    await other.sandbox.enroll({ user_id: user, image: ada })
    expect((await verify({}, other.sandbox)).body.verdict).toBe('approved')
  })
})

describe('the rule of an action', () => {
  const RULES: PolicyRule[] = [
    {
      name: 'large',
      when: { types: ['payment', 'payment_batch'], min_amount: { EUR: '1000', JPY: '150000' } },
      require: {},
    },
    { name: 'rest', require: {} },
  ]
  const batch = (total: string) => {
    const payees = [{ name: 'Grace Hopper', account: 'DE89370400440532013000', amount: total }]
    const payees_hash = createHash('sha256').update(canonicalJson(payees)).digest('hex')
    return { type: 'payment_batch', total, currency: 'EUR', payees_count: 1, payees_hash }
  }

  it('decides for a batch by its total', async () => {
    await setPolicy(RULES)
    for (const [total, rule] of [
      ['1000.00', 'large'],
      ['999.99', 'rest'],
    ])
      expect((await verify({ action: batch(total!) }, sandbox)).body).toMatchObject({
        ...{ verdict: 'approved', policy_rule: rule },
      })
  })
})

describe('what a rule may require', () => {
  it('compares at the stricter of the rate of the contract and the rate of the rule', async () => {
    const { body: plain } = await verify()
    await require({ max_fmr: 0.01 })
    expect((await verify()).body).toMatchObject({ fmr: plain.fmr, threshold: plain.threshold })
    await require({ max_fmr: plain.fmr / 2 })
    const { body: strict } = await verify()
    expect(strict.fmr).toBeLessThanOrEqual(plain.fmr / 2)
    expect(strict.threshold).toBeGreaterThan(plain.threshold)
    // No pack is measured at this rate.
    await require({ max_fmr: 1e-12 })
    expect(unmetOf(await verify())).toEqual(['max_fmr'])
  })

  it('refuses too few images, and a reference of too few photos', async () => {
    await require({ min_photos: 2, min_reference_photos: 2 })
    expect(unmetOf(await verify())).toEqual(['min_photos', 'min_reference_photos'])
    const two = { image: undefined, images: [adaToday, adaElsewhere] }
    expect(unmetOf(await verify(two))).toEqual(['min_reference_photos'])
    expect((await production.enroll({ user_id: user, image: adaToday, add: true })).status).toBe(201)
    expect((await verify(two)).body.verdict).toBe('approved')
  })
})

describe('a rule that asks for a second person', () => {
  let second: string
  beforeEach(async () => {
    second = `${user}-second`
    for (const client of [production, sandbox]) await client.enroll({ user_id: second, image: grace })
    await require({ second_approver: { within_minutes: 30 } })
  })

  const first = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const { body } = await verify(fields)
    expect([body.verdict, body.reason]).toEqual(['rejected', 'second_approval_required'])
    return body.verification_id
  }
  const approve = (approval_id: string, fields: Record<string, unknown> = {}) =>
    verify({ user_id: second, image: grace, approval_id, ...fields })

  it('approves the second person once, and names the first in the JWT and in the audit log', async () => {
    const approval_id = await first()
    expect(await lockoutOf()).toMatchObject({ rejections: 0 })
    const answer = await approve(approval_id)
    expect(answer.body).toMatchObject({ verdict: 'approved', approval_id })
    expect(claimsOf(answer)).toMatchObject({ verdict: 'approved', sub: second, approval_id })
    expect((await lastEntry('verify')).facts).toMatchObject({ verdict: 'approved', approval_id })
    const looked = await production.call('GET', `/v1/verifications/${answer.body.verification_id}`)
    const { policy_hash, policy_rule } = claimsOf(answer)
    expect(policy_hash).toHaveLength(64)
    expect(looked.body).toMatchObject({ approval_id, policy_hash, policy_rule })
    const again = await approve(approval_id)
    expect(unmetOf(again)).toEqual(['second_approver'])
    expect(again.body.details[0]).toMatchObject({ path: 'approval_id', issue: 'has been used' })
  })

  it('rejects the first person under another user id, and counts no failed attempt', async () => {
    const twin = `${user}-twin`
    expect((await production.enroll({ user_id: twin, image: ada })).status).toBe(201)
    const approval_id = await first()
    const answer = await verify({ user_id: twin, image: adaElsewhere, approval_id })
    expect([answer.status, answer.body.verdict, answer.body.reason]).toEqual([200, 'rejected', 'same_person'])
    expect(claimsOf(answer)).toMatchObject({ verdict: 'rejected', reason: 'same_person', amr: ['face'] })
    expect((await lastEntry('verify')).facts).toMatchObject({ reason: 'same_person' })
    expect((await production.call('GET', `/v1/users/${twin}`)).body.lockout).toMatchObject({ rejections: 0 })
    // The approval waits on for somebody else.
    expect((await approve(approval_id)).body.verdict).toBe('approved')
  })

  it('ends a session of the hosted page without another try, and says that a second person has to act', async () => {
    const asked = await askForSession(sandbox, { user_id: `${user}+match`, action: PAYMENT, locale: 'en' })
    const visitor = new Visitor(asked.body.url)
    await visitor.enter()
    const over = { state: 'over', waits_for: 'second_person' }
    const { body } = await visitor.capture(blank)
    expect(body).toMatchObject({ ...over, return_url: expect.stringContaining(asked.body.session_id) })
    expect(body.ending).toBeUndefined()
    expect((await visitor.open()).text).toContain('A second person has to confirm this as well')
    const session = await sandbox.call('GET', `/v1/capture-sessions/${asked.body.session_id}`)
    expect(session.body).toMatchObject({ status: 'completed', attempts: 1 })
    expect(session.body.result.body.reason).toBe('second_approval_required')
  })

  it('keeps no approval of a person who was rejected, and rejects a second person who is not the user', async () => {
    const { body } = await verify({ image: grace })
    expect(body.reason).toBe('no_match')
    expect(unmetOf(await approve(body.verification_id))).toEqual(['second_approver'])
    const approval_id = await first()
    expect((await approve(approval_id, { image: ada })).body.reason).toBe('no_match')
    expect((await approve(approval_id)).body.verdict).toBe('approved')
  })

  it('keeps no approval of a capture that was seen before', async () => {
    const { body } = await verify({ image: ada })
    expect([body.reason, body.replay.suspected]).toEqual(['second_approval_required', true])
    expect(unmetOf(await approve(body.verification_id))).toEqual(['second_approver'])
  })
})

describe('a change of the policy', () => {
  it('is audited with the old and the new hash, and keeps every version', async () => {
    const one = await setPolicy([ANY])
    const two = await setPolicy([{ name: 'other', require: {} }])
    expect((await lastEntry('policy_changed')).facts).toMatchObject({
      ...{ production: two, sandbox: two, previous: { production: one, sandbox: one } },
    })
    await setPolicy(null)
    const { store, tenancy } = running.service.core
    const hashes = (await store.read.statements(policyReader).versions(tenant.id)).map(({ hash }) => hash)
    expect(hashes).toEqual(expect.arrayContaining([one, two]))
    const { policy } = await policyOperations(running).version(await tenancy.find(tenant.id), one)
    expect(policyHashOf(policy)).toBe(one)
  })

  it('is read from the database once for all calls of both environments', async () => {
    const hash = await setPolicy([{ name: `read-${users}`, require: {} }])
    expect((await verify()).body.policy_hash).toBe(hash)
    await running.database.query("UPDATE policy_version SET policy = 'broken' WHERE hash = $1", [hash])
    expect((await verify({}, sandbox)).body.policy_hash).toBe(hash)
    const challenge = { user_id: user, action: PAYMENT }
    for (const client of [production, sandbox])
      expect((await client.call('POST', '/v1/challenges', challenge)).status).toBe(201)
  })

  it('gives no verdict under a policy whose text was changed in the database', async () => {
    const hash = await setPolicy([{ name: `kept-${users}`, require: { min_photos: 2 } }])
    await running.database.query(
      "UPDATE policy_version SET policy = replace(policy, ':2', ':1') WHERE hash = $1",
      [hash],
    )
    expect((await verify()).status).toBe(500)
    await setPolicy(null)
    expect((await verify()).body.verdict).toBe('approved')
  })
})

/** The newest entry of the event. */
async function lastEntry(event: string) {
  const { body } = await production.call('GET', `/v1/audit?event=${event}&order=desc&limit=1`)
  return body.data[0]
}
