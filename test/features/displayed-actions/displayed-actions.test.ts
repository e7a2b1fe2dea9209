/** Typed actions at the API: what is refused, with which details, and what works as it did. */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { paymentBatch } from '../../../clients/node/make-action.js'
import { canonicalDisplay, displayAction } from '../../../src/contract/actions/display-action.js'
import { TYPED_ACTION_REMEDY } from '../../../src/contract/actions/typed-action-check.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { challengeReader } from '../../../src/features/challenges/table/exports.js'
import type { Feature } from '../../../src/features/feature.js'
import { FEATURES } from '../../../src/features/index.js'
import { allowReturn, RETURN_ORIGIN } from '../../support/capture-page.js'
import { answerTo, takes } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face } from '../../support/faces.js'
import { blank as image } from '../../support/images.js'
import { serviceOfFile, serviceOfTest, WITH_PAGE } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const running = await serviceOfFile(WITH_PAGE)
const tenant = await running.tenant()
await allowReturn(running, tenant)

const user_id = 'ada+match'
const return_url = `${RETURN_ORIGIN}/done`
const payee = { name: 'Grace Hopper', account: 'DE89370400440532013000' }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }
const post = (path: string, fields: object) =>
  tenant.sandbox.call('POST', `/v1/${path}`, { user_id, ...fields })

const CALLS: Array<[string, object, number]> = [
  ['verify', { image }, 200],
  ['challenges', {}, 201],
  ['capture-sessions', { return_url }, 201],
]

describe.each(CALLS)('%s', (path, fields, success) => {
  it('takes a typed action that fits its schema', async () => {
    expect((await post(path, { ...fields, action: payment })).status).toBe(success)
  })

  it('refuses a typed action that does not, names every field and says what to do', async () => {
    const action = { ...payment, amount: 1250, fee: '1' }
    const { status, body } = await post(path, { ...fields, action })
    expect([status, body.code, body.remedy]).toEqual([400, 'invalid_request', TYPED_ACTION_REMEDY])
    expect(body.details).toEqual([
      { path: 'action.amount', issue: 'must be a string' },
      { path: 'action.fee', issue: 'is not a known field' },
    ])
  })

  it.each([['pay 12'], [{ amount: 12 }], [{ type: 'wire_transfer', amount: 12 }], [{ type: 7 }]])(
    'takes the untyped action %j as before',
    async (action) => {
      expect((await post(path, { ...fields, action })).status).toBe(success)
    },
  )
})

describe('a capture session for a batch', () => {
  const list = Array.from({ length: 1000 }, (_, index) => ({
    name: `Payee ${index} ${'x'.repeat(40)}`,
    account: `DE${String(index).padStart(20, '0')}`,
    amount: `${index}.10`,
    reference: `Invoice ${index} of November 2026`,
  }))
  const ask = (action: object, payees?: unknown) =>
    post('capture-sessions', { return_url, action, ...(payees === undefined ? {} : { payees }) })

  it('takes the list of 1,000 that the action binds', async () => {
    const { action, payees } = await paymentBatch({ currency: 'EUR', payees: list })
    const { status, body } = await ask(action, payees)
    expect([status, body.details]).toEqual([201, undefined])
  })

  it('refuses a batch without its list, and a list without a batch', async () => {
    const { action, payees } = await paymentBatch({ currency: 'EUR', payees: list.slice(0, 2) })
    const issue = async (action: object, payees?: unknown) => (await ask(action, payees)).body.details
    expect(await issue(action)).toEqual([
      { path: 'payees', issue: 'is required for an action of type payment_batch' },
    ])
    expect(await issue(payment, payees)).toEqual([
      { path: 'payees', issue: 'is only for an action of type payment_batch' },
    ])
  })

  it('refuses a list of another length, sum or content than the action binds', async () => {
    const three = list.slice(0, 3)
    const { action } = await paymentBatch({ currency: 'EUR', payees: three })
    const paths = async (payees: unknown) =>
      (await ask(action, canonicalJson(payees))).body.details.map(({ path }: { path: string }) => path)
    expect(await paths(three.slice(1))).toEqual(['action.payees_count', 'action.total'])
    expect(await paths(three.with(0, { ...three[0]!, amount: '0.11' }))).toEqual(['action.total'])
    expect(await paths(three.with(0, { ...three[0]!, account: 'GB33BUKB20201555555555' }))).toEqual([
      'action.payees_hash',
    ])
    expect(await paths(three.toReversed())).toEqual(['action.payees_hash'])
    expect(await paths([{ ...three[0], amount: 1 }])).toEqual(['payees.0.amount'])
  })
})

describe('a challenge for a page of the customer’s own', () => {
  const locale = 'de'
  const asked = { user_id, action: payment, locale }
  const shownOf = (action: unknown, payees?: string) => {
    const display = displayAction(action, locale, payees)!
    return { hash: createHash('sha256').update(canonicalDisplay(display)).digest('hex'), display }
  }
  async function verified(
    fields: object,
    challenge: Parameters<typeof answerTo>[0],
    client: ApiClient = tenant.sandbox,
  ) {
    const frames = answerTo(challenge, image)
    const answer = await client.call('POST', '/v1/verify', { user_id, challenge: frames, ...fields })
    const { body } = answer
    return { ...answer, claims: body.jwt && decodeJwt(body.jwt, tenant.secret.secret).claims }
  }

  it('gives the text of the action, and the verdict names it and says how it was shown', async () => {
    const { body } = await post('challenges', asked)
    const { hash, display } = shownOf(payment)
    expect(body.display).toEqual({ hash, ...display })
    const { body: answer, claims } = await verified({ action: payment }, body)
    const version = 'countersign-display-2'
    expect(answer.display).toEqual({ hash, locale, version, source: 'challenge' })
    const named = { display_hash: hash, display_locale: locale, display_version: version }
    expect(claims).toMatchObject({ verdict: 'approved', ...named, display_source: 'challenge' })
    const query = new URLSearchParams({ user_id, display_hash: hash })
    const { body: looked } = await tenant.sandbox.call(
      'GET',
      `/v1/verifications/${answer.verification_id}?${query}`,
    )
    expect(looked).toMatchObject({ display_locale: locale, display_matches: true })
  })

  it('names the text of a batch with its list', async () => {
    const { action, payees } = await paymentBatch({
      currency: 'EUR',
      payees: [{ ...payee, amount: '12.50' }],
    })
    const { status, body } = await post('challenges', { ...asked, action, payees })
    expect([status, body.display?.hash]).toEqual([201, shownOf(action, payees).hash])
    const { claims } = await verified({ action }, body)
    expect(claims.display_hash).toBe(body.display.hash)
  })

  it('is for this action only: a verify of another one uses up neither text nor challenge', async () => {
    const { body } = await post('challenges', asked)
    const other = await verified({ action: { ...payment, amount: '1250.01' } }, body)
    expect([other.status, other.body.code]).toEqual([422, 'challenge_mismatch'])
    expect((await verified({ action: payment }, body)).claims.display_hash).toBe(body.display.hash)
  })

  it('names no text where no language was asked for', async () => {
    const { body } = await post('challenges', { action: payment })
    expect(body).not.toHaveProperty('display')
    const { body: answer, claims } = await verified({ action: payment }, body)
    expect(answer.display).toBeNull()
    expect(Object.keys(claims).filter((name) => name.startsWith('display'))).toEqual([])
  })

  it('is refused with a language for an action without a published type, and with a list but no language', async () => {
    const { action, payees } = await paymentBatch({ currency: 'EUR', payees: [{ ...payee, amount: '1.00' }] })
    for (const [path, fields] of [
      ['locale', { action: 'untyped' }],
      ['locale', { action: undefined, purpose: 'enroll' }],
      ['payees', { action, payees, locale: undefined }],
      ['payees', { action }],
      ['action.total', { action, payees: payees.replace('1.00', '2.00') }],
    ] as const) {
      const { status, body } = await post('challenges', { ...asked, ...fields })
      expect([status, body.code, body.details[0].path]).toEqual([400, 'invalid_request', path])
    }
  })

  it('keeps the hash in the database so that only the nonce opens it', async () => {
    const { body } = await post('challenges', asked)
    const record = (await running.service.core.store.read
      .statements(challengeReader)
      .find(body.challenge_id))!
    expect(record.display).toBeInstanceOf(Uint8Array)
    expect(record.display!.toString('latin1')).not.toContain(body.display.hash)
    const plainly = await post('challenges', { action: payment })
    expect(
      (await running.service.core.store.read.statements(challengeReader).find(plainly.body.challenge_id))!
        .display,
    ).toBeNull()
  })

  it('is audited in production with a digest of the hash', async () => {
    const production = await running.production(tenant)
    const ada = await face('ada')
    await production.enroll({ user_id, image: base64(ada) })
    const { body } = await production.call('POST', '/v1/challenges', { ...asked, modes: [] })
    const challenge = answerTo(body, await takes(ada))
    const { body: answer } = await production.verify({ user_id, challenge, action: payment })
    expect(answer.display.hash).toBe(body.display.hash)
    const { body: log } = await production.call('GET', '/v1/audit?order=desc&limit=1&event=verify')
    expect(log.data[0].facts).toMatchObject({ display_locale: locale })
    expect(log.data[0].facts.display_hash).not.toBe(body.display.hash)
  })
})

it('keeps its note with a challenge apart from that of another feature', async () => {
  const marking: Feature = {
    parts: {
      challenge: {
        create: () => ({
          prepare: async () => ({ note: { mark: { hash: 'f00d' } }, membersOf: () => ({}) }),
        }),
      },
      verify: {
        fields: [],
        create: () => ({
          async open(_call, _action, note) {
            expect(note).toMatchObject({ mark: { hash: 'f00d' } })
            return null
          },
        }),
      },
    },
  }
  const features = [...FEATURES, { name: 'marking', load: async () => marking }]
  const others = await serviceOfTest({}, { features })
  const { sandbox } = await others.tenant()
  const asked = { user_id, action: payment }
  const displayOf = async (fields: object) => {
    const { body: challenge } = await sandbox.call('POST', '/v1/challenges', { ...asked, ...fields })
    const { body } = await sandbox.verify({ ...asked, challenge: answerTo(challenge, image) })
    return { given: challenge.display?.hash, verdict: body.verdict, display: body.display }
  }
  const { given, verdict, display } = await displayOf({ locale: 'en' })
  expect([verdict, display]).toEqual([
    'approved',
    { hash: given, locale: 'en', version: display.version, source: 'challenge' },
  ])
  expect(await displayOf({})).toEqual({ given: undefined, verdict: 'approved', display: null })
})
