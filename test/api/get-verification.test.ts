/** Tests of the look-up of a verification, on both APIs: what is shown, to whom, and until when. */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { DAY_MS } from '../../src/lib/clock.js'
import { SANDBOX_VERIFICATIONS } from '../../src/verification/verification-book.js'
import { expectRefusal, expectSigned } from '../support/answers.js'
import { type ApiClient, apiClient } from '../support/client.js'
import { photosOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const ACTION = { type: 'wire_transfer', amount: '1250.00', to: 'DE89370400440532013000' }
const NOT_FOUND = { status: 404, body: { error: 'not_found', code: 'verification_not_found' } }

let users = 0
const running = await serviceOfFile()
let tenant = await running.tenant()
let production = await running.production(tenant)
const [ada, joan] = await photosOf('ada', 'joan')

const hashOf = (action: unknown) => createHash('sha256').update(canonicalJson(action)).digest('hex')
const look = (id: string, query: Record<string, string> = {}, client: ApiClient = production) =>
  client.call(
    'GET',
    `/v1/verifications/${id}${Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''}`,
  )

/** Enrolls a new user and verifies it. In the sandbox the end of the user id decides. */
async function verified({ client = production as ApiClient, photo = ada, suffix = '' } = {}) {
  const user_id = `u${++users}${suffix}`
  expect((await client.enroll({ user_id, image: ada })).status).toBe(201)
  const { status, body } = await client.verify({ user_id, image: photo, action: ACTION })
  expect(status).toBe(200)
  return { user_id, answer: body, id: body.verification_id as string }
}

/** The look-up's fields that the answer of verify and its JWT have too. */
function expected(answer: Awaited<ReturnType<typeof verified>>['answer']) {
  const { acr, amr, txn } = decodeJwt(answer.jwt, tenant.secret.secret).claims
  const { verification_id, verdict, reason, score, threshold, fmr, fmr_basis, model_grade, model, replay } =
    answer
  return {
    ...{ verification_id, verdict, reason, score, threshold, fmr, fmr_basis, model_grade, model, replay },
    ...{ acr, amr, request_id: txn, verified_at: answer.verified_at },
    ...{ user_id: null, action_matches: null, challenge_id: null, capture_session_id: null },
    ...{ display_locale: null, display_version: null, display_matches: null },
    ...{ policy_hash: null, policy_rule: null, approval_id: null },
  }
}

for (const environment of ['production', 'sandbox'] as const)
  describe(`a verification that is looked up in ${environment}`, () => {
    const client = () => (environment === 'production' ? production : tenant.sandbox)
    const suffix = environment === 'production' ? '' : '+match'

    it('shows what verify answered, and neither JWT nor anything biometric', async () => {
      const { answer, id } = await verified({ client: client(), suffix })
      const response = await look(id, {}, client())
      expect(response.status).toBe(200)
      expect(response.body).toEqual(expected(answer))
      expect(response.text).not.toContain(answer.jwt.split('.')[2])
      expectSigned(response, tenant)
    })

    it('shows a rejection with its reason', async () => {
      const ending = environment === 'production' ? '' : '+no_match'
      const { answer, id } = await verified({ client: client(), photo: joan, suffix: ending })
      const { body } = await look(id, {}, client())
      expect(body).toEqual(expected(answer))
      expect(body).toMatchObject({ verdict: 'rejected', reason: 'no_match', acr: '0' })
    })

    it('names the user, and compares the action, where the caller knows both', async () => {
      const { user_id, id } = await verified({ client: client(), suffix })
      const { body } = await look(id, { user_id, action_hash: hashOf(ACTION) }, client())
      expect(body).toMatchObject({ user_id, action_matches: true })
      const another = await look(id, { user_id, action_hash: hashOf({ ...ACTION, amount: '1' }) }, client())
      expect(another.body).toMatchObject({ user_id, action_matches: false })
      expect((await look(id, { user_id }, client())).body).toMatchObject({ user_id, action_matches: null })
      const { body: shown } = await look(id, { user_id, display_hash: hashOf('a text') }, client())
      expect(shown).toMatchObject({ action_matches: null, display_matches: false })
    })

    it('refuses the hash of an action without the user, and a hash that is none', async () => {
      const { user_id, id } = await verified({ client: client(), suffix })
      for (const query of [
        { action_hash: hashOf(ACTION) },
        { user_id, action_hash: hashOf(ACTION).toUpperCase() },
        { display_hash: hashOf('a text') },
        { user_id, display_hash: 'none' },
        { user_id: '' },
        { limit: '1' },
      ]) {
        const looked = look(id, query as Record<string, string>, client())
        await expectRefusal(looked, 400, 'invalid_request')
      }
    })

    it('is found by no id that no verify gave out, with a remedy and the address of its explanation', async () => {
      for (const id of ['ver_0', `ver_${'0'.repeat(32)}`, 'x', '%25', "ver_'--"]) {
        const response = await look(id, {}, client())
        expect(response, id).toMatchObject(NOT_FOUND)
        expect(response.body).toMatchObject({
          remedy: expect.stringMatching(/\.$/),
          doc_url: expect.stringMatching(/#verification_not_found$/),
        })
      }
    })

    it('is not found for another user of the tenant', async () => {
      const { id } = await verified({ client: client(), suffix })
      const { user_id } = await verified({ client: client(), suffix })
      expect(await look(id, { user_id }, client())).toMatchObject(NOT_FOUND)
      expect(await look(id, { user_id: 'nobody' }, client())).toMatchObject(NOT_FOUND)
    })

    it('is not found by another tenant, nor in the other environment', async () => {
      const { user_id, id } = await verified({ client: client(), suffix })
      const other = await running.tenant()
      const others = environment === 'production' ? await running.production(other) : other.sandbox
      const elsewhere = environment === 'production' ? tenant.sandbox : production
      for (const stranger of [others, elsewhere])
        for (const query of [{}, { user_id }] as Array<Record<string, string>>)
          expect(await look(id, query, stranger)).toMatchObject(NOT_FOUND)
      expect((await look(id, {}, client())).status).toBe(200)
    })

    it('is not shown any more once the user is erased, even when the user is enrolled again', async () => {
      const { user_id, id } = await verified({ client: client(), suffix })
      const { id: kept } = await verified({ client: client(), suffix })
      expect((await client().erase(user_id)).status).toBe(200)
      for (const query of [{}, { user_id }] as Array<Record<string, string>>)
        expect(await look(id, query, client())).toMatchObject(NOT_FOUND)
      expect((await client().enroll({ user_id, image: ada })).status).toBe(201)
      for (const query of [{}, { user_id }] as Array<Record<string, string>>)
        expect(await look(id, query, client())).toMatchObject(NOT_FOUND)
      expect((await look(kept, {}, client())).status).toBe(200)
    })

    it('is found after a restart of the service', async () => {
      const { answer, id } = await verified({ client: client(), suffix })
      const keys = { production: production.key, sandbox: tenant.sandboxKey }
      await running.restart()
      production = Object.assign(apiClient(running.service.url('production'), keys.production), {
        key: keys.production,
      })
      tenant = { ...tenant, sandbox: apiClient(running.service.url('sandbox'), keys.sandbox) }
      expect((await look(id, {}, client())).body).toEqual(expected(answer))
    })

    it('needs a key with the scope verify or read, and costs no audit entry', async () => {
      const { id } = await verified({ client: client(), suffix })
      const { store } = running.service.core
      const keyed = async (scopes: Array<'verify' | 'read' | 'audit' | 'erase' | 'enroll'>) => {
        const grants = { name: `look-${++users}`, scopes, networks: null }
        const { keys } = running.operations
        const { key } = await keys.create(await tenant.record(), COMMAND_LINE, environment, grants)
        return apiClient(running.service.url(environment), key)
      }
      const allowed = [await keyed(['verify']), await keyed(['read'])]
      const neither = await keyed(['audit', 'erase', 'enroll'])
      const before = (await store.read.auditHead(tenant.id))?.sequence
      for (const key of allowed) expect((await look(id, {}, key)).status).toBe(200)
      await expectRefusal(look(id, {}, neither), 403, 'insufficient_scope')
      expect((await store.read.auditHead(tenant.id))?.sequence).toBe(before)
    })

    it('is the one verification of a call and of its replay', async () => {
      const { user_id } = await verified({ client: client(), suffix })
      const headers = { 'X-Svc-Idempotency-Key': `look-${user_id}` }
      const request = { user_id, image: ada, action: 'x' }
      const first = await client().verify(request, { headers })
      const again = await client().verify(request, { headers })
      expect(again.body.verification_id).toBe(first.body.verification_id)
      expect((await look(first.body.verification_id, {}, client())).body).toEqual(expected(first.body))
    })
  })

describe('a verification in production', () => {
  it('is found after a restore of the database only where the caller names the user', async () => {
    const { user_id, answer, id } = await verified()
    await running.operations.tenants.noteRestored(COMMAND_LINE)
    expect(await look(id)).toMatchObject(NOT_FOUND)
    expect((await look(id, { user_id })).body).toEqual({ ...expected(answer), user_id })
    const later = await verified()
    expect((await look(later.id)).status).toBe(200)
  })

  it('is an audited verify: the refusal of a verify and other entries are none', async () => {
    const { user_id } = await verified()
    const refused = await production.verify({ user_id, image: 'AAAA', action: ACTION })
    expect(refused.status).toBe(422)
    expect(await look(refused.body.request_id)).toMatchObject(NOT_FOUND)
  })
})

describe('a verification in the sandbox', () => {
  it('is found also for a user who is not enrolled', async () => {
    const user_id = `u${++users}+match`
    const { body } = await tenant.sandbox.verify({ user_id, image: ada, action: ACTION })
    const looked = await look(body.verification_id, { user_id }, tenant.sandbox)
    expect(looked.body).toMatchObject({ user_id, verdict: 'approved' })
  })

  it(`is among the latest ${SANDBOX_VERIFICATIONS} of its tenant, or is not found`, async () => {
    const { sandbox, id: tenantId } = await running.tenant()
    const { id: oldest } = await verified({ client: sandbox, suffix: '+match' })
    // Ids of one millisecond have no order.
    running.clock.advance(1)
    const { id: second } = await verified({ client: sandbox, suffix: '+match' })
    const { store, vault } = running.service.core
    const record = (await store.read.sandboxVerification(tenantId, second))!
    const blindIndex = vault.blindIndex(tenantId, 'sandbox', 'another')
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < SANDBOX_VERIFICATIONS - 1; i++)
        await tx.keepSandboxVerification(
          { ...record, id: `ver_f${String(i).padStart(31, '0')}`, blindIndex },
          SANDBOX_VERIFICATIONS,
        )
    })
    expect(await look(oldest, {}, sandbox)).toMatchObject(NOT_FOUND)
    expect((await look(second, {}, sandbox)).status).toBe(200)
  })

  it('is not found once the time of the sandbox’s data is over', async () => {
    const { sandbox } = await running.tenant()
    const { id } = await verified({ client: sandbox, suffix: '+match' })
    running.clock.advance(30 * DAY_MS - 1)
    expect((await look(id, {}, sandbox)).status).toBe(200)
    running.clock.advance(1)
    expect(await look(id, {}, sandbox)).toMatchObject(NOT_FOUND)
  })

  it('answers with the scripted refusal of the user who is named', async () => {
    const { id } = await verified({ client: tenant.sandbox, suffix: '+match' })
    await expectRefusal(look(id, { user_id: 'x+unavailable' }, tenant.sandbox), 503, 'overloaded')
  })
})
