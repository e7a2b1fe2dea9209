/** A refusal that is made before the body has come is read by ordinary clients, which send all of it first. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LINGER } from '../../../src/http/listeners/lingering.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { leash } from '../../support/leash.js'
import { openSocket, rawRequest } from '../../support/raw-socket.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { overTransports } from '../../support/transports.js'

const run = promisify(execFile)
const UPLOADS = 3
const TWELVE_MB = 12_000_000

overTransports((transport) => {
  let running: TestService
  let tenant: TestTenant
  let url: string

  beforeAll(async () => {
    running = await startService({ COUNTERSIGN_HTTP: transport, COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s' })
    tenant = await running.tenant()
    url = running.service.url('sandbox')
  })
  afterAll(() => running?.stop())

  interface Upload {
    at?: string
    method?: string
    path: string
    key?: string
    bytes?: number
    chunked?: boolean
  }

  async function upload({ path, at = url, key = tenant.sandboxKey, ...rest }: Upload) {
    const order = {
      ...{ method: 'POST', bytes: TWELVE_MB, times: UPLOADS, ...rest },
      url: new URL(path, at).href,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    }
    const { stdout } = await run(process.execPath, [
      ...leash(),
      packageFile('test/http/bodies/upload.mjs'),
      JSON.stringify(order),
    ])
    return JSON.parse(stdout) as Record<string, number>
  }

  describe(`the refusal of an upload`, () => {
    const CASES: Record<string, [string, () => Upload]> = {
      'a body over the limit': ['413 body_too_large', () => ({ path: '/v1/enroll' })],
      'a chunked body over the limit': ['413 body_too_large', () => ({ path: '/v1/enroll', chunked: true })],
      'a body over that of an endpoint without images': [
        '413 body_too_large',
        () => ({ path: '/v1/delete', method: 'DELETE', bytes: 20_000 }),
      ],
      'a wrong key': ['401 malformed_api_key', () => ({ path: '/v1/enroll', key: 'nonsense' })],
      'a wrong key and a body within the limit': [
        '401 malformed_api_key',
        () => ({ path: '/v1/enroll', key: 'nonsense', bytes: 8_000_000 }),
      ],
      'an unknown address': ['404 unknown_endpoint', () => ({ path: '/v1/enrol' })],
      'a method that is not allowed': [
        '405 method_not_allowed',
        () => ({ path: '/v1/enroll', method: 'PUT' }),
      ],
    }
    for (const [what, [expected, make]] of Object.entries(CASES))
      it(`lets ${UPLOADS} uploads by fetch all read the refusal of ${what}`, async () => {
        expect(await upload(make())).toEqual({ [expected]: UPLOADS })
      }, 60_000)

    it(`lets ${UPLOADS} uploads of 12 MB by fetch all read the refusal of a key of the other environment`, async () => {
      const { key } = await running.production(tenant)
      expect(await upload({ path: '/v1/verify', key })).toEqual({ '403 wrong_environment': UPLOADS })
    }, 60_000)

    it(`lets ${UPLOADS} uploads of 12 MB by fetch all read the refusal of a rate limit`, async () => {
      const { key } = await running.production(await running.tenant({ ratePerSecond: 1 }))
      const told = await upload({ path: '/v1/verify', key, at: running.service.url('production') })
      expect(told['429 rate_limited']).toBeGreaterThan(0)
      const others = { '429 rate_limited': 0, '413 body_too_large': 0 }
      expect(Object.keys({ ...others, ...told })).toEqual(Object.keys(others))
    }, 60_000)
  })

  const CLIENTS: Record<string, { file: string; args: (at: string) => string[] }> = {
    curl: {
      file: 'curl',
      args: (at) => ['-sS', '-o', '-', '-H', 'Content-Type: application/json', '--data-binary', '@-', at],
    },
    'curl without Expect': {
      file: 'curl',
      args: (at) => [
        '-sS',
        '-H',
        'Expect:',
        '-H',
        'Content-Type: application/json',
        '--data-binary',
        '@-',
        at,
      ],
    },
    'urllib of Python': {
      file: 'python3',
      args: (at) => [
        '-c',
        `import sys, urllib.request, urllib.error
try: urllib.request.urlopen(urllib.request.Request(${JSON.stringify(at)}, sys.stdin.buffer.read(), {'Content-Type': 'application/json'}))
except urllib.error.HTTPError as refused: print(refused.read().decode())`,
      ],
    },
  }
  for (const [name, { file, args }] of Object.entries(CLIENTS))
    it(`lets ${name} read the refusal of its upload`, async () => {
      const pending = run(file, args(`${url}/enroll`))
      pending.child.stdin!.end(Buffer.alloc(TWELVE_MB, ' '))
      const { stdout } = await pending
      expect(JSON.parse(stdout)).toMatchObject({ code: 'missing_api_key' })
    }, 60_000)

  // At once: over uWebSockets.js each waits ten seconds until the connection of a caller that never ends it is closed.
  describe.concurrent('a caller that sends for ever', () => {
    async function flood(headers: string[], piece: (size: number) => Buffer) {
      // Goes on sending where the service has ended its side.
      const connection = await openSocket(url, { allowHalfOpen: true })
      connection.send(rawRequest('POST /v1/enroll', headers))
      let sent = 0
      let isOpen = true
      void connection.closed().then(() => {
        isOpen = false
      })
      const chunk = piece(256 * 1024)
      while (isOpen && sent < 4 * LINGER.bytes) {
        const flushed = new Promise<boolean>((resolve) => {
          connection.socket.write(chunk, (error) => resolve(!error))
        })
        if (!(await Promise.race([flushed, connection.closed().then(() => false)]))) break
        sent += chunk.length
      }
      return { connection, sent }
    }

    it('reads an endless body up to the bound in bytes, and its sender gets the answer', async () => {
      const { connection, sent } = await flood([`Content-Length: ${2 ** 40}`], (size) =>
        Buffer.alloc(size, ' '),
      )
      expect((await connection.response())?.status).toBe(401)
      expect(sent).toBeGreaterThan(LINGER.bytes / 2)
      expect(sent).toBeLessThan(2 * LINGER.bytes)
      await connection.closed()
    }, 60_000)

    it('runs nothing that follows an endless chunked body', async () => {
      const { connection, sent } = await flood(['Transfer-Encoding: chunked'], (size) =>
        Buffer.concat([
          Buffer.from(`${size.toString(16)}\r\n`),
          Buffer.alloc(size, ' '),
          Buffer.from('\r\n'),
        ]),
      )
      expect((await connection.response())?.status).toBe(401)
      expect(sent).toBeLessThan(2 * LINGER.bytes)
      await connection.closed()
      expect(connection.received().match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
    }, 60_000)
  })
})
