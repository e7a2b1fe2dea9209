/** Tests of which rule is for an action, and of each requirement at its bound: without a service, so that every change is noticed at once. */
import { describe, expect, it } from 'vitest'
import { type PolicyCondition, type PolicyRequirements, ruleFor } from '../../src/contract/action-policy.js'
import { type PolicyFacts, unmetMovements, unmetOf } from '../../src/contract/policy-requirements.js'

const DAY_MS = 86_400_000
const AT = Date.UTC(2026, 5, 1)
const acr = (rest: string) => `urn:countersign:acr:${rest}`
const REFERENCE = { createdAt: AT, describe: () => ({ photoCount: 2, consentId: 'c1' }) }
const FACTS: PolicyFacts = {
  acr: acr('face'),
  images: 2,
  isReported: true,
  binding: 'same',
  fmr: 1e-4,
  reference: REFERENCE,
  at: AT,
}
const unmet = (required: PolicyRequirements, facts: Partial<PolicyFacts> = {}) =>
  unmetOf(required, { ...FACTS, ...facts })

describe('a requirement of a rule', () => {
  it.each<[string, PolicyRequirements, Partial<PolicyFacts>, Partial<PolicyFacts>, string, string]>([
    ['acr', { acr: acr('face-pad') }, { acr: acr('face-active-pad') }, {}, 'challenge', 'lacks pad'],
    ['max_fmr', { max_fmr: 1e-4 }, {}, { fmr: 1.1e-4 }, 'action', '0.0001 is required'],
    ['min_photos', { min_photos: 2 }, {}, { images: 1 }, 'images', 'has 1'],
    ['integrity', { integrity: 'review' }, {}, { isReported: false }, 'capture_integrity', 'is missing'],
    ['capture_binding', { capture_binding: 'same' }, {}, { binding: 'any' }, 'browser', 'is "any"'],
    ['capture_binding', { capture_binding: 'same' }, {}, { binding: null }, 'browser', 'is missing'],
    [
      'max_reference_age_days',
      { max_reference_age_days: 3 },
      { at: AT + 3 * DAY_MS - 1 },
      { at: AT + 3 * DAY_MS },
      'user_id',
      'a reference of 3 days',
    ],
    [
      'consent_id',
      { consent_id: 'c1' },
      {},
      { reference: { ...REFERENCE, describe: () => ({ photoCount: 2, consentId: null }) } },
      'user_id',
      'no recorded consent',
    ],
    [
      'consent_id',
      { consent_id: 'c1' },
      {},
      { reference: { ...REFERENCE, describe: () => ({ photoCount: 2, consentId: 'c2' }) } },
      'user_id',
      'consented to "c2"',
    ],
    [
      'min_reference_photos',
      { min_reference_photos: 2 },
      {},
      { reference: { ...REFERENCE, describe: () => ({ photoCount: 1, consentId: 'c1' }) } },
      'user_id',
      'a reference of 1 photos',
    ],
  ])('%s is met at its bound and not beyond it', (requirement, required, enough, less, path, words) => {
    expect(unmet(required, enough)).toEqual([])
    expect(unmet(required, less)).toEqual([{ path, requirement, issue: expect.stringContaining(words) }])
  })

  it('is reported next to the others that are not met', () => {
    const required = { acr: acr('face-pad'), min_photos: 3, consent_id: 'c2', min_reference_photos: 3 }
    const all = unmet({ ...required, max_reference_age_days: 1 }, { at: AT + DAY_MS })
    expect(all.map(({ requirement }) => requirement)).toEqual([
      ...['acr', 'min_photos', 'max_reference_age_days', 'consent_id', 'min_reference_photos'],
    ])
  })

  it('opens the reference only where the rule asks about its photos or its consent', () => {
    const describe = () => expect.unreachable('the reference was opened')
    const facts = { reference: { createdAt: AT, describe } }
    expect(unmet({ max_fmr: 1e-3, min_photos: 1, max_reference_age_days: 1 }, facts)).toEqual([])
  })

  it('about a reference is met by a user who has none', () => {
    const required = { max_reference_age_days: 1, consent_id: 'c9', min_reference_photos: 9, min_photos: 3 }
    expect(unmet(required, { reference: null }).map(({ requirement }) => requirement)).toEqual(['min_photos'])
  })
})

it('the movements of a challenge must be those of the acr, and a passkey may still come', () => {
  const movements = (required: string | undefined, given: string) =>
    unmetMovements(required === undefined ? {} : { acr: acr(required) }, acr(given))
  expect(movements('face-active-turn', 'face-active-nod')).toEqual([
    { path: 'modes', requirement: 'acr', issue: expect.stringContaining('lacks turn') },
  ])
  for (const possession of ['', '-swk', '-hwk'])
    expect(movements(`face-active${possession}`, 'face-active')).toEqual([])
  expect(movements('face-active-hwk', 'face-no-motion')[0]!.issue).toContain('lacks turn, nod;')
  expect(movements(undefined, 'face')).toEqual([])
})

describe('the rule of an action', () => {
  const payment = (amount: unknown, currency: unknown = 'EUR') => ({
    ...{ type: 'payment', amount, currency, payee: { name: 'Grace', account: 'DE89370400440532013000' } },
  })
  const isFor = (when: PolicyCondition, action: unknown) =>
    ruleFor(
      {
        rules: [
          { name: 'first', when, require: {} },
          { name: 'rest', require: {} },
        ],
      },
      action,
    ).name === 'first'

  it('is the first of its type', () => {
    expect(isFor({ types: ['login', 'payment'] }, payment('1.00'))).toBe(true)
    expect(isFor({ types: ['login'] }, payment('1.00'))).toBe(false)
    for (const action of ['pay', null, { type: 'rename' }, {}]) {
      expect(isFor({ types: ['untyped'] }, action)).toBe(true)
      expect(isFor({ types: ['login', 'payment'] }, action)).toBe(false)
    }
    const two = { rules: ['one', 'other'].map((name) => ({ name, require: {} })) }
    expect(ruleFor(two, 'pay').name).toBe('one')
    expect(() => ruleFor({ rules: [{ name: 'a', when: { types: ['login'] }, require: {} }] }, 'pay')).toThrow(
      'without a last rule',
    )
  })

  it.each<[string, boolean, unknown]>([
    ['the amount itself', true, payment('30.00')],
    ['a millionth less', false, payment('29.999999')],
    ['less by more digits before the point', true, payment('100')],
    ['less with fewer digits', false, payment('4')],
    ['half a unit more', true, payment('30.50')],
    ['another currency', true, payment('1.00', 'JPY')],
    ['a currency of every object', true, payment('1.00', 'constructor')],
    ['no currency', true, payment('1.00', null)],
    ['an amount that is no text', true, payment(1)],
    ['an amount with a sign', true, payment('-1.00')],
    ['an amount with an exponent', true, payment('1e-9')],
    ['no amount', true, { type: 'login', currency: 'EUR' }],
    ['no object', true, 'pay'],
    ['null', true, null],
    [
      'the total of a batch',
      false,
      { type: 'payment_batch', total: '29.00', amount: '99.00', currency: 'EUR' },
    ],
    ['a batch without a total', true, { type: 'payment_batch', amount: '1.00', currency: 'EUR' }],
    ['an inherited amount', true, Object.create(payment('1.00'))],
  ])('of a least amount: %s', (_, expected, action) => {
    expect(isFor({ min_amount: { EUR: '30', USD: '33' } }, action)).toBe(expected)
  })

  it('is for every action where it has no condition, and has to meet both where there are two', () => {
    expect(isFor({}, payment('1.00'))).toBe(true)
    const both: PolicyCondition = { types: ['payment'], min_amount: { EUR: '30' } }
    expect([isFor(both, payment('30.00')), isFor(both, payment('1.00')), isFor(both, 'pay')]).toEqual([
      ...[true, false, false],
    ])
  })
})
