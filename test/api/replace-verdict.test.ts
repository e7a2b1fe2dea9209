/** Tests of contracts that ask for a verdict before a reference is replaced: its user, its action, its age, and its single use. */

import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { allowReturn, askForSession } from '../support/capture-page.js'
import { photosOf } from '../support/faces.js'
import { serviceOfFile, WITH_PAGE } from '../support/service.js'

const MINUTES = 10
const AGREED = { type: 'replace_reference', ticket: '4711' }

let users = 0
let user: string

const running = await serviceOfFile({ ...WITH_PAGE, COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })
const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')
const tenant = await running.tenant({ ratePerSecond: 1000, replaceVerdictMinutes: MINUTES })
const production = await running.production(tenant)
await allowReturn(running, tenant)

beforeEach(async () => {
  user = `replaced-${++users}`
  expect((await production.enroll({ user_id: user, image: ada })).status).toBe(201)
})

const replace = (fields: Record<string, unknown> = {}) =>
  production.enroll({ user_id: user, image: grace, replace: true, ...fields })
/** Verifies the user for an action. @returns the id of the approved verdict */
async function agree(fields: Record<string, unknown> = {}): Promise<string> {
  const { body } = await production.verify({ user_id: user, image: adaToday, action: AGREED, ...fields })
  expect(body.verdict).toBe('approved')
  return body.verification_id
}
const isStillAda = async () =>
  (await production.verify({ user_id: user, image: adaToday, action: 'look' })).body.verdict === 'approved'
async function expectRefused(answer: Awaited<ReturnType<typeof replace>>) {
  expect([answer.status, answer.body.error, answer.body.code]).toEqual([
    ...[403, 'permission_denied', 'replace_verdict_required'],
  ])
  expect(await isStillAda()).toBe(true)
}

describe('replacing a reference where the contract asks for a verdict', () => {
  it('refuses a replacement without a verdict, and with an id that was never issued', async () => {
    await expectRefused(await replace())
    await expectRefused(await replace({ verification_id: 'ver_00000000000000000000000000000000' }))
  })

  it('replaces a reference once with an approved verify of the user for it', async () => {
    const verification_id = await agree()
    expect((await replace({ verification_id })).status).toBe(201)
    expect(await isStillAda()).toBe(false)
    expect((await replace({ verification_id, image: ada })).body.code).toBe('replace_verdict_required')
  })

  it('replaces a reference once among parallel requests with the same verdict', async () => {
    const verification_id = await agree()
    const answers = await Promise.all(Array.from({ length: 4 }, () => replace({ verification_id })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'replace_verdict_required')).toHaveLength(3)
  })

  it('refuses a replacement when the verdict is too old', async () => {
    const verification_id = await agree()
    running.clock.advance(MINUTES * MINUTE_MS)
    await expectRefused(await replace({ verification_id }))
  })

  it('refuses a replacement with a verdict for another action, or of another user', async () => {
    for (const action of ['replace_reference', { type: 'wire_transfer' }, { note: AGREED }])
      await expectRefused(await replace({ verification_id: await agree({ action }) }))
    const verification_id = await agree()
    const victim = `replaced-${++users}`
    await production.enroll({ user_id: victim, image: ada })
    expect((await replace({ verification_id, user_id: victim })).body.code).toBe('replace_verdict_required')
  })

  it('refuses a replacement with a rejected verify, and with a replayed capture', async () => {
    const rejected = await production.verify({ user_id: user, image: grace, action: AGREED })
    expect(rejected.body.verdict).toBe('rejected')
    await expectRefused(await replace({ verification_id: rejected.body.verification_id }))
    const { body } = await production.verify({ user_id: user, image: ada, action: AGREED })
    expect([body.verdict, body.replay.suspected]).toEqual(['approved', true])
    await expectRefused(await replace({ verification_id: body.verification_id }))
  })

  it('clears no lockout by a replacement without a verdict', async () => {
    for (let i = 0; i < 2; i++) await production.verify({ user_id: user, image: grace, action: 'x' })
    const locked = async () => (await production.call('GET', `/v1/users/${user}`)).body.lockout
    expect((await locked()).status).not.toBe('none')
    expect((await replace()).body.code).toBe('replace_verdict_required')
    expect((await locked()).status).not.toBe('none')
  })

  it('asks for the verdict of a replacement at a capture session as well', async () => {
    const ask = (fields: object) =>
      askForSession(production, {
        ...{ user_id: user, purpose: 'enroll', action: undefined, replace: true, modes: [] },
        ...fields,
      })
    expect((await ask({})).body.code).toBe('replace_verdict_required')
    const verification_id = await agree()
    expect((await ask({ verification_id })).status).toBe(201)
  })

  it('audits the verdict of a replacement', async () => {
    const verification_id = await agree()
    await replace({ verification_id })
    expect((await tenant.audit('enroll')).at(-1)).toMatchObject({ replaced: true, verification_id })
  })

  it('asks for the verdict of a replacement in the sandbox, too', async () => {
    const { sandbox } = tenant
    await sandbox.enroll({ user_id: user, image: ada })
    const attempt = { user_id: user, image: ada, replace: true }
    expect((await sandbox.enroll(attempt)).body.code).toBe('replace_verdict_required')
    const { body } = await sandbox.verify({ user_id: user, image: ada, action: AGREED })
    const { verification_id } = body
    expect((await sandbox.enroll({ ...attempt, verification_id })).status).toBe(201)
  })
})

it('enrolls a new user without a verdict, also with `replace`', async () => {
  expect((await production.enroll({ user_id: 'nobody-yet', image: ada, replace: true })).status).toBe(201)
})

it('asks for no verdict where the contract does not', async () => {
  const record = await tenant.record()
  const contract = { ratePerSecond: record.ratePerSecond, fmr: record.fmr, requireLiveness: null }
  const set = (replaceVerdictMinutes: number | null) =>
    running.operations.tenants.setContract(record, COMMAND_LINE, { ...contract, replaceVerdictMinutes })
  await set(null)
  expect((await replace()).status).toBe(201)
  await set(MINUTES)
  expect((await replace()).body.code).toBe('replace_verdict_required')
})

it('refuses a verdict in an enrollment without `replace`', async () => {
  const { body } = await production.enroll({ user_id: user, image: ada, add: true, verification_id: 'ver_1' })
  expect([body.code, body.details[0].path]).toEqual(['invalid_request', 'verification_id'])
})
