/** Tests of a policy that erases users whom nobody uses: a notice, then the erasure, on the days that it names and not before. */

import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import { InactiveUsers } from '../../../src/features/policies/inactive-users.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { DAY_MS, isoTime } from '../../../src/lib/clock.js'
import type { ApiClient } from '../../support/client.js'
import { countRows, keptBytes } from '../../support/database.js'
import { photosOf } from '../../support/faces.js'
import { setPolicy as putInForce } from '../../support/policies.js'
import { serviceOfFile, type TestTenant } from '../../support/service.js'

const RULES = [{ name: 'any', require: {} }]
const RETENTION = { inactive_days: 90, notice_days: 30 }

let tenant: TestTenant
let production: ApiClient
let user: string
let users = 0

const running = await serviceOfFile()
const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')

beforeEach(async () => {
  tenant = await running.tenant()
  production = await running.production(tenant)
  await tenant.subscribe('production')
  user = `unused-${++users}`
  expect((await production.enroll({ user_id: user, image: ada })).status).toBe(201)
})

const core = () => running.service.core
async function setPolicy(retention: ActionPolicy['retention'] | undefined) {
  const policy = { rules: RULES, ...(retention ? { retention } : {}) }
  await putInForce(running, tenant.id, policy, ['production'])
}
const run = (isOn = () => true) => new InactiveUsers({ ...core(), clock: running.clock }).run(isOn)
const passDays = (days: number) => running.clock.advance(days * DAY_MS)
const verify = (image = adaToday) => production.verify({ user_id: user, image, action: 'look' })
const isEnrolled = async () => (await production.call('GET', `/v1/users/${user}`)).status === 200

/** The webhooks about the user's erasure that were put so far, oldest first; bodies of erased users are gone. */
async function webhooks() {
  return (await tenant.told('user.eras')).map(({ type, data }) => [type, data])
}

describe('a policy that erases unused users', () => {
  it('announces the erasure when it is due, and erases when the notice has run out', async () => {
    await setPolicy(RETENTION)
    passDays(60)
    running.clock.advance(-1)
    await run()
    expect(await webhooks()).toEqual([])
    running.clock.advance(1)
    await run()
    await run()
    const erase_at = isoTime(running.clock.now() + 30 * DAY_MS)
    expect(await webhooks()).toEqual([['user.erasure_scheduled', { user_id: user, erase_at }]])
    const [announced, ...others] = await tenant.audit('erasure_scheduled')
    expect(others).toEqual([])
    expect(announced).toMatchObject({ actor: 'retention', erase_at })
    passDays(30)
    running.clock.advance(-1)
    await run()
    expect(await isEnrolled()).toBe(true)
    running.clock.advance(1)
    await run()
    await run()
    expect(await isEnrolled()).toBe(false)
    const [erased, ...more] = await tenant.audit('delete')
    expect(more).toEqual([])
    expect(erased).toMatchObject({ actor: 'retention', cause: 'inactivity', references: 1 })
    const sent = await webhooks()
    expect(sent.map(([type]) => type)).toEqual(['user.erasure_scheduled', 'user.erased'])
    expect(sent[1]).toMatchObject(['user.erased', { user_id: user, erasure_id: erased.erasure_id }])
    // The receipt is that of any erasure, and a repeated call gets it.
    expect((await production.erase(user)).body).toMatchObject({ erasure_id: erased.erasure_id })
    expect(await countRows(running, 'user_activity', 'tenant_id = $1', [tenant.id])).toBe(0)
  })

  it('starts again with an approved verify, also after the notice, and not with a rejected one', async () => {
    await setPolicy(RETENTION)
    passDays(59)
    expect((await verify(grace)).body.verdict).toBe('rejected')
    passDays(1)
    await run()
    expect(await webhooks()).toHaveLength(1)
    expect((await verify()).body.verdict).toBe('approved')
    passDays(59)
    await run()
    expect([await webhooks(), await isEnrolled()]).toMatchObject([{ length: 1 }, true])
    passDays(1)
    await run()
    expect(await webhooks()).toHaveLength(2)
    passDays(30)
    await run()
    expect(await isEnrolled()).toBe(false)
  })

  it('counts no day from before the policy began, and goes on where another version erases too', async () => {
    passDays(400)
    await setPolicy(RETENTION)
    await run()
    passDays(59)
    await run()
    expect(await webhooks()).toEqual([])
    await setPolicy({ ...RETENTION, inactive_days: 91 })
    passDays(2)
    await run()
    expect(await webhooks()).toHaveLength(1)
  })

  it('takes a notice back where the policy gives the user more time, or was out of force', async () => {
    await setPolicy(RETENTION)
    passDays(60)
    await run()
    await setPolicy({ ...RETENTION, inactive_days: 120 })
    passDays(30)
    await run()
    expect(await isEnrolled()).toBe(true)
    await run()
    expect(await webhooks()).toHaveLength(2)
    await setPolicy(undefined)
    passDays(1000)
    await run()
    await setPolicy(RETENTION)
    await run()
    expect(await isEnrolled()).toBe(true)
  })

  it('erases nobody without a policy, of a suspended tenant, in the sandbox, or after it is stopped', async () => {
    await tenant.sandbox.enroll({ user_id: user, image: ada })
    passDays(500)
    await run()
    await setPolicy(RETENTION)
    passDays(60)
    await run(() => false)
    const { lifecycle } = running.operations
    await lifecycle.suspend(await tenant.record(), COMMAND_LINE)
    await run()
    await lifecycle.resume(await tenant.record(), COMMAND_LINE)
    expect(await webhooks()).toEqual([])
    await run()
    passDays(30)
    await run()
    expect(await isEnrolled()).toBe(false)
    expect((await tenant.sandbox.call('GET', `/v1/users/${user}`)).status).toBe(200)
  })

  it('does each step once where several services run at the same time', async () => {
    await setPolicy(RETENTION)
    passDays(60)
    await Promise.all([run(), run(), run()])
    passDays(30)
    await Promise.all([run(), run(), run()])
    expect((await webhooks()).map(([type]) => type)).toEqual(['user.erasure_scheduled', 'user.erased'])
  })

  it('is carried out by the retention job of the leader only, also after other work that fails', async () => {
    await setPolicy(RETENTION)
    const { store } = core()
    const { clock } = running
    let leads = false
    const leaderLease = { current: () => (leads ? ({} as never) : null) }
    const job = new RetentionJob(
      store,
      clock,
      running.service.log,
      leaderLease,
      {
        sandboxRetentionMs: 1e12,
        afterExpiry: [() => Promise.reject(new Error('a node lacks the pack')), run],
      },
      () => clock.uptime(),
    )
    passDays(60)
    await job.run()
    expect(await webhooks()).toEqual([])
    leads = true
    await job.run()
    expect(await webhooks()).toHaveLength(1)
  })

  it('keeps the user id sealed', async () => {
    for (const [name, bytes] of await keptBytes(running))
      expect([name, bytes.includes(user)]).toEqual([name, false])
  })
})
