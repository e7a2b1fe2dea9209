/** The result of a session goes to the browser that captured: only its way back holds the proof. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PolicyRule } from '../../../src/contract/action-policy.js'
import { allowReturn, askForSession, Visitor } from '../../support/capture-page.js'
import { withDatabase } from '../../support/database.js'
import { base64 } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { setPolicy } from '../../support/policies.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

let running: TestService
let tenant: TestTenant
let blank: string
let users = 0

beforeAll(async () => {
  running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
  })
  tenant = await running.tenant()
  await allowReturn(running, tenant)
  blank = base64(await plain())
})
afterAll(() => running?.stop())

async function begun(fields: Record<string, unknown> = {}) {
  const { body } = await askForSession(tenant.sandbox, {
    user_id: `person-${++users}+match`,
    browser: 'same',
    ...fields,
  })
  const visitor = new Visitor(body.url)
  await visitor.open()
  await visitor.agree()
  return { id: body.session_id as string, asked: body, visitor }
}
async function confirmed(fields: Record<string, unknown> = {}) {
  const session = await begun(fields)
  const { body } = await session.visitor.capture(blank)
  return { ...session, over: body, proof: proofIn(body.return_url) }
}
const proofIn = (address: string) => new URL(address).searchParams.get('capture_proof')
const look = (id: string, proof?: string) =>
  tenant.sandbox.call('GET', `/v1/capture-sessions/${id}${proof === undefined ? '' : `?proof=${proof}`}`)

describe('a session for the same browser', () => {
  it('gives its result only with the proof that the capturing browser brings back', async () => {
    const { id, asked, over, proof } = await confirmed()
    expect(asked.browser).toBe('same')
    expect([over.state, proof]).toEqual(['over', expect.stringMatching(/^[\w-]{43}$/)])
    expect((await look(id)).body).toMatchObject({
      ...{ status: 'completed', attempts: 1, browser: 'same', result: null },
      result_withheld: 'proof_required',
    })
    const { status, body } = await look(id, 'A'.repeat(43))
    expect([status, body.code, body.error]).toEqual([403, 'capture_proof_invalid', 'permission_denied'])
    const other = await confirmed()
    expect((await look(id, other.proof!)).body.code).toBe('capture_proof_invalid')
    // The proof counts again for a page that is loaded again.
    for (let time = 0; time < 2; time++) {
      const { body } = await look(id, proof!)
      expect([body.result_withheld, body.result.body.verdict]).toEqual([null, 'approved'])
    }
  })

  it('withholds a final rejection as well, and nothing before the end', async () => {
    const { id, visitor } = await begun({ user_id: `person-${++users}+no_match` })
    await visitor.capture(blank)
    expect((await look(id)).body).toMatchObject({
      ...{ status: 'in_progress', attempts: 1, result: null, result_withheld: null },
    })
    await visitor.capture(blank)
    const { body } = await visitor.capture(blank)
    expect((await look(id)).body).toMatchObject({ result: null, result_withheld: 'proof_required' })
    expect((await look(id, proofIn(body.return_url)!)).body.result.body.verdict).toBe('rejected')
  })

  it('has no proof where the person gives up, and no result that would need one', async () => {
    const { id, visitor } = await begun({ user_id: `person-${++users}+no_match` })
    await visitor.capture(blank)
    const { body } = await visitor.post('cancel')
    expect(proofIn(body.return_url)).toBeNull()
    expect((await look(id)).body).toMatchObject({ status: 'cancelled', result: null, result_withheld: null })
  })

  it('shows the same address to the browser that captured whenever it asks, and to no other', async () => {
    const { visitor, over, proof } = await confirmed()
    expect((await visitor.open()).text).toContain(`capture_proof=${proof}`)
    expect((await visitor.status()).body).toEqual(over)
    const other = new Visitor(visitor.url)
    for (const { status, text } of [await other.open(), await other.open()])
      expect([status, text.includes(proof!)]).toEqual([403, false])
    expect(await other.status()).toMatchObject({ status: 403, body: { code: 'opened_elsewhere' } })
  })

  it('keeps no proof in the clear', async () => {
    const { proof } = await confirmed()
    withDatabase(running, (database) => {
      const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
      for (const { name } of tables as Array<{ name: string }>)
        for (const row of database.prepare(`SELECT * FROM "${name}"`).all() as object[])
          for (const value of Object.values(row))
            expect(Buffer.isBuffer(value) ? value.toString('latin1') : String(value)).not.toContain(proof)
    })
  })
})

it('a session for any browser gives its result without a proof', async () => {
  const { id, asked, over } = await confirmed({ browser: 'any' })
  expect([asked.browser, proofIn(over.return_url)]).toEqual(['any', null])
  const { body } = await look(id)
  expect([body.browser, body.result.body.verdict, body.result_withheld]).toEqual(['any', 'approved', null])
  expect((await look(id, 'A'.repeat(43))).body.result.body.verdict).toBe('approved')
})

it('a policy can demand a session for the same browser', async () => {
  const set = (rules: PolicyRule[] | null) => setPolicy(running, tenant.id, rules && { rules }, ['sandbox'])
  await set([{ name: 'bound', require: { capture_binding: 'same' } }])
  try {
    const { id, proof } = await confirmed()
    expect((await look(id, proof!)).body.result.body.verdict).toBe('approved')
    const user_id = `person-${++users}+match`
    const any = await askForSession(tenant.sandbox, { user_id, browser: 'any' })
    const photo = await tenant.sandbox.verify({ user_id, image: blank, action: 'pay' })
    for (const { status, body } of [any, photo])
      expect([status, body.code, body.details[0].requirement]).toEqual([
        ...[422, 'policy_not_met', 'capture_binding'],
      ])
    // A session that was made before the policy gets no approval either.
    await set(null)
    const early = await begun({ browser: 'any' })
    await set([{ name: 'bound', require: { capture_binding: 'same' } }])
    await early.visitor.capture(blank)
    expect((await look(early.id)).body.result.body.code).toBe('policy_not_met')
  } finally {
    await set(null)
  }
})

describe('the claim of the session', () => {
  it.each(['same', 'any'])(
    'names it in every token of a verdict of the hosted page, with %s',
    async (browser) => {
      const { id, proof } = await confirmed({ browser })
      const { jwt, jwt_public } = (await look(id, proof ?? undefined)).body.result.body
      for (const token of [jwt, jwt_public])
        expect(decodeJwt(token, tenant.secret.secret).claims).toMatchObject({
          ...{ nonce: id, capture_session: id, capture_binding: browser },
        })
    },
  )

  it('is absent from any other verdict, whose nonce cannot look like a session', async () => {
    const { id } = await begun()
    const photo = { user_id: `person-${++users}+match`, image: blank, action: 'pay' }
    const { body } = await tenant.sandbox.verify({ ...photo, nonce: 'my own' })
    const { claims } = decodeJwt(body.jwt, tenant.secret.secret)
    expect([claims.nonce, 'capture_session' in claims, 'capture_binding' in claims]).toEqual([
      'my own',
      false,
      false,
    ])
    for (const nonce of [id, `ver_${'0'.repeat(32)}`, `chl_${'0'.repeat(32)}`]) {
      const { status, body } = await tenant.sandbox.verify({ ...photo, nonce })
      expect([status, body.code, body.details]).toEqual([
        400,
        'invalid_request',
        [{ path: 'nonce', issue: expect.any(String) }],
      ])
    }
  })
})
