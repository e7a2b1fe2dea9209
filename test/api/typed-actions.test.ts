/** Typed actions at the API: what is refused, with which details, and what works as it did. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/client/canonical-json.js'
import { paymentBatch } from '../../src/client/make-action.js'
import { TYPED_ACTION_REMEDY } from '../../src/client/typed-action-check.js'
import { allowReturn, RETURN_ORIGIN } from '../support/capture-page.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

let running: TestService
let tenant: TestTenant
let image: string

beforeAll(async () => {
  running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
  })
  tenant = await running.tenant()
  await allowReturn(running, tenant)
  image = base64(await plain())
})
afterAll(() => running?.stop())

const user_id = 'ada+match'
const return_url = `${RETURN_ORIGIN}/done`
const payee = { name: 'Grace Hopper', account: 'DE89370400440532013000' }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }
const post = (path: string, fields: object) =>
  tenant.sandbox.call('POST', `/v1/${path}`, { user_id, ...fields })

const CALLS: Array<[string, object, number]> = [
  [
    'verify',
    {
      get image() {
        return image
      },
    },
    200,
  ],
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
