import { createHash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/answers.js'
import { maker } from '../support/attestations.js'
import { SoftwareAuthenticator } from '../support/authenticator.js'
import { answerTo } from '../support/challenges.js'
import type { ApiClient } from '../support/client.js'
import { countRows } from '../support/database.js'
import { photoOf, photosOf } from '../support/faces.js'
import {
  asserted,
  ORIGIN,
  passkeysPath,
  proven,
  RP_ID,
  registered,
  usePasskeys,
} from '../support/passkeys.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const trusted = maker()
const stranger = maker()

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s' })
const tenant = await running.tenant()
const { sandbox } = tenant
const production = await running.production(tenant)
const [ada, joan] = await photosOf('ada', 'joan')
afterAll(async () => {
  for (const one of [trusted, stranger]) one.remove()
})
beforeEach(() => usePasskeys(running, tenant))

const action = { type: 'wire_transfer', amount: '1250.00' }
let users = 0
const device = (claims: object = {}) => new SoftwareAuthenticator({ origin: ORIGIN, ...claims })
/** A passkey that the authority of the settings attests. */
const attested = () => device({ attestation: trusted.attest() })
const begin = (client: ApiClient, user: string, fields = {}) =>
  client.call('POST', passkeysPath(user, '/registration'), fields)
const ask = async (fields: object) => (await sandbox.call('POST', '/v1/challenges', fields)).body
const list = (user: string, client: ApiClient = production) => client.call('GET', passkeysPath(user))

/** Enrolls a new user. */
async function person(client: ApiClient = production) {
  const user_id = `person-${++users}`
  await client.enroll({ user_id, image: ada })
  return user_id
}
/** The same, with a passkey. */
async function holder(client: ApiClient = production) {
  const user_id = await person(client)
  const { authenticator, answer } = await registered(client, user_id)
  return { user_id, authenticator, passkey: answer.body }
}

type Holder = Pick<Awaited<ReturnType<typeof holder>>, 'user_id' | 'authenticator'>
type Claims = Parameters<SoftwareAuthenticator['get']>[1]

/** The body of a verify with a photo and an assertion that the passkey made under these claims. */
async function signed({ user_id, authenticator }: Holder, claims: Claims = {}) {
  const passkey_assertion = await asserted(production, user_id, action, authenticator, claims)
  return { user_id, image: ada, action, passkey_assertion }
}
const verified = async (holder: Holder, claims: Claims = {}, fields = {}) =>
  production.verify({ ...(await signed(holder, claims)), ...fields })
/** The verdict names these claims in its JWT. */
const expectClaims = (jwt: string, claims: object) =>
  expect(decodeJwt(jwt, tenant.secret.secret)).toMatchObject({ claims })

/** Newest first. */
const auditEntries = async (event: string) => (await tenant.audit(event)).reverse()

describe('a registration', () => {
  it('asks for user verification, no attestation, and a handle that says nothing about the user', async () => {
    const user_id = await person()
    const { status, body } = await begin(production, user_id, { user_name: 'Ada' })
    expect(status).toBe(201)
    expect(body.options).toMatchObject({
      rp: { id: RP_ID, name: tenant.name },
      user: { name: 'Ada', displayName: 'Ada' },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { userVerification: 'required' },
    })
    expect(Buffer.from(body.options.user.id, 'base64url')).toHaveLength(32)
    expect(body.options.user.id).not.toContain(Buffer.from(user_id).toString('base64url'))
  })

  it('stores the passkey, lists it, counts it for the user, and writes an audit entry', async () => {
    const { user_id, passkey, authenticator } = await holder()
    expect(passkey).toEqual({
      user_id,
      passkey_id: expect.stringMatching(/^pky_[0-9a-f]{32}$/),
      name: null,
      synced: false,
      backed_up: false,
      aaguid: authenticator.aaguid,
      transports: ['internal'],
      created_at: new Date(running.clock.now()).toISOString(),
      last_used_at: null,
    })
    const { user_id: _, ...shown } = passkey
    const whole = { data: [shown], has_more: false, next_cursor: null }
    expect((await list(user_id)).body).toEqual({ user_id, ...whole })
    expect((await production.call('GET', `/v1/users/${user_id}`)).body.passkeys).toBe(1)
    const [entry] = await auditEntries('passkey_registered')
    expect(entry).toMatchObject({ passkey_id: passkey.passkey_id, passkey_synced: false, status: 201 })
  })

  it('is good once, and only for the user for whom it began', async () => {
    const first = await holder(sandbox)
    const permit = () => proven(sandbox, first.user_id, first.authenticator, ada)
    const { begun, authenticator } = await registered(sandbox, first.user_id, undefined, await permit())
    const { challenge_id, nonce, options } = begun
    const answer = { challenge_id, nonce, credential: device().create(options) }
    await expectRefusal(sandbox.call('POST', passkeysPath(first.user_id), answer), 409, 'challenge_used')
    const other = await holder(sandbox)
    const { body: fresh } = await begin(sandbox, first.user_id, await permit())
    const stolen = sandbox.call('POST', passkeysPath(other.user_id), {
      challenge_id: fresh.challenge_id,
      nonce: fresh.nonce,
      credential: authenticator.create(fresh.options),
    })
    await expectRefusal(stolen, 422, 'challenge_mismatch')
  })

  it('is answered again for a repeat with the same idempotency key', async () => {
    const user_id = await person()
    const headers = { 'X-Svc-Idempotency-Key': `registration-${users}` }
    const post = (rest: string, body: object) =>
      production.call('POST', passkeysPath(user_id, rest), body, { headers })
    const begun = await post('/registration', {})
    expect((await post('/registration', {})).body).toEqual(begun.body)
    const { challenge_id, nonce, options } = begun.body
    const credential = device().create(options)
    const first = await post('', { challenge_id, nonce, credential })
    const again = await post('', { challenge_id, nonce, credential })
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(again.headers.get('x-svc-idempotent-replay')).toBe('true')
    const asked = await post('/assertion', { action })
    expect((await post('/assertion', { action })).body).toEqual(asked.body)
    expect((await list(user_id)).body.data).toHaveLength(1)
  })

  it('refuses a credential that another user has registered', async () => {
    const { authenticator } = await holder()
    const user_id = await person()
    const { answer } = await registered(production, user_id, authenticator)
    expect([answer.status, answer.body.code]).toEqual([409, 'passkey_already_registered'])
  })

  it('allows a user ten passkeys', async () => {
    const { user_id, authenticator } = await holder(sandbox)
    const permit = () => proven(sandbox, user_id, authenticator, ada)
    for (let i = 1; i < 10; i++)
      expect((await registered(sandbox, user_id, undefined, await permit())).answer.status).toBe(201)
    await expectRefusal(begin(sandbox, user_id, await permit()), 409, 'passkey_limit_reached')
  })

  it('needs an enrolled user, settings of the tenant, and the scope `enroll`', async () => {
    await expectRefusal(begin(production, 'nobody'), 404, 'reference_not_found')
    const stranger = await running.tenant()
    await stranger.sandbox.enroll({ user_id: 'u', image: ada })
    await expectRefusal(begin(stranger.sandbox, 'u'), 422, 'passkeys_unavailable')
  })
})

describe('a registration that asks for a verdict', () => {
  const permit = { type: 'register_passkey' }
  beforeEach(() => usePasskeys(running, tenant, { registration: 'verified' }))

  it('refuses to begin without an approved verify with liveness for `register_passkey`', async () => {
    const user_id = await person()
    await expectRefusal(begin(production, user_id), 403, 'passkey_verdict_required')
    const { body } = await production.verify({ user_id, image: ada, action: permit })
    expect(body.verdict).toBe('approved')
    const begun = begin(production, user_id, { verification_id: body.verification_id })
    await expectRefusal(begun, 403, 'passkey_verdict_required')
  })

  it('is bound to the verdict that allowed it, which counts once', async () => {
    const user_id = await person(sandbox)
    const asked = await ask({ user_id, action: permit })
    const { body } = await sandbox.verify({ user_id, challenge: answerTo(asked, ada), action: permit })
    const { verification_id } = body
    const start = () => begin(sandbox, user_id, { verification_id })
    const { challenge_id, nonce, options } = (await start()).body
    const credential = device().create(options)
    const finish = (fields: object) => sandbox.call('POST', passkeysPath(user_id), fields)
    expect((await finish({ challenge_id, nonce, credential })).body.code).toBe('challenge_mismatch')
    expect((await finish({ challenge_id, nonce, credential, verification_id })).status).toBe(201)
    expect((await start()).body.code).toBe('passkey_verdict_required')
  })
})

describe('a further passkey', () => {
  const live = async (user_id: string, type: string, authenticator?: SoftwareAuthenticator) => {
    const asked = await ask({ user_id, action: { type }, ...(authenticator && { passkey: 'required' }) })
    const challenge = answerTo(asked, ada)
    const passkey_assertion = authenticator && { credential: authenticator.get(asked.passkey) }
    const { body } = await sandbox.verify({ user_id, challenge, action: { type }, passkey_assertion })
    expect(body.verdict).toBe('approved')
    return { verification_id: body.verification_id as string }
  }
  const begun = async (user_id: string, fields = {}) => {
    const { status, body } = await begin(sandbox, user_id, fields)
    return body.code ?? status
  }
  const cancel = (user_id: string) => sandbox.call('DELETE', passkeysPath(user_id, '/recovery'))

  it.each(['verified', 'backend'] as const)(
    'needs more than a face where registration is %s, also after the last passkey was revoked',
    async (registration) => {
      const { user_id, authenticator, passkey } = await holder(sandbox)
      await usePasskeys(running, tenant, { registration })
      const faced = await live(user_id, 'register_passkey')
      expect(await begun(user_id, faced)).toBe('passkey_proof_required')
      const proof = await live(user_id, 'register_passkey', authenticator)
      expect(await begun(user_id, proof)).toBe(201)
      await sandbox.call('DELETE', passkeysPath(user_id, `/${passkey.passkey_id}`))
      expect(await begun(user_id, faced)).toBe('passkey_proof_required')
      const enrolling = { user_id, purpose: 'enroll', passkey: 'register' }
      expect((await ask(enrolling)).code).toBe('passkey_proof_required')
    },
  )

  it('needs one that is at least as strong: a synced one never makes another next to one that is bound', async () => {
    await usePasskeys(running, tenant, { roots: [trusted.root] })
    const user_id = await person(sandbox)
    const synced = device({ isSynced: true })
    await registered(sandbox, user_id, synced)
    const first = await proven(sandbox, user_id, synced, ada)
    const { authenticator } = await registered(sandbox, user_id, attested(), first)
    const weak = await proven(sandbox, user_id, synced, ada)
    await expectRefusal(begin(sandbox, user_id, weak), 403, 'passkey_proof_required')
    const strong = await proven(sandbox, user_id, authenticator, ada)
    expect((await registered(sandbox, user_id, undefined, strong)).answer.status).toBe(201)
  })

  it('is registered by no recovery that waits, was cancelled, or was ended by a passkey', async () => {
    const { user_id, authenticator } = await holder(sandbox)
    for (const end of [() => cancel(user_id), () => live(user_id, 'anything', authenticator)]) {
      const recovery = await live(user_id, 'recover_passkey')
      expect(await begun(user_id, recovery)).toBe('passkey_recovery_pending')
      await end()
      running.clock.advance(60_000)
      expect(await begun(user_id, recovery)).toBe('passkey_proof_required')
      expect((await cancel(user_id)).body.code).toBe('passkey_recovery_not_found')
    }
  })

  it('is announced when its recovery begins and ends, by webhook', async () => {
    const events = ['recovery_begun', 'recovery_cancelled', 'registered'].map((one) => `user.passkey_${one}`)
    await tenant.subscribe('sandbox', ...events)
    const { user_id } = await holder(sandbox)
    const first = await live(user_id, 'recover_passkey')
    await cancel(user_id)
    const second = await live(user_id, 'recover_passkey')
    running.clock.advance(60_000)
    await registered(sandbox, user_id, undefined, second)
    const data = async (type: string) =>
      (await tenant.told(type)).map((event) => event.data).filter((one) => one.user_id === user_id)
    const ids = (await data(events[0]!)).map((begun) => begun.verification_id)
    expect(ids.sort()).toEqual([first.verification_id, second.verification_id].sort())
    expect(await data(events[1]!)).toEqual([{ user_id, verification_id: first.verification_id }])
    expect((await data(events[2]!)).map(({ recovered }) => recovered).sort()).toEqual([false, true])
  })
})

it('a replacement of the reference needs a verdict of a user who has a passkey, or had one', async () => {
  const { user_id, passkey } = await holder()
  const replace = async (fields = {}) =>
    (await production.enroll({ user_id, image: joan, replace: true, ...fields })).body
  expect((await replace()).code).toBe('replace_verdict_required')
  await production.call('DELETE', passkeysPath(user_id, `/${passkey.passkey_id}`))
  expect((await replace()).code).toBe('replace_verdict_required')
  const action = { type: 'replace_reference' }
  const image = await photoOf('adaToday')
  const { body } = await production.verify({ user_id, image, action })
  expect((await replace({ verification_id: body.verification_id })).status).toBe('enrolled')
})

describe('a verify with a passkey', () => {
  /** The body of a verify that another key signed, in the name of the passkey. */
  const forgedBy = async ({ user_id, authenticator: { id } }: Holder) => {
    const body = await signed({ user_id, authenticator: device() })
    Object.assign(body.passkey_assertion.credential, { id, rawId: id })
    return body
  }

  it('names the possession in amr and acr, and the passkey in answer, JWT and audit log', async () => {
    const { user_id, authenticator, passkey } = await holder()
    const { status, body } = await verified({ user_id, authenticator }, {}, { require_passkey: true })
    expect([status, body.verdict]).toEqual([200, 'approved'])
    const { passkey_id } = passkey
    expect(body.passkey).toEqual({ passkey_id, amr: 'swk' })
    expectClaims(body.jwt, { amr: ['face', 'swk'], acr: 'urn:countersign:acr:face-swk', passkey_id })
    const [entry] = await auditEntries('verify')
    expect(entry).toMatchObject({ passkey_id, passkey_amr: 'swk', verdict: 'approved' })
    const { data } = (await list(user_id)).body
    expect(data[0].last_used_at).toBe(new Date(running.clock.now()).toISOString())
  })

  it('signs SHA-256 of the nonce and the hash of the action', async () => {
    const { user_id } = await holder()
    const { body } = await production.call('POST', passkeysPath(user_id, '/assertion'), { action })
    const actionHash = createHash('sha256').update('{"amount":"1250.00","type":"wire_transfer"}').digest()
    const expected = createHash('sha256').update(Buffer.from(body.nonce, 'base64url')).update(actionHash)
    expect(body.options.challenge).toBe(expected.digest('base64url'))
    expect(body.options.userVerification).toBe('required')
  })

  it('signs in the challenge of the frames, whose nonce and action the passkey confirms', async () => {
    const { user_id, authenticator } = await holder(sandbox)
    const asked = await ask({ user_id, action, passkey: 'required' })
    const passkey_assertion = { credential: authenticator.get(asked.passkey) }
    const challenge = answerTo(asked, ada)
    const { body } = await sandbox.verify({ user_id, action, challenge, passkey_assertion })
    const acr = 'urn:countersign:acr:face-active-swk'
    expectClaims(body.jwt, { verdict: 'approved', amr: ['face', 'swk'], acr })
  })

  it('never gives the name to a face without a passkey', async () => {
    const { user_id } = await holder()
    const { body } = await production.verify({ user_id, image: ada, action })
    expectClaims(body.jwt, { amr: ['face'], acr: 'urn:countersign:acr:face' })
    expect(body.passkey).toBeNull()
    const required = production.verify({ user_id, image: ada, action, require_passkey: true })
    await expectRefusal(required, 422, 'passkey_required')
  })

  it('claims no possession in a rejection, and counts the assertion as used', async () => {
    const { user_id, authenticator } = await holder()
    const { body } = await verified({ user_id, authenticator }, {}, { image: joan })
    expect(body.verdict).toBe('rejected')
    expectClaims(body.jwt, { amr: ['face'], acr: '0' })
    const { body: after } = await verified({ user_id, authenticator }, { counter: authenticator.counter })
    expect(after.code).toBe('passkey_counter_reversed')
  })

  it.each([
    ['passkey_challenge_mismatch', { challenge: 'AAAA' }],
    ['passkey_not_found', { userHandle: 'AAAA' }],
    ['passkey_invalid', { signsWrong: true }],
  ])('refuses with %s an assertion with %j, and uses its challenge up', async (code, claims) => {
    const fields = await signed(await holder(), claims)
    const refused = await production.verify(fields)
    expect(refused.body.code).toBe(code)
    expect(refused.body).not.toHaveProperty('jwt')
    expect((await production.verify(fields)).body.code).toBe('challenge_used')
    const [entry] = await auditEntries('verify')
    expect(entry).toMatchObject({ code: 'challenge_used' })
  })

  it('approves one of two verifies that send an assertion at the same time', async () => {
    const fields = await signed(await holder())
    const answers = await Promise.all([production.verify(fields), production.verify(fields)])
    expect(answers.map(({ body }) => body.verdict ?? body.code).sort()).toEqual([
      'approved',
      'challenge_used',
    ])
  })

  it('reports a counter that did not grow by webhook, and names the passkey in the audit entry', async () => {
    await tenant.subscribe('production', 'user.passkey_counter_reversed')
    const reports = () => tenant.told('user.passkey_counter_reversed')
    const { user_id, authenticator, passkey } = await holder()
    await verified({ user_id, authenticator }, { counter: 7 })
    // Somebody without the key cannot bring a report about.
    const forged = await production.verify(await forgedBy({ user_id, authenticator }))
    expect(forged.body.code).toBe('passkey_invalid')
    expect(await reports()).toEqual([])
    await verified({ user_id, authenticator }, { counter: 7 })
    const data = { user_id, passkey_id: passkey.passkey_id }
    expect(await reports()).toMatchObject([{ type: 'user.passkey_counter_reversed', data }])
    const [entry] = await auditEntries('verify')
    expect(entry).toMatchObject({ code: 'passkey_counter_reversed', passkey_id: passkey.passkey_id })
    expect((await verified({ user_id, authenticator }, { counter: 8 })).body.verdict).toBe('approved')
  })

  it('refuses frames of one challenge with an assertion of another', async () => {
    const { user_id, authenticator } = await holder(sandbox)
    const asking = { user_id, action, passkey: 'required' }
    const [framed, other] = [await ask(asking), await ask(asking)]
    const passkey_assertion = { credential: authenticator.get(other.passkey) }
    const challenge = answerTo(framed, ada)
    const { body } = await sandbox.verify({ user_id, action, challenge, passkey_assertion })
    expect(body.code).toBe('passkey_challenge_mismatch')
  })

  it('refuses the passkey of another user and of another tenant', async () => {
    const [one, other] = [await holder(), await holder()]
    const { body } = await verified({ user_id: one.user_id, authenticator: other.authenticator })
    expect(body.code).toBe('passkey_not_found')
    const neighbor = await running.tenant()
    await usePasskeys(running, neighbor)
    const theirs = await running.production(neighbor)
    await theirs.enroll({ user_id: one.user_id, image: ada })
    await registered(theirs, one.user_id)
    const passkey_assertion = await asserted(theirs, one.user_id, action, one.authenticator)
    const foreign = await theirs.verify({ user_id: one.user_id, image: ada, action, passkey_assertion })
    expect(foreign.body.code).toBe('passkey_not_found')
  })

  it('refuses a revoked passkey, also one that was revoked while the capture was judged', async () => {
    const { user_id, authenticator, passkey } = await holder()
    const path = passkeysPath(user_id, `/${passkey.passkey_id}`)
    const fields = await signed({ user_id, authenticator })
    expect(await production.call('DELETE', path)).toMatchObject({ status: 200, body: { status: 'revoked' } })
    expect((await production.verify(fields)).body.code).toBe('passkey_not_found')
    expect((await production.call('DELETE', path)).body.code).toBe('passkey_not_found')
    const entries = await auditEntries('passkey_revoked')
    expect(entries[1]).toMatchObject({ passkey_id: passkey.passkey_id, status: 200 })
  })

  it('asks for no passkey of a user who has none, where one is preferred', async () => {
    const user_id = await person(sandbox)
    expect((await ask({ user_id, action, passkey: 'preferred' })).passkey).toBeNull()
    expect((await ask({ user_id, action, passkey: 'required' })).code).toBe('passkey_not_found')
    expect((await ask({ user_id, action, passkey: 'register' })).code).toBe('invalid_request')
  })
})

describe('an attestation', () => {
  it('counts only while its authority is named', async () => {
    await usePasskeys(running, tenant, { roots: [trusted.root] })
    const user_id = await person()
    const { authenticator, begun } = await registered(production, user_id, attested())
    expect(begun.options.attestation).toBe('direct')
    expect((await verified({ user_id, authenticator })).body.passkey.amr).toBe('hwk')
    await usePasskeys(running, tenant, { roots: [stranger.root] })
    expect((await verified({ user_id, authenticator })).body.passkey.amr).toBe('swk')
  })

  it('does not count any more for a passkey that its provider has begun to copy', async () => {
    await usePasskeys(running, tenant, { roots: [trusted.root] })
    const user_id = await person()
    const { authenticator } = await registered(production, user_id, attested())
    const { body } = await verified({ user_id, authenticator }, { isSynced: true })
    expect(body.passkey.amr).toBe('swk')
    const [entry] = await auditEntries('verify')
    expect(entry).toMatchObject({ passkey_became_synced: true, passkey_amr: 'swk' })
    expect((await list(user_id)).body.data).toMatchObject([{ synced: true }])
    // A copied passkey never becomes one of a single device again.
    expect((await verified({ user_id, authenticator })).body.code).toBe('passkey_invalid')
    const bound = await holder()
    await usePasskeys(running, tenant, { synced: 'refused' })
    expect((await verified(bound, { isSynced: true })).body.code).toBe('passkey_became_synced')
    expect((await auditEntries('verify'))[0]).toMatchObject({ code: 'passkey_became_synced' })
  })
})

it('an enrollment with a passkey stores reference and passkey together, or neither', async () => {
  const enroll = async (user_id: string, claims = {}) => {
    const asked = await ask({ user_id, purpose: 'enroll', passkey: 'register' })
    const credential = device(claims).create(asked.passkey)
    const challenge = answerTo(asked, ada)
    return sandbox.enroll({ user_id, challenge, passkey_registration: { credential, name: 'phone' } })
  }
  const user_id = `together-${++users}`
  expect((await enroll(user_id, { isVerified: false })).body.code).toBe('passkey_user_not_verified')
  expect((await sandbox.call('GET', `/v1/users/${user_id}`)).status).toBe(404)
  const { status, body } = await enroll(user_id)
  expect([status, body.passkey.name]).toEqual([201, 'phone'])
  expect((await list(user_id, sandbox)).body.data).toEqual([body.passkey])
})

describe('an erasure', () => {
  it('deletes the passkeys of the user, and no others', async () => {
    const [one, other] = [await holder(), await holder()]
    const before = await countRows(running, 'passkey')
    const erasure = await production.call('DELETE', `/v1/delete?user_id=${one.user_id}`)
    expect(erasure.body.erased.passkeys).toBe(1)
    expect(await countRows(running, 'passkey')).toBe(before - 1)
    expect((await list(one.user_id)).body.code).toBe('reference_not_found')
    expect((await list(other.user_id)).body.data).toHaveLength(1)
    // The credential may be registered again: nothing about it was kept.
    await production.enroll({ user_id: one.user_id, image: ada })
    const { answer } = await registered(production, one.user_id, one.authenticator)
    expect(answer.status).toBe(201)
  })

  it('leaves nothing readable of a credential in the database', async () => {
    const { authenticator } = await holder()
    const stored = await running.database.query('SELECT * FROM passkey')
    const text = JSON.stringify(stored, (_, value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : value,
    )
    expect(text).not.toContain(authenticator.id)
    expect(text).not.toContain(Buffer.from(authenticator.id, 'base64url').toString('latin1'))
  })
})
