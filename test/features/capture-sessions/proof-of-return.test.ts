/** The result of a session goes to the browser that captured: only its way back holds the proof. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PolicyRule } from '../../../src/contract/action-policy.js'
import {
  allowReturn,
  askForSession,
  lookAt,
  newPerson,
  newSession,
  proofIn,
  Visitor,
} from '../../support/capture-page.js'
import { keptBytes } from '../../support/database.js'
import { blank } from '../../support/images.js'
import { setPolicy } from '../../support/policies.js'
import { serviceOfFile, WITH_PAGE } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const running = await serviceOfFile(WITH_PAGE)
const tenant = await running.tenant()
await allowReturn(running, tenant)
const WRONG = 'A'.repeat(43)

async function begun(fields: Record<string, unknown> = {}) {
  const session = await newSession(tenant.sandbox, { browser: 'same', ...fields })
  await session.visitor.enter()
  return session
}
async function confirmed(fields: Record<string, unknown> = {}) {
  const session = await begun(fields)
  const { body } = await session.visitor.capture(blank)
  return { ...session, over: body, proof: proofIn(body.return_url) }
}
const look = (id: string, proof?: string | null) => lookAt(tenant.sandbox, id, proof ?? undefined)

describe('a session for the same browser', () => {
  it('gives its result only with the proof that the capturing browser brings back', async () => {
    const { id, asked, over, proof } = await confirmed()
    expect(asked.browser).toBe('same')
    expect([over.state, proof]).toEqual(['over', expect.stringMatching(/^[\w-]{43}$/)])
    expect(await look(id)).toMatchObject({
      ...{ status: 'completed', attempts: 1, browser: 'same', result: null },
      result_withheld: 'proof_required',
    })
    const { status, body } = await tenant.sandbox.call('GET', `/v1/capture-sessions/${id}?proof=${WRONG}`)
    expect([status, body.code, body.error]).toEqual([403, 'capture_proof_invalid', 'permission_denied'])
    const other = await confirmed()
    expect((await look(id, other.proof)).code).toBe('capture_proof_invalid')
    // The proof counts again for a page that is loaded again.
    for (let time = 0; time < 2; time++) {
      const { result_withheld, result } = await look(id, proof)
      expect([result_withheld, result.body.verdict]).toEqual([null, 'approved'])
    }
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
    for (const [name, bytes] of await keptBytes(running)) expect(bytes.includes(proof!), name).toBe(false)
  })
})

it('a policy can demand a session for the same browser', async () => {
  const set = (rules: PolicyRule[] | null) => setPolicy(running, tenant.id, rules && { rules }, ['sandbox'])
  await set([{ name: 'bound', require: { capture_binding: 'same' } }])
  onTestFinished(async () => void (await set(null)))
  const { id, proof } = await confirmed()
  expect((await look(id, proof)).result.body.verdict).toBe('approved')
  const user_id = newPerson()
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
  expect((await look(early.id)).result.body.code).toBe('policy_not_met')
})

describe('the claim of the session', () => {
  it.each(['same', 'any'])(
    'names it in every token of a verdict of the hosted page, with %s',
    async (browser) => {
      const { id, proof } = await confirmed({ browser })
      const { jwt, jwt_public } = (await look(id, proof)).result.body
      for (const token of [jwt, jwt_public])
        expect(decodeJwt(token, tenant.secret.secret).claims).toMatchObject({
          ...{ nonce: id, capture_session: id, capture_binding: browser },
        })
    },
  )

  it('is absent from any other verdict, whose nonce cannot look like a session', async () => {
    const { id } = await begun()
    const photo = { user_id: newPerson(), image: blank, action: 'pay' }
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
