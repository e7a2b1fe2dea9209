/** Two actions that differ never have one hash: what JSON would flatten is refused before anything is sent. */
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type ActionLike, actionHash } from '../../clients/node/index.js'
import { FakeCountersign } from '../../clients/node/testing.js'

class Payment {
  #amount = 1
  get amount() {
    return this.#amount
  }
}
class List extends Array<unknown> {}

const withHidden = Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false })
const withNamed = Object.assign([1], { note: 'x' })
const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

const REFUSED: Array<[what: string, value: unknown, path: string, why: RegExp]> = [
  ['a Map', { p: new Map([['to', 'A']]) }, 'action.p', /a Map/],
  ['a Set', { p: [new Set(['A'])] }, 'action.p.0', /a Set/],
  ['a Date', { at: new Date(0) }, 'action.at', /a Date/],
  ['an instance of a class', { payment: new Payment() }, 'action.payment', /a Payment/],
  ['an instance of a class as the action itself', new Payment(), 'action', /a Payment/],
  ['an object that inherits members', { p: Object.create({ to: 'A' }) }, 'action.p', /class/],
  ['a typed array', { p: new Uint8Array(2) }, 'action.p', /Uint8Array/],
  ['bytes', { p: new ArrayBuffer(2) }, 'action.p', /ArrayBuffer/],
  ['an array of a class', { p: List.from([1]) }, 'action.p', /List/],
  ['a boxed number', { p: Object(1) }, 'action.p', /a Number/],
  ['a regular expression', { p: /x/ }, 'action.p', /RegExp/],
  ['an error', { p: new Error('x') }, 'action.p', /an? Error/],
  ['a bigint', { amount: 1n }, 'action.amount', /bigint.*string/],
  ['a function', { p: () => 1 }, 'action.p', /function/],
  ['a method toJSON', { toJSON: () => 'x' }, 'action.toJSON', /function/],
  ['a symbol', { p: Symbol('s') }, 'action.p', /symbol/],
  ['a name that is a symbol', { p: { [Symbol('s')]: 1 } }, 'action.p', /symbol/],
  [
    'a getter',
    {
      p: {
        get to() {
          return 'A'
        },
      },
    },
    'action.p',
    /getter/,
  ],
  ['a hidden member', { p: withHidden }, 'action.p', /hidden/],
  ['undefined in an array', { p: [1, undefined] }, 'action.p.1', /undefined/],
  ['a hole in an array', { p: new Array(2) }, 'action.p', /holes/],
  ['a named member of an array', { p: withNamed }, 'action.p', /named members/],
  ['an integer beyond 2^53 - 1', { to: 123456789012345680 }, 'action.to', /string/],
  ['NaN', { amount: Number.NaN }, 'action.amount', /NaN/],
  ['Infinity', { amount: [Number.POSITIVE_INFINITY] }, 'action.amount.0', /Infinity/],
  ['a lone surrogate', { p: '\ud800' }, 'action.p', /surrogate/],
  ['a name with a lone surrogate', { p: { '\ud800': 1 } }, 'action.p', /surrogate/],
  ['an object that holds itself', cyclic, 'action.self', /itself/],
]

describe('an action', () => {
  it.each(REFUSED)(
    'is refused with the path of the member when it holds %s',
    async (_what, value, path, why) => {
      const action = value as ActionLike
      const refusal = await actionHash(action).then(
        () => null,
        (error: unknown) => error as Error,
      )
      expect(refusal).toBeInstanceOf(TypeError)
      expect(refusal!.message.startsWith(`${path} `)).toBe(true)
      expect(refusal!.message).toMatch(why)

      const fake = new FakeCountersign()
      const client = fake.client()
      const image = new Uint8Array([1])
      await expect(client.verify({ user_id: 'ada', image, action })).rejects.toThrow(TypeError)
      await expect(client.createChallenge({ user_id: 'ada', action })).rejects.toThrow(TypeError)
      expect(fake.requests).toEqual([])
    },
  )

  it('may hold plain objects of any realm, arrays, strings, booleans, null and safe numbers', async () => {
    const plain = { a: [1, 'x', true, null, { b: -0.5 }], c: Object.assign(Object.create(null), { d: 1 }) }
    const foreign = runInNewContext('({ a: [1, "x", true, null, { b: -0.5 }], c: { d: 1 } })')
    expect(await actionHash(foreign)).toBe(await actionHash(plain))
    expect(await actionHash({ a: 1, b: undefined })).toBe(await actionHash({ a: 1 }))
    expect(await actionHash(JSON.parse('{"__proto__":1}'))).not.toBe(await actionHash({}))
    const shared = { x: 1 }
    expect(await actionHash({ a: shared, b: shared })).toBe(await actionHash({ a: { x: 1 }, b: { x: 1 } }))
    expect(await actionHash('transfer')).toMatch(/^[0-9a-f]{64}$/)
  })
})
