/** The second factor of operators: setting up, sign-in, single use of codes, loss, and storage. */

import { beforeEach, describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../src/admin/accounts/account-statements.js'
import type { PersonRole } from '../../src/admin/accounts/account-tables.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { type DashboardClient, loginToken, signIn as signInFrom } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { serviceOfTest } from '../support/service.js'
import { type Credentials, codeAt, fromBase32, openConsole, tokenOf } from './console.js'

const desk = await openConsole()
const { running } = desk
let count = 0
let name: string

beforeEach(() => {
  name = `kim${++count}`
  // Codes of this time step were used by no test before.
  running.clock.advance(2 * MINUTE_MS)
})

const signIn = (credentials: Credentials) => desk.signIn(credentials)
const answerTo = (credentials: Credentials) => desk.answerTo(credentials)
const codeOf = (secret: string, steps = 0) => codeAt(running, secret, steps)

async function add(client: DashboardClient): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = (await client.call('POST', '/second-factor')).body
  const { body } = await client.call('POST', '/second-factor/confirm', { code: codeOf(secret) })
  running.clock.advance(MINUTE_MS)
  return { secret, recovery: body.recovery_codes }
}
/** Adds an operator with a second factor. */
async function operator(role: PersonRole = 'admin') {
  const { password, client } = await desk.addOperator(name, role)
  return { password, client, ...(await add(client)) }
}
const entries = () => desk.entries()

describe('a second factor', () => {
  it('is requested only after the right password, and completes the sign-in', async () => {
    const { password, secret } = await operator('viewer')
    expect(await answerTo({ name, password: 'wrong' })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password })).toBe('401 second_factor_required')
    expect(await answerTo({ name, password, code: '000000' })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password: 'wrong', code: codeOf(secret) })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password, code: codeOf(secret) })).toBe('201')
    expect((await entries()).filter((entry) => entry.name === name)).toMatchObject([
      { event: 'operator_added' },
      { event: 'second_factor_added', actor: `dashboard:${name}` },
    ])
  })

  it('accepts each code once, also of many sign-ins at the same time, and none older than the last one', async () => {
    const { password, secret } = await operator()
    const code = codeOf(secret)
    const answers = await Promise.all(Array.from({ length: 4 }, () => answerTo({ name, password, code })))
    expect(answers.sort()).toEqual(['201', ...Array(3).fill('401 sign_in_failed')])
    expect(await answerTo({ name, password, code: codeOf(secret, -1) })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password, code: codeOf(secret, 1) })).toBe('201')
  })

  it('accepts each recovery code once, in any spelling', async () => {
    const { password, recovery } = await operator()
    expect(recovery).toHaveLength(10)
    expect(recovery[0]).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/)
    expect(await answerTo({ name, password, code: recovery[0]!.toLowerCase().replaceAll('-', ' ') })).toBe(
      '201',
    )
    expect(await answerTo({ name, password, code: recovery[0]! })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password, code: recovery[1]! })).toBe('201')
  })

  it('allows ten guesses from any addresses, and the next after five minutes', async () => {
    const { password, secret } = await operator()
    for (let tries = 0; tries < 10; tries++)
      expect(await answerTo({ name, password, code: '000000' })).toBe('401 sign_in_failed')
    expect(await answerTo({ name, password, code: codeOf(secret) })).toBe('429 too_many_sign_ins')
  })

  it('is requested again for a fresh sign-in', async () => {
    const { client, password, secret } = await operator()
    running.clock.advance(20 * MINUTE_MS)
    const confirm = async (proof: object) => (await client.call('POST', '/session/confirm', proof)).body.code
    expect(await confirm({ password })).toBe('second_factor_required')
    expect(await confirm({ password, code: '000000' })).toBe('sign_in_failed')
    expect(await confirm({ password, code: codeOf(secret) })).toBeUndefined()
  })

  it('takes effect only after a code was confirmed, and cannot be replaced afterwards', async () => {
    const { password, client } = await desk.addOperator(name, 'admin')
    await client.call('POST', '/second-factor')
    expect(await answerTo({ name, password })).toBe('201')
    const wrong = await client.call('POST', '/second-factor/confirm', { code: '000000' })
    expect(wrong.body.code).toBe('second_factor_code_wrong')
    await add(client)
    expect((await client.call('POST', '/second-factor')).body.code).toBe('second_factor_enrolled')
    const { body } = await client.call('GET', '/session')
    expect(body.second_factor).toBe('enrolled')
  })

  it('needs a fresh sign-in to be added or removed by its operator', async () => {
    const { client, password, secret } = await operator('viewer')
    running.clock.advance(20 * MINUTE_MS)
    const remove = async (code: string) => {
      const { body, status } = await client.call('POST', '/second-factor/remove', { code })
      return body.code ?? status
    }
    expect(await remove(codeOf(secret))).toBe('fresh_sign_in_required')
    await client.call('POST', '/session/confirm', { password, code: codeOf(secret) })
    expect(await remove(codeOf(secret))).toBe('sign_in_failed')
    expect(await remove('000000')).toBe('sign_in_failed')
    expect(await remove(codeOf(secret, 1))).toBe(200)
    expect(await answerTo({ name, password })).toBe('201')
    expect((await entries()).findLast(({ event }) => event === 'second_factor_removed')).toMatchObject({
      name,
    })
  })

  it('ends the other sessions of the person when it is added, removed or reset', async () => {
    const { password } = await desk.operations.operators.add(name, 'admin', COMMAND_LINE)
    const statusOf = async (one: DashboardClient) => (await one.call('GET', '/session')).status
    const [before, own] = [await signIn({ name, password }), await signIn({ name, password })]
    const { recovery } = await add(own)
    expect([await statusOf(before), await statusOf(own)]).toEqual([401, 200])
    const beside = await signIn({ name, password, code: recovery[0]! })
    expect((await own.call('POST', '/second-factor/remove', { code: recovery[1]! })).status).toBe(200)
    expect([await statusOf(beside), await statusOf(own)]).toEqual([401, 200])
    await add(own)
    await desk.operations.secondFactors.reset(name, COMMAND_LINE)
    expect(await statusOf(own)).toBe(401)
    const [unnamed, adding] = [
      await signIn({ password: OPERATOR_PASSWORD }),
      await signIn({ password: OPERATOR_PASSWORD }),
    ]
    await add(adding)
    expect([await statusOf(unnamed), await statusOf(adding)]).toEqual([401, 200])
    await desk.operations.secondFactors.reset('operator', COMMAND_LINE)
  })

  it('makes a session stale that has not met it, and cannot be reset by its own person without a code', async () => {
    const { client, password, secret } = await operator()
    const create = async () => (await client.call('POST', '/operators', { name: `${name}-x` })).body.code
    expect(await create()).toBe('invalid_request')
    const reset = await client.call('POST', '/operators/second-factor/remove', { name })
    expect(reset.body.code).toBe('not_permitted')
    // A session that an earlier version began does not say which second factor it met.
    const { store } = running.service.core
    const { hash, authenticatedAt } = (await desk.operations.sessions.list()).find(
      (one) => one.operator === name,
    )!
    await store.transaction('rows', (tx) =>
      tx.statements(accountWriter).setSessionAuthenticated({ hash, authenticatedAt, secondFactorAt: null }),
    )
    expect(await create()).toBe('fresh_sign_in_required')
    await client.call('POST', '/session/confirm', { password, code: codeOf(secret) })
    expect(await create()).toBe('invalid_request')
  })

  it('is asked for by the link of its person, which a wrong or missing code does not use up', async () => {
    const { secret } = await operator()
    const { operators } = desk.operations
    const link = await operators.createSignInLink(name, running.service.adminUrl, COMMAND_LINE)
    const credentials = { login_token: tokenOf(link) }
    expect(await answerTo(credentials)).toBe('401 second_factor_required')
    expect(await answerTo({ ...credentials, code: '000000' })).toBe('401 sign_in_failed')
    const client = await signIn({ ...credentials, code: codeOf(secret) })
    expect((await client.call('GET', '/session')).body).toMatchObject({
      method: 'link',
      second_factor: 'enrolled',
    })
    expect((await client.call('POST', '/operators', {})).body.code).toBe('invalid_request')
    expect(await answerTo({ ...credentials, code: codeOf(secret, 1) })).toBe('401 sign_in_failed')
  })

  it('can be removed by an admin or the command line when it is lost, but not by a viewer', async () => {
    const { password, client } = await operator('viewer')
    const path = '/operators/second-factor/remove'
    expect((await client.call('POST', path, { name })).body.code).toBe('not_permitted')
    const admin = await signIn({ password: OPERATOR_PASSWORD })
    const listed = async () =>
      (await admin.call('GET', '/operators')).body.operators.find(
        (one: { name: string }) => one.name === name,
      )
    expect((await listed()).second_factor).toBe(true)
    expect((await admin.call('POST', path, { name })).status).toBe(200)
    expect((await listed()).second_factor).toBe(false)
    expect(await answerTo({ name, password })).toBe('201')
    expect((await admin.call('POST', path, { name })).body.code).toBe('second_factor_missing')
    expect((await admin.call('POST', path, { name: 'nobody' })).body.code).toBe(
      'second_factor_owner_not_found',
    )
  })

  it('is available to the operator without a name, and is deleted with its operator', async () => {
    const admin = await signIn({ password: OPERATOR_PASSWORD })
    const { secret } = await add(admin)
    expect(await answerTo({ password: OPERATOR_PASSWORD })).toBe('401 second_factor_required')
    expect(await answerTo({ password: OPERATOR_PASSWORD, code: codeOf(secret) })).toBe('201')
    const { operators, secondFactors } = desk.operations
    await secondFactors.reset('operator', COMMAND_LINE)
    expect(await answerTo({ password: OPERATOR_PASSWORD })).toBe('201')
    await operator()
    const { id } = (await desk.store.read.statements(accountReader).personByName(name))!
    await operators.remove(name, COMMAND_LINE)
    expect(await desk.store.read.statements(accountReader).secondFactor(id)).toBeUndefined()
  })

  it('is stored sealed, and its recovery codes as hashes', async () => {
    const { secret, recovery } = await operator()
    const { id } = (await desk.store.read.statements(accountReader).personByName(name))!
    const row = (await desk.store.read.statements(accountReader).secondFactor(id))!
    expect(row.sealed.includes(fromBase32(secret))).toBe(false)
    expect(row.recovery).not.toContain(recovery[0]!.replaceAll('-', ''))
    expect(running.logText()).not.toContain(secret)
    const kept = await running.service.core.store.read.sealedRows('second_factor', '', 100)
    expect(kept.map((one) => one.id)).toContain(id)
  })

  it('must be added before anything else when it is required', async () => {
    const strict = await serviceOfTest({ COUNTERSIGN_OPERATOR_SECOND_FACTOR: 'required' })
    const admin = await signInFrom(strict, { password: OPERATOR_PASSWORD })
    expect((await admin.call('GET', '/session')).body.second_factor).toBe('required')
    expect((await admin.call('GET', '/tenants')).body.code).toBe('second_factor_not_added')
    const { secret } = (await admin.call('POST', '/second-factor')).body
    const code = codeAt(strict, secret)
    expect((await admin.call('POST', '/second-factor/confirm', { code })).status).toBe(200)
    expect((await admin.call('GET', '/tenants')).status).toBe(200)

    // No link is a way around it: a person's may only add one, and a tenant's names nobody who could.
    const { operators } = strict.operations
    await operators.add('kim', 'admin', COMMAND_LINE)
    const link = await operators.createSignInLink('kim', strict.service.adminUrl, COMMAND_LINE)
    const kim = await signInFrom(strict, { login_token: tokenOf(link) })
    expect((await kim.call('GET', '/session')).body.second_factor).toBe('required')
    expect((await kim.call('GET', '/tenants')).body.code).toBe('second_factor_not_added')
    const begun = (await kim.call('POST', '/second-factor')).body
    const own = codeAt(strict, begun.secret)
    expect((await kim.call('POST', '/second-factor/confirm', { code: own })).status).toBe(200)
    expect((await kim.call('GET', '/tenants')).status).toBe(200)
    const other = await strict.tenant()
    const token = await loginToken(strict, other.id)
    await expect(signInFrom(strict, { login_token: token })).rejects.toThrow('second_factor_not_added')
  })
})
