/** The common behavior of both transports, and their differences, over listeners without a service. */

import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { statusOf } from '../../../src/api/error-response.js'
import type {
  ConnectionLimits,
  IncomingRequest,
  Listener,
  Reply,
} from '../../../src/http/listeners/listener.js'
import { chooseTransport } from '../../../src/http/listeners/transport.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { exchange, openSocket, rawRequest } from '../../support/raw-socket.js'
import { LIMITS, listenForTest, overTransports } from '../../support/transports.js'

const ok = (body: string): Reply => ({ status: 200, headers: {}, body })
const whole = (request: IncomingRequest) => request.body(performance.now() + 5000)

overTransports((name) => {
  let listener: Listener
  /** @returns base URL */
  async function serve(
    handler: (request: IncomingRequest) => Promise<Reply>,
    { host = '127.0.0.1', ...limits }: Partial<ConnectionLimits> & { host?: string } = {},
  ): Promise<string> {
    listener = await listenForTest(name, {
      ...{ address: { host, port: 0 }, limits: { ...LIMITS, ...limits } },
      ...{ maxBodyBytes: 200_000, handler },
    })
    return `http://127.0.0.1:${listener.address.port}`
  }

  describe('a request', () => {
    it('passes a request on as it was sent: method, path, query, headers in UTF-8, repeated headers joined', async () => {
      const url = await serve(async ({ method, path, query, headers, encrypted }) =>
        ok(JSON.stringify({ method, path, query, headers, encrypted })),
      )
      const text = rawRequest('PATCH /a%20b?c=%C3%A9&d', [
        'X-Name: h\u00e9llo',
        'X-Two: 1',
        'x-two: 2',
        'X_Y.Z: 3',
      ])
      const response = await exchange(url, Buffer.from(text))
      expect(JSON.parse(response!.text)).toEqual({
        method: 'PATCH',
        path: '/a%20b',
        query: 'c=%C3%A9&d',
        headers: { host: 'localhost', 'x-name': 'h\u00e9llo', 'x-two': '1, 2', 'x_y.z': '3' },
        encrypted: false,
      })
    })

    it('gives the address of a caller in one form on a listener for IPv4 and IPv6', async () => {
      const url = await serve(async ({ remoteAddress }) => ok(remoteAddress), { host: '::' })
      expect(await (await fetch(url)).text()).toBe('127.0.0.1')
      expect(await (await fetch(url.replace('127.0.0.1', '[::1]'))).text()).toBe(
        '0000:0000:0000:0000:0000:0000:0000:0001',
      )
    })

    it('leaves the connection usable after a request whose body is not read', async () => {
      const url = await serve(async () => ok('refused'))
      const connection = await openSocket(url)
      for (let i = 0; i < 2; i++) {
        connection.send(rawRequest('POST /', ['Content-Length: 100000'], 'x'.repeat(100_000)))
        expect((await connection.response())?.text).toBe('refused')
      }
      connection.end()
    })

    it('keeps the body of a request in memory of its own', async () => {
      const url = await serve(async (request) => {
        const body = await whole(request)
        return ok(`${body.length} of ${body.buffer.byteLength}`)
      })
      const answers = [
        rawRequest('POST /', ['Content-Length: 5'], 'hello'),
        rawRequest('POST /', ['Transfer-Encoding: chunked'], '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'),
      ].map(async (bytes) => (await exchange(url, bytes))?.text)
      expect(await Promise.all(answers)).toEqual(['5 of 5', '5 of 5'])
    })

    it('aborts a request whose caller hangs up, before its body or its answer', async () => {
      const left: string[] = []
      const url = await serve(async (request) => {
        const gone = new Promise<void>((resolve) => {
          request.signal.addEventListener('abort', () => resolve())
        })
        await whole(request).catch(() => {})
        await gone
        left.push(request.path)
        return ok('nobody')
      })
      for (const bytes of [rawRequest('GET /answer'), rawRequest('POST /body', ['Content-Length: 9'], 'x')]) {
        const connection = await openSocket(url)
        connection.send(bytes)
        await new Promise((resolve) => setTimeout(resolve, 50))
        connection.end()
      }
      await expect.poll(() => left.toSorted()).toEqual(['/answer', '/body'])
    })
  })

  describe('a reply', () => {
    it('sends headers of a reply in UTF-8, without line breaks', async () => {
      const url = await serve(async () => ({
        ...ok(''),
        headers: { 'X-Name': 'h\u00e9llo\u20ac\r\nX-Evil: 1' },
      }))
      const { headers } = (await exchange(url, rawRequest('GET /')))!
      expect(Buffer.from(headers['x-name']!, 'latin1').toString()).toBe('h\u00e9llo\u20ac X-Evil: 1')
      expect(headers).not.toHaveProperty('x-evil')
    })

    it('answers HEAD with the length and no body, whether the connection closes or not', async () => {
      for (const close of [false, true]) {
        const url = await serve(async () => ({ ...ok('12345'), close }))
        const response = await fetch(url, { method: 'HEAD' })
        expect([response.headers.get('content-length'), await response.text()]).toEqual(['5', ''])
      }
    })

    it('answers 500 without a body where the handler fails', async () => {
      const url = await serve(() => Promise.reject(new Error('our own')))
      const response = await exchange(url, rawRequest('GET /'))
      expect([response?.status, response?.text]).toEqual([500, ''])
    })

    it('delivers a closing reply whole while the caller is still sending', async () => {
      const url = await serve(async () => ({
        status: 413,
        headers: {},
        body: 'x'.repeat(100_000),
        close: true,
      }))
      const connection = await openSocket(url)
      connection.send(rawRequest('POST /', ['Content-Length: 9000000'], 'x'.repeat(1_000_000)))
      expect((await connection.response())?.text.length).toBe(100_000)
      await connection.closed()
    })

    it('runs `afterwards` after a reply, also when the caller is gone', async () => {
      let count = 0
      const url = await serve(async () => ({ ...ok(''), afterwards: () => count++ }))
      await exchange(url, rawRequest('GET /'))
      const gone = await openSocket(url)
      gone.send(rawRequest('GET /'))
      gone.end()
      await expect.poll(() => count).toBe(2)
    })
  })

  it('a listener that retires accepts no connection, and ends an open one with its next answer', async () => {
    const url = await serve(async () => ok('done'))
    const open = await openSocket(url)
    open.send(rawRequest('GET /'))
    expect((await open.response())?.status).toBe(200)
    void listener.retire()
    const connecting = () =>
      openSocket(url).then(
        (other) => other.end(),
        ({ code }) => code,
      )
    await expect.poll(connecting).toBe('ECONNREFUSED')
    open.send(rawRequest('GET /'))
    const last = await open.response()
    expect([last?.status, last?.headers.connection]).toEqual([200, 'close'])
    await open.closed()
  })

  describe('Expect: 100-continue', () => {
    const head = rawRequest('POST /', ['Expect: 100-continue', 'Content-Length: 5'])

    it('answers Expect: 100-continue before the body', async () => {
      const url = await serve(async (request) => ok(String(await whole(request))))
      const connection = await openSocket(url)
      connection.send(head)
      expect((await connection.response())?.status).toBe(100)
      connection.send('hello')
      expect((await connection.response())?.text).toBe('hello')
      connection.end()
    })

    it(
      name === 'uws'
        ? 'is answered by the parser, even where the body is refused'
        : 'of a refused body is not answered, and the connection closes',
      async () => {
        const url = await serve(async () => ({ status: 401, headers: {}, body: '' }))
        const connection = await openSocket(url)
        connection.send(head)
        if (name === 'uws') expect((await connection.response())?.status).toBe(100)
        expect((await connection.response())?.status).toBe(401)
        if (name === 'node') await connection.closed()
        connection.end()
      },
    )
  })

  if (name === 'uws')
    // Another release may have other limits compiled in: a proxy's connections have to end before these, see docs/reverse-proxies.md.
    it('closes a silent connection, an idle one and a body that stalls well before 20 seconds, as is compiled in', async () => {
      const url = await serve(async (request) => ok(String(await whole(request))))
      const [silent, idle, stalled] = [await openSocket(url), await openSocket(url), await openSocket(url)]
      idle.send(rawRequest('GET /'))
      expect((await idle.response())?.status).toBe(200)
      stalled.send(rawRequest('POST /', ['Content-Length: 5'], 'x'))
      await Promise.all([silent.closed(), idle.closed(), stalled.closed()])
    }, 20_000)

  // uWebSockets.js has these limits compiled in, or not at all.
  if (name === 'node')
    describe('the limits of a connection', () => {
      const nothing = async () => ok('')

      it('closes a silent connection and an idle one without an answer', async () => {
        const url = await serve(nothing, { headMs: 100, idleMs: 100 })
        const silent = await openSocket(url)
        const idle = await openSocket(url)
        idle.send(rawRequest('GET /'))
        expect((await idle.response())?.status).toBe(200)
        await Promise.all([silent.closed(), idle.closed()])
        expect(silent.received()).toBe('')
        expect(await idle.response()).toBeNull()
      })

      it('closes a connection whose head does not arrive, after the handler has refused it', async () => {
        const url = await serve(
          async ({ malformed }) => ({ status: statusOf(malformed!), headers: {}, body: malformed!.code }),
          { headMs: 100 },
        )
        const connection = await openSocket(url)
        connection.send('GET / HTTP/1.1\r\nX: ')
        const response = await connection.response()
        expect([response?.status, response?.text]).toEqual([408, 'request_timeout'])
        await connection.closed()
      })

      it('reports a body that does not arrive to the handler that reads it', async () => {
        const url = await serve(
          async (request) => ok(await whole(request).then(String, ({ code }) => code)),
          { headMs: 100, requestMs: 200 },
        )
        const response = await exchange(url, rawRequest('POST /', ['Content-Length: 5'], 'x'))
        expect(response?.text).toBe('request_timeout')
      })

      it('closes a connection beyond the limit of connections', async () => {
        const url = await serve(nothing, { maxConnections: 2 })
        const [first, second] = [await openSocket(url), await openSocket(url)]
        const third = await openSocket(url)
        await third.closed()
        for (const connection of [first, second]) {
          connection.send(rawRequest('GET /'))
          expect((await connection.response())?.status).toBe(200)
          connection.end()
        }
      })
    })
})

describe('the choice of transport', () => {
  it('chooses the HTTP server of the setting', async () => {
    expect(await chooseTransport('node')).toMatchObject({ name: 'node', reason: 'configured' })
  })

  it('chooses uWebSockets.js where it loads, else node:http with the reason', async () => {
    const { name, reason, description } = await chooseTransport('auto')
    if (name === 'uws')
      expect({ reason, description }).toEqual({
        reason: 'preferred',
        description: expect.stringMatching(/^uWebSockets\.js \d/),
      })
    else
      expect({ reason, description }).toEqual({
        reason: 'unavailable',
        description: expect.stringContaining('uWebSockets.js does not load'),
      })
  })

  it.skipIf(process.platform !== 'linux')(
    'loads nothing of uWebSockets.js with the interface and node:http',
    () => {
      const files = ['listener', 'node-listener', 'transport'].map(
        (file) => pathToFileURL(packageFile('dist', 'src', 'http', 'listeners', `${file}.js`)).href,
      )
      const loaded = execFileSync(process.execPath, [
        '--input-type=module',
        '-e',
        `${files.map((file) => `import '${file}'`).join('\n')}
       console.log(JSON.stringify(process.report.getReport().sharedObjects))`,
      ])
      expect(JSON.parse(String(loaded)).filter((file: string) => file.includes('uws_'))).toEqual([])
    },
  )
})
