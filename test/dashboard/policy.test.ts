/** A tenant's policy at the dashboard: who sees it, who changes it, and how a draft is checked. */

import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { base64, face } from '../support/faces.js'
import { openConsole } from './console.js'

const desk = await openConsole()

const policy = {
  rules: [
    {
      name: 'large-payments',
      when: { types: ['payment'], min_amount: { EUR: '10000' } },
      require: { acr: 'urn:countersign:acr:face-active' },
    },
    { name: 'all-else', require: {} },
  ],
}
const payment = (amount: string) =>
  JSON.stringify({
    ...{ type: 'payment', amount, currency: 'EUR' },
    payee: { name: 'Acme GmbH', account: 'DE89370400440532013000' },
  })
const check = (draft: unknown, action = '') =>
  desk.call('POST', '/policy/check', {
    policy: typeof draft === 'string' ? draft : JSON.stringify(draft),
    action,
  })
const set = (value: unknown, sandbox_only: boolean, by = desk.own) =>
  desk.call('POST', '/policy', { policy: value && JSON.stringify(value), sandbox_only }, by)

describe('the draft of a policy', () => {
  it.each([
    ['{"rules":', 'is not JSON'],
    [{ rules: [] }, 'rules'],
    [{ rules: [{ name: 'a', require: { acr: 'face' } }] }, 'a requires "face", which is no acr'],
    [{ rules: [{ name: 'a', require: { acrs: 'x' } }] }, 'unknown fields: acrs'],
    [{ rules: [{ name: 'a', require: { max_fmr: 1e-9 } }] }, 'false match rate'],
  ])('with the fault of %j is told where it is, and nothing is stored', async (draft, fault) => {
    const { status, body } = await check(draft)
    expect([status, body.problem]).toEqual([200, expect.stringContaining(fault)])
    expect(body).toMatchObject({ hash: null, policy: null, decides: null })
    expect((await desk.call('GET', '/policy')).body.versions).toEqual([])
  })

  it('says which rule decides about an example, and what the rule asks for', async () => {
    const large = (await check(policy, payment('10000.00'))).body
    expect(large).toMatchObject({ problem: null, policy, decides: policy.rules[0] })
    expect((await check(policy, payment('9999.99'))).body.decides.name).toBe('all-else')
    expect((await check(policy, 'open the safe')).body.decides.name).toBe('all-else')
    expect((await check(policy)).body.decides).toBeNull()
  })

  it('is checked also for a viewer, who may not put it in force', async () => {
    const { viewer } = desk
    const asked = { policy: JSON.stringify(policy), action: '' }
    expect((await desk.call('POST', '/policy/check', asked, viewer)).body.problem).toBeNull()
    expect((await set(policy, false, viewer)).body.code).toBe('not_permitted')
    expect((await desk.call('GET', '/policy', undefined, viewer)).status).toBe(200)
  })
})

describe('the policy of a tenant', () => {
  it('is put in force in the sandbox only or everywhere, and every verdict obeys it from then on', async () => {
    const tried = await set(policy, true)
    expect(tried.body).toEqual({
      previous: { production: null, sandbox: null },
      in_force: { production: null, sandbox: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    const hash = tried.body.in_force.sandbox
    const { sandbox } = desk.tenant
    const image = base64(await face('ada'))
    await sandbox.enroll({ user_id: 'ada', image })
    const refused = await sandbox.verify({ user_id: 'ada', image, action: JSON.parse(payment('10000')) })
    expect(refused.body.code).toBe('policy_not_met')
    expect((await set(policy, false)).body.in_force).toEqual({ production: hash, sandbox: hash })
    expect((await desk.call('GET', '/policy')).body).toMatchObject({
      in_force: { production: hash, sandbox: hash },
      versions: [{ hash, in_force: ['production', 'sandbox'], rules: 2 }],
    })
    expect((await desk.call('GET', `/policy/version?hash=${hash.slice(0, 8)}`)).body).toMatchObject({
      hash,
      policy,
    })
  })

  it('has a history of who changed it, newest first', async () => {
    const { body } = await set(null, false)
    expect(body.in_force).toEqual({ production: null, sandbox: null })
    const { changes, versions } = (await desk.call('GET', '/policy')).body
    expect(versions).toMatchObject([{ in_force: [] }])
    const [{ hash }] = versions
    expect(changes).toMatchObject([
      { actor: 'dashboard:tenant', production: null, previous: { production: hash } },
      { production: hash, sandbox: hash, previous: { production: null, sandbox: hash } },
      { production: null, sandbox: hash, previous: { production: null, sandbox: null } },
    ])
    expect(Object.keys(changes[0]).sort()).toEqual([
      ...['actor', 'at', 'previous', 'production', 'sandbox', 'sequence'],
    ])
  })

  it('is not changed by a draft with a fault', async () => {
    expect((await set({ rules: [] }, false)).outcome).toBe('400 invalid_policy')
    const unreached = await set({ rules: [{ name: 'a', require: { max_fmr: 1e-9 } }] }, false)
    expect(unreached.outcome).toBe('400 fmr_not_reached')
    expect((await desk.call('GET', '/policy')).body.in_force).toEqual({ production: null, sandbox: null })
  })

  it('is neither shown nor changed by another tenant', async () => {
    const { stranger, operator, running } = desk
    expect((await desk.call('GET', '/policy', undefined, stranger)).status).toBe(403)
    expect((await set(policy, false, stranger)).status).toBe(403)
    const [{ hash }] = (await desk.call('GET', '/policy')).body.versions
    const foreign = await operator.call(
      'GET',
      `/tenants/${(await running.tenant()).id}/policy/version?hash=${hash}`,
    )
    expect(foreign.outcome).toBe('404 policy_not_found')
  })

  it('is changed only after a fresh sign-in', async () => {
    desk.running.clock.advance(20 * MINUTE_MS)
    expect((await set(policy, false)).body.code).toBe('fresh_sign_in_required')
    expect((await check(policy)).status).toBe(200)
  })
})
