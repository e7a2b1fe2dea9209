import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inputParser } from '../../../src/http/bodies/json-body.js'
import { memberIssue } from '../../../src/http/bodies/json-members.js'
import type { DomainError } from '../../../src/lib/domain-error.js'
import { decodeImages } from '../../../src/verification/capture/images.js'
import { descriptionOf } from '../../support/descriptions.js'
import { base64 } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { check } from '../../support/properties.js'
import { exchange, type RawResponse, rawRequest } from '../../support/raw-socket.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s' })
const tenant = await running.tenant()
const { sandbox } = tenant
const image = base64(await plain())

const send = (raw: string | Uint8Array, headers: Record<string, string> = {}, path = '/v1/enroll') =>
  sandbox.call('POST', path, undefined, { raw, headers })
const erase = (query: string) => sandbox.call('DELETE', `/v1/delete?${query}`)
/** A request that no client library would send, with the key of the tenant. */
const sendRaw = (start: string, headers: string[] = [], body = '') =>
  exchange(
    running.service.url('sandbox'),
    rawRequest(start, [`Authorization: Bearer ${tenant.sandboxKey}`, ...headers], body),
  )
type Response = Pick<RawResponse, 'status' | 'body'>
const paths = (response: Response): string[] =>
  response.body.details.map(({ path }: { path: string }) => path)
const codeOf = (response: Response | null) => [response?.status, response?.body.code]
/** Status, code, and the paths of the fields to blame. */
const blame = (response: Response) => [...codeOf(response), ...paths(response)]
const INVALID = [400, 'invalid_request']

describe('a body that is not JSON in UTF-8', () => {
  const CASES: Record<string, string | Uint8Array> = {
    'a broken object': '{"user_id":',
    'two objects': '{}{}',
    'a trailing comma': '{"user_id":"a",}',
    'single quotes': "{'user_id':'a'}",
    'a comment': '{/* */}',
    NaN: '{"user_id":NaN}',
    'only white space': '   ',
    'a byte order mark': '\ufeff{}',
    'invalid UTF-8': Buffer.from('{"a":"\xff\xfe"}', 'latin1'),
    'an overlong encoding': Buffer.from('{"user_id":"\xc0\xaf"}', 'latin1'),
    'UTF-16': Buffer.from('{"user_id":"a"}', 'utf16le'),
    'a NUL byte': '{"user_id":"a"}\0',
  }
  for (const [what, raw] of Object.entries(CASES))
    it(`refuses ${what} as 400 malformed_json`, async () => {
      const response = await send(raw)
      expect([...codeOf(response), response.body.error]).toEqual([400, 'malformed_json', 'invalid_request'])
    })

  it('does not quote a malformed body in its answer', async () => {
    expect((await send('{"user_id": secret-value')).text).not.toContain('secret-value')
  })

  it('refuses an empty body with 400 malformed_json where one is needed', async () => {
    for (const path of ['/v1/enroll', '/v1/verify'])
      expect(codeOf(await sandbox.call('POST', path))).toEqual([400, 'malformed_json'])
  })
})

describe('a body that is not an object', () => {
  for (const raw of ['[]', '"text"', '5', 'true', 'null', '[{"user_id":"a"}]'])
    it(`refuses the body ${raw} as 400 invalid_request`, async () => {
      for (const path of ['/v1/enroll', '/v1/verify', '/v1/keys/rotate-signing']) {
        const response = await send(raw, {}, path)
        expect([...codeOf(response), response.body.error], path).toEqual([...INVALID, 'invalid_request'])
        expect(response.body.details.length).toBeGreaterThan(0)
      }
      expect(codeOf(await sandbox.call('DELETE', '/v1/delete', undefined, { raw }))).toEqual(INVALID)
    })
})

describe('Content-Type', () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
  ])
    it(`accepts the Content-Type ${type}`, async () => {
      const body = JSON.stringify({ user_id: 'u', image, replace: true })
      expect((await send(body, { 'Content-Type': type })).status).toBe(201)
    })

  for (const type of [
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json, text/plain',
  ])
    it(`refuses the Content-Type ${type} with 415`, async () => {
      const response = await send(JSON.stringify({ user_id: 'u', image }), { 'Content-Type': type })
      expect(codeOf(response)).toEqual([415, 'unsupported_media_type'])
      expect(response.body.error).toBe('invalid_request')
    })

  it('refuses a body without Content-Type with 415', async () => {
    for (const start of ['POST /v1/enroll', 'DELETE /v1/delete', 'POST /v1/keys/rotate-signing'])
      expect(codeOf(await sendRaw(start, ['Content-Length: 2'], '{}'))).toEqual([
        415,
        'unsupported_media_type',
      ])
  })

  it('ignores Content-Type where there is no body', async () => {
    const response = await sandbox.call('DELETE', '/v1/delete?user_id=nobody', undefined, {
      headers: { 'Content-Type': 'text/plain' },
    })
    expect(response.status).toBe(404)
  })
})

describe('a field', () => {
  it('refuses an unknown field by its name at every endpoint', async () => {
    const responses = [
      await sandbox.enroll({ user_id: 'u', image, foo: 1 }),
      await sandbox.verify({ user_id: 'u', image, action: 'x', foo: 1 }),
      await sandbox.call('DELETE', '/v1/delete', { user_id: 'u', foo: 1 }),
      await sandbox.rotate({ foo: 1 }),
    ]
    for (const response of responses) {
      expect(blame(response)).toEqual([...INVALID, 'foo'])
      expect(response.body.error).toBe('invalid_request')
    }
  })

  it('refuses a field that belongs to another endpoint as unknown', async () => {
    expect(paths(await sandbox.enroll({ user_id: 'u', image, action: 'x' }))).toEqual(['action'])
    const verified = await sandbox.verify({ user_id: 'u', image, action: 'x', replace: true })
    expect(paths(verified)).toEqual(['replace'])
  })

  it('names a field that is missing', async () => {
    expect(paths(await sandbox.enroll({ image }))).toContain('user_id')
    expect(paths(await sandbox.verify({ user_id: 'u', image }))).toContain('action')
    expect(paths(await sandbox.verify({ user_id: 'u', action: 'x' }))).toContain('image')
  })

  it('names a field of the wrong type with its path', async () => {
    const cases: Array<[Record<string, unknown>, string]> = [
      [{ user_id: 5, image }, 'user_id'],
      [{ user_id: 'u', image: 5 }, 'image'],
      [{ user_id: 'u', image: null }, 'image'],
      [{ user_id: 'u', image: [image] }, 'image'],
      [{ user_id: 'u', images: image }, 'images'],
      [{ user_id: 'u', images: [image, 5] }, 'images.1'],
      [{ user_id: 'u', image, replace: 'true' }, 'replace'],
      [{ user_id: 'u', image, replace: 1 }, 'replace'],
      [{ user_id: 'u', image, consent: { id: 1, agreed_at: '2026-01-31T12:00:00Z' } }, 'consent.id'],
    ]
    for (const [body, path] of cases) {
      const response = await sandbox.enroll(body)
      expect(response.status, path).toBe(400)
      expect(paths(response), path).toContain(path)
      for (const { issue } of response.body.details) expect(issue).toMatch(/\S/)
    }
  })

  it('refuses fields named __proto__, constructor and prototype, without any effect', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
      const response = await send(`{"user_id":"u","image":"${image}","${name}":{"replace":true}}`)
      expect([response.status, ...paths(response)]).toEqual([400, name])
    }
    expect((await erase('__proto__=x')).status).toBe(400)
    expect(({} as Record<string, unknown>).replace).toBeUndefined()
  })

  it('never takes a field from a prototype: __proto__ gives no user', async () => {
    const response = await send(`{"__proto__":{"user_id":"u"},"image":${JSON.stringify(image)}}`)
    expect(response.status).toBe(400)
    expect(paths(response)).toContain('user_id')
  })

  it('bounds the list of details where many fields are wrong', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, i]))
    const response = await sandbox.enroll({ user_id: 'u', image, ...many })
    expect(response.status).toBe(400)
    expect(response.body.details.length).toBeLessThanOrEqual(20)
  })

  it('refuses a field of the wrong type next to any other fields', async () => {
    for (let count = 1; count <= 12; count++) {
      const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, i]))
      expect(codeOf(await sandbox.enroll({ user_id: 5, image, ...many })), `${count}`).toEqual(INVALID)
    }
  })

  it('refuses a field that is given twice, also where its name is escaped', async () => {
    const large = JSON.stringify(image.repeat(20).slice(0, 4096))
    for (const raw of [
      '{"user_id":"a","user_id":"b","image":"YQ=="}',
      '{"user_id":"a","user\\u005fid":"b","image":"YQ=="}',
      `{"user_id":"a","image":${large},"user_id":"b"}`,
    ]) {
      const response = await send(raw)
      expect(codeOf(response)).toEqual(INVALID)
      expect(response.body.details).toEqual([{ path: 'user_id', issue: 'is given more than once' }])
    }
    const photos = await send(`{"user_id":"a","image":${large},"image":${large}}`)
    expect([photos.status, paths(photos)]).toEqual([400, ['image']])
    const action = '{"user_id":"a","image":"YQ==","action":{"pay":[{"to":"x","amount":1,"to":"y"}]}}'
    const inside = await send(action, {}, '/v1/verify')
    const issue = 'holds a field more than once'
    expect([inside.status, inside.body.details]).toEqual([400, [{ path: 'action', issue }]])
  })

  it('accepts fields of one name in different objects', async () => {
    const body = '{"user_id":"a","image":"YQ==","action":{"a":{"a":1},"b":[{"a":1},{"a":2}]}}'
    expect((await send(body, {}, '/v1/verify')).body.code).not.toBe('invalid_request')
  })

  for (const [levels, path] of [
    [10_000, 'foo'],
    [100_000, 'body'],
  ] as const)
    it(`refuses an unknown field that is nested ${levels} levels deep`, async () => {
      const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
      const response = await send(`{"user_id":"u","image":${JSON.stringify(image)},"foo":${deep}}`)
      expect([response.status, paths(response)]).toEqual([400, [path]])
    })
})

describe('a body that is large without images', () => {
  const parse = inputParser(descriptionOf('verify'))
  const around = (action: string) => Buffer.from(`{"user_id":"u","image":"QUJD","action":${action}}`)
  const members = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 1])))
  const refusalOf = (body: Buffer) => {
    try {
      parse(body, 'application/json', '')
    } catch (error) {
      return (error as DomainError).details?.map(({ path, issue }) => `${path} ${issue}`)
    }
    return null
  }

  const CROWDS: Record<string, [string, issue?: string]> = {
    'small members': [members(600_000)],
    'small lists': [`{"a":[${'[],'.repeat(1_400_000)}1]}`],
    'empty strings': [`{"a":["${'","'.repeat(2_000_000)}"]}`],
    'escaped quotes': [`"${'\\"'.repeat(4_000_000)}"`],
    'white space': [`"x"${' '.repeat(8_000_000)}`],
    'long strings': [`["${`${'Q'.repeat(3000)}","`.repeat(2500)}"]`],
    'few bytes and many values': [members(3000), 'action holds too many values'],
  }
  const LARGE = 'body holds more than 32 KiB in addition to its images'
  for (const [what, [action, issue = LARGE]] of Object.entries(CROWDS))
    it(`refuses a large body before it delays other requests: ${what}`, () => {
      const body = around(action)
      refusalOf(body)
      // The shortest of several runs in processor time, so that other work of the machine does not count.
      const timesUs = Array.from({ length: 5 }, () => {
        const started = process.cpuUsage()
        expect(refusalOf(body)).toEqual([issue])
        const { user, system } = process.cpuUsage(started)
        return user + system
      })
      expect(Math.min(...timesUs)).toBeLessThan(10_000)
    })

  it('accepts an action of 4096 bytes with every character escaped, next to a photo with escaped slashes', async () => {
    const photo = Buffer.from('?'.repeat(30_000)).toString('base64').replaceAll('P', '/')
    const action = '\\u0041'.repeat(4096)
    const body = `{"user_id":"u","image":"${photo.replaceAll('/', '\\/')}","action":"${action}"}`
    const input = parse(Buffer.from(body), 'application/json', '') as { image: Buffer; action: string }
    expect((await decodeImages(input)).images[0]).toEqual(Buffer.from(photo, 'base64'))
    expect(input.action).toBe('A'.repeat(4096))
  })

  it('refuses a body above 16 KiB by its Content-Length at an endpoint without images', async () => {
    const headers = ['Content-Type: application/json', 'Content-Length: 16385']
    for (const start of ['DELETE /v1/delete', 'POST /v1/keys/rotate-signing', 'GET /v1/health'])
      expect(codeOf(await sendRaw(start, headers)), start).toEqual([413, 'body_too_large'])
  })
})

describe('an image in base64', () => {
  const ISSUE: Record<string, (good: string) => string> = {
    'a data: prefix': (good) => `data:image/png;base64,${good}`,
    'line breaks': (good) => `${good.slice(0, 76)}\n${good.slice(76)}`,
    spaces: (good) => ` ${good}`,
    'the URL alphabet': (good) => `${good.slice(0, 8)}-_-_${good.slice(12)}`,
    'a foreign character': (good) => `${good.slice(0, 8)}!${good.slice(9)}`,
    'no padding': () => 'YQ',
    'padding in the middle': () => 'YQ==YQ==',
    'only padding': () => '====',
    'one character': () => 'Y',
    'letters outside ASCII': (good) => `é${good.slice(1)}`,
  }
  for (const [what, make] of Object.entries(ISSUE))
    it(`refuses base64 with ${what}`, async () => {
      const response = await sandbox.enroll({ user_id: 'u', image: make(image) })
      expect(blame(response)).toEqual([...INVALID, 'image'])
      const second = await sandbox.enroll({ user_id: 'u', images: [image, make(image)] })
      expect(blame(second)).toEqual([...INVALID, 'images.1'])
    })

  it('refuses an empty image', async () => {
    expect(blame(await sandbox.enroll({ user_id: 'u', image: '' }))).toEqual([...INVALID, 'image'])
  })
})

describe('the query of a delete', () => {
  it('refuses a query parameter that is unknown or given twice', async () => {
    for (const [query, path] of [
      ['user_id=a&foo=1', 'foo'],
      ['user_id=a&user_id=a', 'user_id'],
      ['user_id=a&user_id=b', 'user_id'],
      ['USER_ID=a', 'USER_ID'],
    ]) {
      const response = await erase(query!)
      expect(codeOf(response), query).toEqual(INVALID)
      expect(paths(response)).toContain(path)
    }
  })

  it('decodes the query as a form: plus is a space, percent escapes are UTF-8', async () => {
    await sandbox.enroll({ user_id: 'é b+', image, replace: true })
    const response = await erase('user_id=%C3%A9+b%2B')
    expect([response.status, response.body.user_id]).toEqual([200, 'é b+'])
  })

  it('validates the query as it does the body', async () => {
    for (const query of ['user_id=', `user_id=${'x'.repeat(129)}`, 'user_id=a%00b', 'user_id=a%0Ab']) {
      const response = await erase(query)
      expect([response.status, ...paths(response)], query).toEqual([400, 'user_id'])
    }
  })
})

describe('a query', () => {
  it('refuses an unknown query parameter by its name at every endpoint', async () => {
    const body = { user_id: 'u', image }
    for (const [method, path, json] of [
      ['POST', '/v1/enroll', body],
      ['POST', '/v1/verify', { ...body, action: 'x' }],
      ['DELETE', '/v1/delete', { user_id: 'u' }],
      ['POST', '/v1/keys/rotate-signing', undefined],
      ['GET', '/v1/health', undefined],
    ] as const) {
      const response = await sandbox.call(method, `${path}?force=true`, json)
      expect(blame(response), path).toEqual([...INVALID, 'force'])
    }
  })

  for (const query of ['user_id=%ff', 'user_id=%zz', 'user_id=%', 'user_id=%ed%a0%80', 'user_id=%c0%af'])
    it(`refuses a query that is not UTF-8 in percent-encoding: ${query}`, async () => {
      const response = await sendRaw(`DELETE /v1/delete?${query}`)
      expect([response?.status, response?.body.details?.[0]?.path]).toEqual([400, 'query'])
    })
})

describe('a path', () => {
  for (const path of [
    '/v1/../v1/health',
    '/v1/./health',
    '//v1/health',
    '/v1//health',
    '/v1/health/',
    '/v1/%68ealth',
    '/v1%2fhealth',
    '/V1/health',
    '/v1/health;x=1',
    '/v1/health%00',
  ])
    it(`compares paths as they are sent: ${JSON.stringify(path)} is unknown`, async () => {
      expect(codeOf(await sendRaw(`GET ${path}`))).toEqual([404, 'unknown_endpoint'])
    })
})

describe('a number inside an action', () => {
  const verify = (action: string) =>
    send(`{"user_id":"u+match","image":"${image}","action":${action}}`, {}, '/v1/verify')

  it('refuses a number that parsers could read differently, with its path and advice', async () => {
    const cases: Array<[action: string, path: string]> = [
      ['{"to":123456789012345678}', 'action.to'],
      ['{"to":123456789012345680}', 'action.to'],
      ['{"to":9007199254740992}', 'action.to'],
      ['{"to":-9007199254740992}', 'action.to'],
      ['{"a":[{"b":0},{"b":[1,12345678901234567890]}]}', 'action.a.1.b.1'],
      ['{"a":{"c":1},"amount":0.12345678901234567890}', 'action.amount'],
      ['{"amount":333333333.33333329}', 'action.amount'],
      ['{"amount":1e20}', 'action.amount'],
      ['{"amount":1e-400}', 'action.amount'],
      ['{"amount":1e400}', 'action.amount'],
      ['{"x":"1e999","amount":1.0000000000000000001}', 'action.amount'],
    ]
    for (const [action, path] of cases) {
      const { status, body } = await verify(action)
      expect([status, body.code, body.details?.[0].path], action).toEqual([400, 'invalid_request', path])
      expect(body.details[0].issue, action).toContain('send it as a string')
    }
    const challenge = await send('{"user_id":"u","action":{"to":123456789012345678}}', {}, '/v1/challenges')
    expect([challenge.status, paths(challenge)]).toEqual([400, ['action.to']])
  })

  it('accepts a number in any notation that a double holds exactly', async () => {
    const NUMBERS = '0.1 1.00 -0 0.0e5 1e3 9007199254740991 100e-2 0.30000000000000004 5e-324'
    for (const number of NUMBERS.split(' '))
      expect((await verify(`{"amount":${number},"to":"123456789012345678"}`)).status, number).toBe(200)
  })

  it('checks a number in time linear in its length', () => {
    const zeros = `0.${'0'.repeat(30_000)}1${'0'.repeat(1000)}1`
    expect(memberIssue(`{"action":{"a":${zeros}}}`)).toMatchObject({ path: 'action.a' })
  })

  it('bounds the path of a number, and leaves numbers of other fields to the schema', () => {
    const long = memberIssue(`{"action":{"${'n'.repeat(5000)}":1e99}}`)
    expect(long!.path.length).toBeLessThanOrEqual(201)
    expect(memberIssue('{"other":1e99}')).toBeNull()
  })

  it('accepts a number exactly when its text and its double are the same number', () => {
    check(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const isSafe = !Number.isInteger(value) || Number.isSafeInteger(value)
        expect(memberIssue(`{"action":{"a":${JSON.stringify(value)}}}`) === null).toBe(isSafe)
      }),
      1000,
    )
    check(
      fc.property(
        fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
        fc.nat({ max: 30 }),
        (digits, places) => {
          const text = `${digits < 0n ? '-' : ''}${String(digits < 0n ? -digits : digits).padStart(places + 1, '0')}`
          const number = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
          if (memberIssue(`{"action":{"a":${number}}}`) !== null) return
          // A number that is accepted must be read and written again as exactly the decimal that was sent.
          const [whole = '', fraction = ''] = String(Number(number)).split('.')
          if (fraction.includes('e') || whole.includes('e')) return
          expect(fraction.length).toBeLessThanOrEqual(places)
          expect(BigInt(whole + fraction.padEnd(places, '0'))).toBe(digits)
        },
      ),
      1000,
    )
  })
})
