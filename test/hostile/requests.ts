/** Valid requests as bytes, the seeds of damaged ones; and fragments that parsers are known to stumble over. */
import { rawRequest } from '../support/raw-socket.js'
import { damage, type Random } from './random.js'
import type { Victim } from './service.js'

const FRAGMENTS = [
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 7\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding:\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  '\r\n\r\n',
  '\0',
  '\n',
  '{"__proto__":1}',
  '"user_id":"twice",',
  '[[[[[[[[[[[[[[[[',
  '1e999999',
  '\\ud800',
  '\xff\xfe',
  '%00',
  '/../',
  `${'a'.repeat(5000)}`,
  'GET /v1/health HTTP/1.1\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
]

export function requestSeeds(
  { key, sandboxKey }: Pick<Victim, 'key' | 'sandboxKey'>,
  image: Buffer,
): string[] {
  const headers = (bearer: string) => [
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    'Connection: close',
  ]
  const common = headers(key)
  const post = (path: string, body: object, method = 'POST') => {
    const json = JSON.stringify(body)
    return rawRequest(`${method} ${path}`, [...common, `Content-Length: ${json.length}`], json)
  }
  const photo = image.toString('base64')
  return [
    rawRequest('GET /v1/health', common),
    rawRequest('DELETE /v1/delete?user_id=nobody', common),
    post('/v1/delete', { user_id: 'nobody' }, 'DELETE'),
    // This request has a key without the right to rotate: a rotation would change the secret that answers are checked with.
    rawRequest('POST /v1/keys/rotate-signing', headers(sandboxKey)),
    post('/v1/enroll', { user_id: 'u', image: photo, replace: true }),
    post('/v1/verify', { user_id: 'nobody', image: photo, action: { pay: 'x', amount: 1 }, nonce: 'n' }),
    rawRequest(
      'DELETE /v1/delete',
      [...common, 'Transfer-Encoding: chunked'],
      '14\r\n{"user_id":"nobody"}\r\n0\r\n\r\n',
    ),
  ]
}

/** A valid request, damaged one to three times. */
export function hostileRequest(seeds: string[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(seeds), 'latin1')
  for (let times = 1 + random.below(3); times > 0 && bytes.length > 0; times--) {
    if (random.next() < 0.5) bytes = damage(bytes, random)
    else {
      const at = random.below(bytes.length)
      const fragment = Buffer.from(random.pick(FRAGMENTS), 'latin1')
      bytes = Buffer.concat([bytes.subarray(0, at), fragment, bytes.subarray(at)])
    }
  }
  return bytes
}

/** Legal in everything but their size: megabytes on which a parser could spend seconds, while nobody else is served. */
export function largeRequests({ key }: Pick<Victim, 'key'>, image: Buffer): Buffer[] {
  const members = (count: number) => Array.from({ length: count }, (_, i) => `"m${i}":1`).join(',')
  const verify = (action: string, photo = image.toString('base64')) => {
    const json = `{"user_id":"nobody","image":"${photo}","action":${action}}`
    const headers = [
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `X-Svc-Idempotency-Key: large-${json.length}`,
      `Content-Length: ${json.length}`,
      'Connection: close',
    ]
    return Buffer.from(rawRequest('POST /v1/verify', headers, json), 'latin1')
  }
  return [
    verify(`{${members(550_000)}}`),
    verify(`{${members(3000)}}`),
    verify(`{"a":[${'[],'.repeat(1_400_000)}1]}`),
    verify(`{"a":[${'"",'.repeat(2_000_000)}1]}`),
    verify(`"${'\\"'.repeat(3_500_000)}"`),
    verify(`"x"${' '.repeat(7_000_000)}`),
    verify('"x"', 'QUJD'.repeat(2_000_000)),
    verify('"x"', '\\/'.repeat(2_000_000)),
    verify('"x"', '\\\\'.repeat(2_000_000)),
  ]
}
