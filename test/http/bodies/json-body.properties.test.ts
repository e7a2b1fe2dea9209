import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { statusOf } from '../../../src/api/error-response.js'
import { inputParser, MAX_JSON_BYTES } from '../../../src/http/bodies/json-body.js'
import { DomainError } from '../../../src/lib/domain-error.js'
import { descriptionOf } from '../../support/descriptions.js'
import { bytesInside, check, damaged } from '../../support/properties.js'

const JSON_TYPE = 'application/json'
const ENDPOINTS = ['enroll', 'verify', 'delete', 'rotate_signing'].map(descriptionOf)
const parsers = ENDPOINTS.map((endpoint) => inputParser(endpoint))
const anything = inputParser({ body: Type.Unknown() })

/** The parsed input of a request, or its coded refusal. Any other error is thrown on. */
function outcome(parse: () => unknown): { input: unknown } | { code: string; details: unknown } {
  try {
    return { input: parse() }
  } catch (error) {
    if (!(error instanceof DomainError) || statusOf(error) >= 500) throw error
    return { code: error.code, details: error.details }
  }
}

/** A JSON value as its text, with members in the order and number given: what `JSON.stringify` cannot write. */
interface Written {
  text: string
  /** Some object in it names a member twice. */
  repeats: boolean
}

const written = (text: string): Written => ({ text, repeats: false })
const space = fc.constantFrom('', '', ' ', '\n\t ')
/** The same string, with or without escapes that nobody needs. */
const spelt = (value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.boolean()).map(([text, escaped]) => {
    const json = JSON.stringify(text)
    return escaped
      ? json.replace(/[a-z]/, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json
  })
const longText = fc
  .tuple(
    fc.constantFrom('A', 'ab/+', 'ä€', '😀', '"', '\\', ':{}[],'),
    fc.constantFrom(2047, 2048, 2049, 5000),
  )
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)))
const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('user_id', 'image', 'images', 'action', 'nonce', '__proto__', 'a', ''),
  },
  { weight: 1, arbitrary: longText },
)
const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme' }) },
  { weight: 2, arbitrary: longText },
)
const { value: document } = fc.letrec<{ value: Written }>((tie) => {
  const list = fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => ({
    text: `[${gap}${items.map((item) => item.text).join(`,${gap}`)}]`,
    repeats: items.some((item) => item.repeats),
  }))
  const object = fc.array(fc.tuple(spelt(name), tie('value'), space), { maxLength: 5 }).map((members) => ({
    text: `{${members.map(([key, item, gap]) => `${gap}${key}${gap}:${gap}${item.text}${gap}`).join(',')}}`,
    repeats:
      new Set(members.map(([key]) => JSON.parse(key))).size < members.length ||
      members.some(([, item]) => item.repeats),
  }))
  return {
    value: fc.oneof(
      { depthSize: 'small' },
      spelt(text).map(written),
      fc
        .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null))
        .map((scalar) => written(JSON.stringify(scalar))),
      list,
      object,
    ),
  }
})
const topObject = document.filter(({ text }) => text.startsWith('{'))
/** Every value, in the object that each request is. */
const wrapped = document.map((inner) => ({ ...inner, text: `{"value":${inner.text}}` }))

describe('a JSON document', () => {
  it('reads a JSON document as JSON.parse does, unless it names a member twice', () => {
    check(
      fc.property(wrapped, ({ text, repeats }) => {
        const result = outcome(() => anything(Buffer.from(text), JSON_TYPE, ''))
        if (repeats) expect(result).toMatchObject({ code: 'invalid_request' })
        else expect(result).toEqual({ input: JSON.parse(text) })
      }),
    )
  })

  it('refuses a JSON document beyond 64 levels, and none with fewer', () => {
    check(
      fc.property(fc.array(fc.boolean(), { minLength: 55, maxLength: 75 }), (levels) => {
        const inside = levels.reduceRight((inner, isList) => (isList ? `[${inner}]` : `{"a":${inner}}`), '1')
        const nested = `{"a":${inside}}`
        const result = outcome(() => anything(Buffer.from(nested), JSON_TYPE, ''))
        if (1 + levels.length > 64) expect(result).toMatchObject({ code: 'invalid_request' })
        else expect(result).toEqual({ input: JSON.parse(nested) })
      }),
      200,
    )
  })

  it('refuses with malformed_json exactly the documents that JSON.parse refuses', () => {
    check(
      fc.property(damaged(wrapped.map(({ text }) => text)), (near) => {
        const bytes = Buffer.from(near)
        const result = outcome(() => anything(bytes, JSON_TYPE, ''))
        let expected: unknown
        try {
          expected = JSON.parse(bytes.toString())
        } catch {
          expect(result).toEqual({ code: 'malformed_json', details: undefined })
          return
        }
        if ('input' in result) expect(result.input).toEqual(expected)
        else expect(result.code).toBe('invalid_request')
      }),
      1000,
    )
  })
})

describe('long base64 strings, which are cut out before parsing', () => {
  const fields = (contentEncoding?: 'base64') => {
    const string = Type.String({ minLength: 1, ...(contentEncoding ? { contentEncoding } : {}) })
    return Type.Object({
      image: Type.Optional(string),
      images: Type.Optional(Type.Array(string)),
      user_id: Type.Optional(Type.String({ maxLength: 128 })),
      action: Type.Optional(Type.Unknown()),
    })
  }
  const cutting = inputParser({ body: fields('base64') })
  const plain = inputParser({ body: fields() })
  /** The cuts are the bytes between the quotes. */
  const asText = (value: unknown) => (Buffer.isBuffer(value) ? JSON.parse(`"${value}"`) : value)

  it('gives the same input or refusal with and without cutting long strings, unless too much remains outside them', () => {
    const tooMuch = {
      path: 'body',
      issue: `holds more than ${MAX_JSON_BYTES / 1024} KiB in addition to its images`,
    }
    check(
      fc.property(topObject, ({ text }) => {
        const result = outcome(() => cutting(Buffer.from(text), JSON_TYPE, ''))
        if (isDeepStrictEqual(result, { code: 'invalid_request', details: [tooMuch] })) {
          expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_JSON_BYTES)
          return
        }
        if ('input' in result) {
          const input = result.input as Record<string, unknown>
          for (const field of ['image', 'images'])
            if (Object.hasOwn(input, field))
              input[field] = Array.isArray(input[field]) ? input[field].map(asText) : asText(input[field])
        }
        expect(result).toEqual(outcome(() => plain(Buffer.from(text), JSON_TYPE, '')))
      }),
      2000,
    )
  })
})

describe('an endpoint', () => {
  const query = fc.oneof(
    fc.constant(''),
    fc.constantFrom(
      'user_id=a',
      'user_id=%F0%9F%98%80',
      'user_id=%ff',
      'a=1&a=2',
      '__proto__=x',
      'user_id',
      '&&=&',
    ),
    fc.string({ unit: 'binary' }),
  )
  const contentType = fc.option(
    fc.oneof({ weight: 9, arbitrary: fc.constant(JSON_TYPE) }, { weight: 1, arbitrary: fc.string() }),
    { nil: undefined },
  )
  const body = fc.oneof(
    bytesInside({ maxLength: 5000 }),
    damaged(topObject.map(({ text }) => text)).map((near) => Buffer.from(near)),
    topObject.map(({ text }) => Buffer.from(text)),
    fc.constantFrom('', '[]', 'null', '{}', '"a"', '1', '{"user_id":"a"}').map((text) => Buffer.from(text)),
  )

  it('accepts an object of its own fields and refuses any other input with a code', () => {
    check(
      fc.property(
        fc.constantFrom(...parsers.keys()),
        body,
        contentType,
        query,
        (index, bytes, type, search) => {
          const result = outcome(() => parsers[index]!(bytes, type, search))
          if (!('input' in result)) return
          const known = Object.keys(
            (ENDPOINTS[index]!.body as { properties: object } | undefined)?.properties ?? {},
          )
          expect(known).toEqual(expect.arrayContaining(Object.keys(result.input as object)))
        },
      ),
      3000,
    )
  })

  it('accepts no body other than an object, with or without a query', () => {
    check(
      fc.property(
        fc.constantFrom(...parsers.keys()),
        document.filter(({ text }) => !text.startsWith('{')),
        fc.constantFrom('', 'user_id=a'),
        (index, { text }, search) => {
          const result = outcome(() => parsers[index]!(Buffer.from(text), JSON_TYPE, search))
          expect(result).toMatchObject({ code: 'invalid_request' })
        },
      ),
    )
  })

  it('refuses an action with a lone surrogate, which has no canonical form', () => {
    const verify = inputParser(descriptionOf('verify'))
    const lone = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => `\\u${unit.toString(16)}`)
    const inAction = fc.constantFrom('"X"', '{"X":1}', '{"a":["b","X"]}', '{"a":{"aX":null}}')
    check(
      fc.property(lone, inAction, fc.constantFrom('', '\\\\', 'ä'), (surrogate, action, before) => {
        const body = `{"user_id":"a","image":"YQ==","action":${action.replace('X', before + surrogate)}}`
        expect(outcome(() => verify(Buffer.from(body), JSON_TYPE, ''))).toEqual({
          code: 'invalid_request',
          details: [{ path: 'action', issue: 'holds a lone surrogate' }],
        })
      }),
    )
  })
})
