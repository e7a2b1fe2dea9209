/** Typed actions: what their schemas and rules take and refuse, and what a batch binds. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import Schema from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { paymentBatch, typedAction } from '../../clients/node/make-action.js'
import { CURRENCIES, decimalText, minorDigits, minorUnits } from '../../src/contract/actions/money.js'
import { payeesFaults, typedActionFaults } from '../../src/contract/actions/typed-action-check.js'
import { BATCH_PAYEES_SCHEMA, TYPED_ACTION_SCHEMAS } from '../../src/contract/actions/typed-action-schemas.js'
import { TYPED_ACTION_TYPES, type TypedAction } from '../../src/contract/actions/typed-actions.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { packageFile } from '../../src/lib/package-root.js'
import { documentInDocs } from '../../tools/generators/docs.js'
import { check, checkAsync } from '../support/properties.js'
import { amountOf, currencies, payeeLists, payments } from '../support/typed-actions.js'

const account = 'DE89370400440532013000'
const payee = { name: 'Grace Hopper', account }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee } as const

const VALID: TypedAction[] = [
  payment,
  { ...payment, reference: 'Invoice 4711' },
  { ...payment, amount: '0' },
  { ...payment, amount: '1250', currency: 'JPY' },
  { ...payment, amount: '1.250', currency: 'KWD' },
  { ...payment, amount: '999999999999999.99' },
  { ...payment, payee: { name: 'دار الكتب', account } },
  { type: 'account_change', change: 'email', from: 'ada@old.example', to: 'ada@new.example' },
  { type: 'account_change', change: 'password' },
  { type: 'login' },
  { type: 'login', application: 'Netbank', ip: '2001:db8::1', location: 'Lyon, France' },
  { type: 'consent', title: 'Terms', text: 'First.\n\nSecond.', version: '2026-11' },
  { type: 'generic', title: 'Close the vault', fields: [{ label: 'Vault', value: '7' }] },
]

const named = (name: string) => ({ ...payment, payee: { ...payee, name } })
const batchOf = (payees_count: number) => {
  return { type: 'payment_batch', total: '0', currency: 'EUR', payees_count, payees_hash: '0'.repeat(64) }
}

const REFUSED: Array<[what: string, action: object, path: string]> = [
  ['an amount that is a number', { ...payment, amount: 1250 }, 'action.amount'],
  ['an amount with a comma', { ...payment, amount: '1250,00' }, 'action.amount'],
  ['an amount with an exponent', { ...payment, amount: '1e3' }, 'action.amount'],
  ['an amount with a sign', { ...payment, amount: '-1' }, 'action.amount'],
  ['an amount with a leading zero', { ...payment, amount: '01' }, 'action.amount'],
  ['an amount in digits of another script', { ...payment, amount: '١٢' }, 'action.amount'],
  ['an amount that ends with a line feed', { ...payment, amount: '12\n' }, 'action.amount'],
  ['an amount of 16 digits', { ...payment, amount: '1000000000000000' }, 'action.amount'],
  ['more digits than the currency has', { ...payment, amount: '1.001' }, 'action.amount'],
  ['a fraction of a yen', { ...payment, amount: '1.0', currency: 'JPY' }, 'action.amount'],
  ['a currency that ISO 4217 does not have', { ...payment, currency: 'EURO' }, 'action.currency'],
  ['a currency in lower case', { ...payment, currency: 'eur' }, 'action.currency'],
  ['a payment without payee', { type: 'payment', amount: '1', currency: 'EUR' }, 'action.payee'],
  ['a payee without account', { ...payment, payee: { name: 'Grace' } }, 'action.payee.account'],
  [
    'an account with a Cyrillic letter',
    { ...payment, payee: { ...payee, account: 'DЕ89' } },
    'action.payee.account',
  ],
  ['an empty name', named(''), 'action.payee.name'],
  ['a name of 141 characters', named('x'.repeat(141)), 'action.payee.name'],
  ['a name that turns the direction of writing', named('Grace\u202e00.1'), 'action.payee.name'],
  ['a name with an isolate', named('\u2067Grace'), 'action.payee.name'],
  ['a name with an invisible character', named('Gra\u200bce'), 'action.payee.name'],
  ['a name with a control character', named('Gra\u0007ce'), 'action.payee.name'],
  ['a name of several lines', named('Grace\nHopper'), 'action.payee.name'],
  ['a name that ends with a space', named('Grace '), 'action.payee.name'],
  ['a name with a gap', named('Grace  Hopper'), 'action.payee.name'],
  ['a name of blank Braille', named('Grace\u2800Hopper'), 'action.payee.name'],
  ['a name with towers of marks', named(`G${'\u0301'.repeat(5)}`), 'action.payee.name'],
  ['a field that nobody is shown', { ...payment, fee: '10.00' }, 'action.fee'],
  [
    'a field that nobody is shown, of a payee',
    { ...payment, payee: { ...payee, bank: 'x' } },
    'action.payee.bank',
  ],
  ['a change of unknown kind', { type: 'account_change', change: 'name' }, 'action.change'],
  ['an application that is a number', { type: 'login', application: 7 }, 'action.application'],
  ['a consent without text', { type: 'consent', title: 'Terms', version: '1' }, 'action.text'],
  [
    'a consent with a screen of nothing',
    { type: 'consent', title: 'Terms', text: 'a\n\n\nb', version: '1' },
    'action.text',
  ],
  ['a generic action without fields', { type: 'generic', title: 'x', fields: [] }, 'action.fields'],
  [
    'a generic action with 21 fields',
    { type: 'generic', title: 'x', fields: Array(21).fill({ label: 'a', value: 'b' }) },
    'action.fields',
  ],
  [
    'a field without value',
    { type: 'generic', title: 'x', fields: [{ label: 'a' }] },
    'action.fields.0.value',
  ],
  ['a batch of none', batchOf(0), 'action.payees_count'],
  ['a batch of 1,001', batchOf(1001), 'action.payees_count'],
]

describe('a typed action', () => {
  it.each(VALID.map((action) => [JSON.stringify(action), action] as const))('may be %s', (_text, action) => {
    expect(typedActionFaults(action)).toEqual([])
    expect(typedAction(action)).toBe(action)
  })

  it.each(REFUSED)('may not have %s', (_what, action, path) => {
    expect(typedActionFaults(action).map((fault) => fault.path)).toEqual([path])
    expect(() => typedAction(action as TypedAction)).toThrow(path)
  })

  it.each([['wire_transfer'], [undefined], [7], ['Payment'], ['payment ']])(
    'has no schema where its type is %s',
    (type) => {
      expect(typedActionFaults({ type, amount: 7 })).toEqual([])
    },
  )

  it('fits the published schema whenever the rules take it', () => {
    check(
      fc.property(payments, (action) => {
        expect(typedActionFaults(action)).toEqual([])
        expect(Schema.Check(TYPED_ACTION_SCHEMAS.payment as object, action)).toBe(true)
      }),
    )
  })

  it('is refused by a validator of JSON Schema for the faults that a schema can state', () => {
    const byRulesOnly =
      /more digits|a yen|direction|isolate|invisible|control|several lines|ends with a space|gap|Braille|marks|screen/
    for (const [what, action] of REFUSED) {
      const schema = TYPED_ACTION_SCHEMAS[(action as TypedAction).type] as object
      expect([what, Schema.Check(schema, action)]).toEqual([what, byRulesOnly.test(what)])
    }
  })
})

describe('an amount', () => {
  it('is the same number as text and in minor units', () => {
    const cases = currencies.chain((currency) => fc.tuple(fc.constant(currency), amountOf(currency)))
    check(
      fc.property(cases, ([currency, amount]) => {
        expect(decimalText(minorUnits(amount, currency)!, currency)).toBe(amount)
      }),
    )
  })

  it.each([
    ['12.5', 'EUR', 1250n],
    ['0.05', 'EUR', 5n],
    ['12', 'JPY', 12n],
    ['1.2345', 'KWD', null],
    ['999999999999999.99', 'USD', 99999999999999999n],
    ['1', 'XXX', null],
  ])('%s %s is %s minor units', (amount, currency, units) => {
    expect(minorUnits(amount, currency)).toBe(units)
  })

  it('is in a currency that the CLDR of this Node knows', () => {
    const known = new Set(Intl.supportedValuesOf('currency'))
    // Codes that are newer than the CLDR of Node 20.
    const newer = ['XCG']
    expect(CURRENCIES.filter((code) => !known.has(code) && !newer.includes(code))).toEqual([])
    expect([minorDigits('EUR'), minorDigits('JPY'), minorDigits('KWD'), minorDigits('eur')]).toEqual([
      2,
      0,
      3,
      undefined,
    ])
  })
})

describe('a batch', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const faultPaths = (action: object, payees: object) =>
    payeesFaults(action, canonicalJson(payees), sha256).map(({ path }) => path)
  const cases = currencies.chain((currency) => fc.tuple(fc.constant(currency), payeeLists(currency, 20)))

  it('binds its total, its length and its list, for any list', async () => {
    await checkAsync(
      fc.asyncProperty(cases, fc.nat(), async ([currency, payees], at) => {
        const { action, payees: text } = await paymentBatch({ currency, payees })
        expect([text, action.payees_hash]).toEqual([canonicalJson(payees), sha256(text)])
        expect(faultPaths(action, payees)).toEqual([])
        const index = at % payees.length
        const amount = plusOneUnit(payees[index]!.amount, currency)
        expect(faultPaths(action, payees.with(index, { ...payees[index]!, amount }))).toEqual([
          'action.total',
        ])
        const name = `${payees[index]!.name} x`
        expect(faultPaths(action, payees.with(index, { ...payees[index]!, name }))).toEqual([
          'action.payees_hash',
        ])
        expect(faultPaths(action, [...payees, { ...payees[0]!, amount: '0' }])).toEqual([
          'action.payees_count',
        ])
      }),
      50,
    )
  })

  it.each([
    ['a list that is not text', [payee]],
    ['no JSON', '['],
    ['an object', '{}'],
    ['white space', `[ ${canonicalJson({ ...payee, amount: '1' })}]`],
    ['a member named twice', canonicalJson([{ ...payee, amount: '1' }]).replace('{', '{"account":"x",')],
  ])('is not bound by %s', async (_what, payees) => {
    const { action } = await paymentBatch({ currency: 'EUR', payees: [{ ...payee, amount: '1' }] })
    expect(payeesFaults(action, payees, sha256)).toEqual([
      { path: 'payees', issue: 'must be a list in RFC 8785 canonical form, as text' },
    ])
  })

  it('adds up amounts that floating-point numbers would not', async () => {
    const payees = Array.from({ length: 1000 }, () => ({ ...payee, amount: '0.10' }))
    const { action } = await paymentBatch({ currency: 'EUR', payees })
    expect([action.total, action.payees_count]).toEqual(['100.00', 1000])
    expect(JSON.stringify(action).length).toBeLessThan(300)
  })

  it('is refused with 1,001 payees, with none, or with a payee that deceives', async () => {
    const refused = (payees: object[]) => paymentBatch({ currency: 'EUR', payees: payees as never })
    await expect(refused(Array(1001).fill({ ...payee, amount: '1' }))).rejects.toThrow('payees')
    await expect(refused([])).rejects.toThrow('payees')
    await expect(refused([{ ...payee, name: 'a\u202eb', amount: '1' }])).rejects.toThrow('payees.0.name')
    await expect(refused([{ ...payee, amount: '1.001' }])).rejects.toThrow('payees.0.amount')
  })
})

describe('docs/schemas/actions', () => {
  const made = Object.entries({ ...TYPED_ACTION_SCHEMAS, batch_payees: BATCH_PAYEES_SCHEMA }).map(
    ([name, schema]) => {
      const $schema = 'https://json-schema.org/draft/2020-12/schema'
      return [
        `${name}.json`,
        `${JSON.stringify({ $schema, $id: `urn:countersign:action:${name}`, ...schema }, null, 2)}\n`,
      ] as const
    },
  )

  it.each(made)('has %s as the code has it (UPDATE_DOCS=1 writes it)', (name, text) => {
    expect(documentInDocs(`schemas/actions/${name}`, text)).toBe(text)
  })

  it('has no other file', () => {
    expect(readdirSync(packageFile('docs', 'schemas', 'actions')).sort()).toEqual(
      made.map(([name]) => name).sort(),
    )
    expect(made).toHaveLength(TYPED_ACTION_TYPES.length + 1)
  })
})

function plusOneUnit(amount: string, currency: string): string {
  return decimalText(minorUnits(amount, currency)! + 1n, currency)
}
