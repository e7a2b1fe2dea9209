/** Tests of the checks of a policy: its author learns what is wrong with it before it is in force. */
import { describe, expect, it } from 'vitest'
import { ACR_VALUES } from '../../../clients/node/index.js'
import { checksOf, missingChecks } from '../../../src/contract/acr.js'
import { checkedPolicy, parsePolicy } from '../../../src/features/policies/policy.js'

const LAST = { name: 'rest', require: {} }
const LOGIN = { types: ['login'] }
const requiring = (require: object) => ({ name: 'rest', require })
/** A rule with a condition, and the last one. */
const conditional = (when: object) => [{ name: 'a', when, require: {} }, LAST]
const faultOf = (...rules: object[]) => {
  try {
    checkedPolicy({ rules })
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

describe('a policy', () => {
  it.each<[string, string, object[]]>([
    ['no rule', 'rules', []],
    ['a last rule with a condition', 'the last rule must have no `when`', conditional(LOGIN).slice(0, 1)],
    ['a rule for every action before the last', 'would never decide', [{ name: 'all', require: {} }, LAST]],
    ['an empty condition before the last rule', 'would never decide', conditional({})],
    ['two rules of one name', 'two rules are named rest', [{ ...LAST, when: LOGIN }, LAST]],
    ['an unknown requirement', 'require has unknown fields: face', [requiring({ face: true })]],
    ['an unknown acr', 'is no acr of an approval', [requiring({ acr: 'face-active' })]],
    ['a rate of 1', 'max_fmr', [requiring({ max_fmr: 1 })]],
    ['an unknown type', 'rules.0.when.types.0', conditional({ types: ['pay'] })],
    ['an amount that is a number', 'min_amount', conditional({ min_amount: { EUR: 5 } })],
    ['an amount with an exponent', 'min_amount', conditional({ min_amount: { EUR: '1e3' } })],
    ['a currency in small letters', 'min_amount', conditional({ min_amount: { eur: '1' } })],
    [
      'too many rules',
      'rules',
      [...Array.from({ length: 64 }, (_, index) => ({ name: `r${index}`, when: LOGIN, require: {} })), LAST],
    ],
  ])('is refused with %s', (_, issue, rules) => {
    expect(faultOf(...rules)).toContain(issue)
  })

  it('announces an erasure before it is due', () => {
    const kept = (notice_days: number) => () =>
      checkedPolicy({ rules: [LAST], retention: { inactive_days: 3, notice_days } })
    expect(kept(2)).not.toThrow()
    expect(kept(3)).toThrow('notice_days must be less')
  })

  it('is taken with an acr of an approval', () => {
    expect(faultOf(requiring({ acr: 'urn:countersign:acr:face-active' }))).toBe('none')
  })

  it('has one hash, however its text is written', () => {
    const one = parsePolicy(
      '{ "rules": [ { "require": { "min_photos": 2, "max_fmr": 1e-5 }, "name": "rest" } ] }',
    )
    const other = parsePolicy('{"rules":[{"name":"rest","require":{"max_fmr":0.00001,"min_photos":2}}]}')
    expect(one.hash).toBe(other.hash)
    expect(one.text).toBe('{"rules":[{"name":"rest","require":{"max_fmr":0.00001,"min_photos":2}}]}')
    expect(parsePolicy('{"rules":[{"name":"rest","require":{"min_photos":2}}]}').hash).not.toBe(one.hash)
  })

  it('is refused where its text is no JSON, or is longer than 32 KiB', () => {
    expect(() => parsePolicy('rules')).toThrow('it is not JSON')
    const rules = Array.from({ length: 60 }, (_, index) => ({
      name: `r${index}`.padEnd(60, 'x'),
      when: {
        min_amount: Object.fromEntries(
          Array.from({ length: 60 }, (_, n) => [
            `A${String.fromCharCode(65 + (n % 26))}${String.fromCharCode(65 + Math.floor(n / 26))}`,
            '1',
          ]),
        ),
      },
      require: {},
    }))
    expect(faultOf(...rules, LAST)).toContain('32768 bytes')
  })
})

describe('an acr', () => {
  it('is at least another one where it names all of its checks', () => {
    const [strongest] = ACR_VALUES
    for (const one of ACR_VALUES) {
      expect(missingChecks(one, one)).toEqual([])
      expect(missingChecks(one, strongest)).toEqual([])
      expect(missingChecks('urn:countersign:acr:face', one)).toEqual([])
    }
    const weaker: Array<[string, string, string[]]> = [
      ['face-active', 'face-active-turn', ['nod']],
      ['face-active', 'face-pad', ['challenge', 'turn', 'nod']],
      ['face-active-nod', 'face-active-turn-pad', ['nod']],
      ['face-no-motion', 'face-pad', ['challenge']],
      ['face-pad', 'face-active', ['pad']],
      ['face-hwk', 'face-active-pad', ['swk', 'hwk']],
      ['face-active-hwk', 'face-active-swk', ['hwk']],
      ['face-swk', 'face-hwk', []],
    ]
    for (const [required, passed, missing] of weaker)
      expect(missingChecks(`urn:countersign:acr:${required}`, `urn:countersign:acr:${passed}`)).toEqual(
        missing,
      )
  })

  it('is no other text', () => {
    for (const text of [
      '0',
      'face',
      'urn:countersign:acr:',
      'urn:countersign:acr:face-pad-active',
      'urn:countersign:acr:face-active\n',
    ])
      expect(checksOf(text)).toBeNull()
    expect(missingChecks('urn:countersign:acr:face-pad', '0')).toEqual(['pad'])
  })
})
