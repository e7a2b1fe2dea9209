import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { statusOf } from '../../../src/api/error-response.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { Service } from '../../../src/app/service.js'
import { DomainError } from '../../../src/lib/domain-error.js'
import type { ApiClient } from '../../support/client.js'
import { base64, unseenFace } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { exchange, openSocket, rawRequest } from '../../support/raw-socket.js'
import { serviceOfTest, startService, type TestService, type TestTenant } from '../../support/service.js'
import { overTransports } from '../../support/transports.js'
import { validSignatures } from '../../support/trust.js'

overTransports((transport) => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }
  let url: string
  let authorization: string
  const JSON_TYPE = 'Content-Type: application/json'

  beforeAll(async () => {
    running = await startService({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_DEADLINE_MS: '1000',
      COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
    })
    tenant = await running.tenant()
    production = await running.production(tenant)
    url = running.service.url('sandbox')
    authorization = `Authorization: Bearer ${tenant.sandboxKey}`
  })
  afterAll(() => running?.stop())

  /** After any input, the process must serve the next caller. */
  afterEach(async () => {
    expect((await tenant.sandbox.health()).status).toBe(200)
  })

  const health = () => rawRequest('GET /v1/health', [authorization])
  const rotations = async () => {
    const { secrets, store } = running.service.core
    const { incoming } = await secrets.active(store.read, tenant.id)
    return incoming === null ? 0 : 1
  }
  /** A request that would show if it were executed. */
  const smuggled = () => rawRequest('POST /v1/keys/rotate-signing', [authorization, 'Content-Length: 0'])

  describe('ambiguous framing', () => {
    const erase = '{"user_id":"x"}'
    const length = (bytes: number) => `Content-Length: ${bytes}`
    const CHUNKED = 'Transfer-Encoding: chunked'
    const END = '0\r\n\r\n'
    /** The headers, which may count the bytes of a smuggled request, and what precedes that request in the body. */
    const CASES: Record<string, [headers: (smuggledBytes: number) => string[], before?: string]> = {
      'two Content-Length headers': [(more) => [length(erase.length), length(erase.length + more)], erase],
      'two Content-Length headers of which the first is zero': [(more) => [length(0), length(more)]],
      'Content-Length together with Transfer-Encoding': [() => [length(4), CHUNKED], END],
      'an empty Transfer-Encoding before another and Content-Length': [
        () => ['Transfer-Encoding:', CHUNKED, length(erase.length)],
        erase,
      ],
      'an empty Transfer-Encoding': [() => ['Transfer-Encoding:', length(erase.length)], erase],
      'Transfer-Encoding twice': [() => [CHUNKED, CHUNKED], END],
      'Transfer-Encoding: gzip, chunked': [() => ['Transfer-Encoding: gzip, chunked'], END],
      'a list as Content-Length': [() => ['Content-Length: 5, 5'], '12345'],
      'a negative Content-Length': [() => [length(-1)]],
      'a Content-Length with a sign': [() => ['Content-Length: +5'], '12345'],
      'a hexadecimal Content-Length': [() => ['Content-Length: 0x5'], '12345'],
      'an empty Content-Length': [() => ['Content-Length:']],
      'two Host headers': [() => ['Host: elsewhere', length(0)]],
    }
    for (const [what, [headers, before = '']] of Object.entries(CASES))
      it(`cuts a connection with ambiguous framing and runs nothing after it: ${what}`, async () => {
        const connection = await openSocket(url)
        const more = smuggled()
        connection.send(
          rawRequest('DELETE /v1/delete', [authorization, JSON_TYPE, ...headers(more.length)], before + more),
        )
        await connection.closed()
        expect(connection.received()).not.toMatch(/^HTTP\/1\.1 [23]/m)
        expect(connection.received()).not.toContain('signing_secret')
        expect(await rotations()).toBe(0)
      })
  })

  describe('a chunked body', () => {
    it('reads a chunked body whole, however it is cut', async () => {
      const connection = await openSocket(url)
      connection.send(
        rawRequest('DELETE /v1/delete', [authorization, JSON_TYPE, 'Transfer-Encoding: chunked']),
      )
      const body = '{"user_id":"chunked"}'
      for (const piece of [body.slice(0, 3), body.slice(3, 4), body.slice(4)])
        connection.send(`${piece.length.toString(16)}\r\n${piece}\r\n`)
      connection.send('0\r\n\r\n')
      const response = await connection.response()
      expect([response?.status, response?.body.code]).toEqual([404, 'reference_not_found'])
    })

    for (const [what, body] of Object.entries({
      'a well-formed body': `5\r\nhello\r\n0\r\n\r\n`,
      'a chunk size that is no hexadecimal number': `g\r\n0123456789abcdef\r\n0\r\n\r\n`,
      'line feeds without carriage returns': '5\nhello\n0\n\n',
      'foreign bytes after a chunk': '5\r\nhelloXX0\r\n\r\n',
      'a trailer': '5\r\nhello\r\n0\r\nX: y\r\n\r\n',
    }))
      it(`ends the connection after a chunked body and runs nothing after it: ${what}`, async () => {
        const connection = await openSocket(url)
        connection.send(
          rawRequest('DELETE /v1/delete', [authorization, JSON_TYPE, 'Transfer-Encoding: chunked'], body) +
            smuggled(),
        )
        await connection.closed()
        expect(connection.received()).not.toMatch(/^HTTP\/1\.1 [23]/m)
        expect(await rotations()).toBe(0)
      })

    it('refuses a chunked body over the limit with 413 while it is still arriving', async () => {
      const small = await serviceOfTest({ COUNTERSIGN_HTTP: transport, COUNTERSIGN_MAX_BODY_BYTES: '2048' })
      const customer = await small.tenant()
      const connection = await openSocket(small.service.url('sandbox'))
      const head = [`Authorization: Bearer ${customer.sandboxKey}`, JSON_TYPE, 'Transfer-Encoding: chunked']
      connection.send(rawRequest('POST /v1/enroll', head))
      connection.send(`800\r\n${'x'.repeat(2048)}\r\n`)
      connection.send('1\r\nx\r\n')
      const response = await connection.response()
      expect([response?.status, response?.body.code]).toEqual([413, 'body_too_large'])
      await connection.closed()
    })
  })

  describe('a body over the limit', () => {
    const NINE_MIB = 9 * 1024 * 1024
    const announced = (bytes: number) =>
      rawRequest('POST /v1/enroll', [authorization, JSON_TYPE, `Content-Length: ${bytes}`])

    it('refuses a body over the limit by its Content-Length before it arrives, and closes the connection', async () => {
      const connection = await openSocket(url)
      connection.send(announced(NINE_MIB))
      const response = await connection.response()
      expect(response).toMatchObject({
        status: 413,
        body: { error: 'invalid_request', code: 'body_too_large' },
      })
      await connection.closed()
    })

    it('refuses a body over the limit that arrives at once, and never runs a request after it', async () => {
      const connection = await openSocket(url)
      connection.send(announced(NINE_MIB) + 'x'.repeat(100_000))
      expect((await connection.response())?.status).toBe(413)
      connection.send('x'.repeat(NINE_MIB - 100_000) + smuggled())
      await connection.closed()
      expect(await rotations()).toBe(0)
    })

    it('accepts a body of exactly the limit', async () => {
      const json = '{"user_id":"exact","image":""}'
      const body = json.padEnd(8 * 1024 * 1024, ' ')
      const response = await tenant.sandbox.call('POST', '/v1/enroll', undefined, { raw: body })
      expect([response.status, response.body.code]).toEqual([400, 'invalid_request'])
      expect((await exchange(url, announced(body.length + 1)))?.status).toBe(413)
    })
  })

  it('answers a slow body with 504 at the deadline', async () => {
    const connection = await openSocket(url)
    connection.send(rawRequest('POST /v1/enroll', [authorization, JSON_TYPE, 'Content-Length: 100'], '{"us'))
    expect(await connection.response()).toMatchObject({
      status: 504,
      body: { error: 'unavailable', code: 'deadline_exceeded' },
    })
    connection.end()
  })

  describe('pipelined requests', () => {
    it('never answers pipelined requests out of order', async () => {
      const connection = await openSocket(url)
      const unknown = (path: string) => rawRequest(`GET ${path}`, [authorization])
      connection.send(unknown('/v1/one') + unknown('/v1/two') + health())
      const statuses: number[] = []
      for (let response = await connection.response(); response; response = await connection.response()) {
        statuses.push(response.status)
        if (statuses.length === 3) break
      }
      connection.end()
      expect([404, 404, 200].slice(0, statuses.length)).toEqual(statuses)
    })

    it('serves requests one after the other on one connection', async () => {
      const connection = await openSocket(url)
      for (let i = 0; i < 3; i++) {
        connection.send(health())
        expect((await connection.response())?.status).toBe(200)
      }
      connection.end()
    })
  })

  it('finds no endpoint for a path with a byte outside ASCII', async () => {
    const bytes = rawRequest('GET /v1/h\u00e9alth', [authorization])
    const response = await exchange(url, Buffer.from(bytes, 'latin1'))
    expect([response?.status, response?.body.code]).toEqual(
      transport === 'uws' ? [404, 'unknown_endpoint'] : [400, 'malformed_request'],
    )
  })

  describe('headers', () => {
    it('does not let a caller inject headers through X-Request-Id', async () => {
      for (const value of ['a\r\nX-Evil: 1', 'a\rX-Evil: 1', 'a\nX-Evil: 1', 'a\0b', 'a\tb', 'caf\u00e9s']) {
        const bytes = Buffer.from(
          rawRequest('GET /v1/health', [authorization, `X-Request-Id: ${value}`]),
          'latin1',
        )
        const connection = await openSocket(url)
        connection.send(bytes)
        const response = await Promise.race([
          connection.response(),
          // A bare control character may leave the parser waiting for more.
          new Promise<null>((resolve) => setTimeout(() => resolve(null), 200)),
        ])
        connection.end()
        const headers = response?.headers ?? {}
        // Where the line break is a real one, the second line is a request header of its own.
        expect(headers, JSON.stringify(value)).not.toHaveProperty('x-evil')
        expect(headers['x-client-request-id'] ?? 'a', JSON.stringify(value)).toBe('a')
      }
    })

    it('accepts no credential from two Authorization headers', async () => {
      const response = await exchange(url, rawRequest('GET /v1/health', [authorization, authorization]))
      expect([response?.status, response?.body.code]).toEqual([401, 'malformed_api_key'])
    })
  })

  describe('bytes that are not HTTP', () => {
    for (const [what, bytes] of Object.entries({
      garbage: Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not http at all\r\n\r\n', 'latin1'),
      'an unknown method': 'BREW /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'a lower-case method': 'get /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    }))
      it(`never answers bytes that are not HTTP with success: ${what}`, async () => {
        const response = await exchange(url, bytes)
        if (response) expect(response.status).toBeGreaterThanOrEqual(400)
      })
  })

  describe('malformed HTTP/1.1', () => {
    const filler = (bytes: number) => 'x'.repeat(bytes)
    const headed = (start: string, header: string, body = '') => rawRequest(start, [header], body)
    /** The answer of uWebSockets.js itself; where there is none, and over node:http everywhere, the service answers, signed. */
    const CASES: Array<[string, string, (number | 'cut')?]> = [
      ['HTTP/1.0', 'GET /v1/health HTTP/1.0\r\nHost: x\r\n\r\n', 505],
      ['an absolute URL', 'GET http://x/v1/health HTTP/1.1\r\nHost: x\r\n\r\n', 505],
      ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 505],
      ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 505],
      ['no Host', 'GET /v1/health HTTP/1.1\r\nAccept: */*\r\n\r\n', 400],
      ['two Host headers', headed('GET /v1/health', 'Host: y'), 'cut'],
      ['two lengths', rawRequest('POST /v1/verify', ['Content-Length: 1', 'Content-Length: 1'], 'x'), 'cut'],
      ['a length that is none', headed('POST /v1/verify', 'Content-Length: 0x1', 'x'), 400],
      ['bytes of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 505],
      ['4096 bytes of headers', headed('GET /v1/health', `X-Large: ${filler(4096)}`)],
      ['4096 bytes of URL', rawRequest(`GET /v1/health?${filler(4096)}`)],
      [
        '4096 bytes of headers before a body',
        rawRequest('POST /v1/verify', [`X-Large: ${filler(4096)}`, 'Content-Length: 2'], '{}'),
      ],
      ['15 KiB of headers', headed('GET /v1/health', `X-Large: ${filler(15 * 1024)}`)],
      ['31 KiB of headers', headed('GET /v1/health', `X-Large: ${filler(31 * 1024)}`)],
      ['32 KiB of headers', headed('GET /v1/health', `X-Large: ${filler(32 * 1024)}`), 431],
    ]
    it.each(CASES)('refuses malformed HTTP/1.1: %s', async (_what, bytes, overUws) => {
      const connection = await openSocket(url)
      connection.send(Buffer.from(bytes, 'latin1'))
      const response = await connection.response()
      await connection.closed()
      if (transport === 'uws' && overUws !== undefined) {
        expect(response?.status ?? 'cut').toBe(overUws)
        expect(response?.headers['x-svc-signature']).toBeUndefined()
      } else {
        const error = new DomainError(bytes.length > 4096 ? 'headers_too_large' : 'malformed_request')
        expect([response?.status, response?.body.code]).toEqual([statusOf(error), error.code])
        // Legible, it is what the signature says was asked.
        const [, method = '', target = ''] = /^(\w+) (\S+) HTTP\/1\.1\r\n/.exec(bytes) ?? []
        const signed = { ...response!, headers: new Headers(response!.headers), request: { method, target } }
        const instance = running.service.core.keys.instance.toString('hex')
        expect(validSignatures(signed, { instance })).toEqual(['instance'])
      }
    })

    if (transport === 'node')
      it('logs and counts the refusal of malformed HTTP', async () => {
        const logged = running.logText().length
        await exchange(url, 'BREW /v1/health HTTP/1.1\r\n\r\n')
        expect(running.logText().slice(logged)).toContain('"code":"malformed_request"')
        const metrics = await (await fetch(`${running.service.adminUrl}/metrics`)).text()
        expect(metrics).toMatch(
          /^countersign_requests_total\{environment="sandbox",endpoint="unknown",status="400",code="malformed_request"\} \d+$/m,
        )
      })
  })

  describe('a chunked body that breaks', () => {
    it(
      transport === 'uws' ? 'is read laxly, or the connection is cut' : 'is told to its caller, signed',
      async () => {
        const connection = await openSocket(url)
        connection.send(
          rawRequest('DELETE /v1/delete', [authorization, JSON_TYPE, 'Transfer-Encoding: chunked'], 'z\r\n'),
        )
        const response = await connection.response()
        await connection.closed()
        if (transport === 'uws') expect(response?.status ?? 400).toBe(400)
        else {
          expect([response?.status, response?.body.code]).toEqual([400, 'malformed_request'])
          const signed = {
            ...response!,
            headers: new Headers(response!.headers),
            request: { method: 'DELETE', target: '/v1/delete' },
          }
          const { id, secret } = tenant.secret
          expect(validSignatures(signed, { [id]: secret })).toEqual([id])
        }
      },
    )
  })

  it('reports the HTTP server in health and metrics', async () => {
    const reason = 'configured'
    const { body } = await tenant.sandbox.health()
    expect(body.checks.http).toEqual({ status: 'ok', transport, reason })
    const metrics = await (await fetch(`${running.service.adminUrl}/metrics`)).text()
    const { version } = running.service.transport
    expect(metrics).toContain(
      `countersign_http_transport_info{transport="${transport}",version="${version}",reason="${reason}"} 1`,
    )
  })

  it('answers HEAD without a body and leaves the connection usable', async () => {
    const connection = await openSocket(url)
    connection.send(rawRequest('HEAD /v1/health', [authorization]))
    await expect.poll(() => connection.received()).toContain('\r\n\r\n')
    const [head, rest] = connection.received().split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 405 /)
    expect(head).toMatch(/\r\nAllow: GET(\r\n|$)/i)
    expect(rest).toBe('')
    const before = connection.received().length
    connection.send(health())
    await expect.poll(() => connection.received().slice(before)).toMatch(/\r\n\r\n.*\}$/s)
    expect(connection.received().slice(before)).toMatch(/^HTTP\/1\.1 200 /)
    connection.end()
  })

  describe('a caller that hangs up', () => {
    it('enrolls and audits nothing for a caller that hangs up', async () => {
      const body = JSON.stringify({ user_id: 'left', image: base64(await unseenFace('ada')) })
      const logged = running.logText().length
      const busy = Array.from({ length: 6 }, async (_, i) =>
        production.enroll({ user_id: `stays-${i}`, image: base64(await unseenFace('ada')) }),
      )
      await Promise.resolve()
      const connection = await openSocket(running.service.url('production'))
      connection.socket.end(
        rawRequest(
          'POST /v1/enroll',
          [`Authorization: Bearer ${production.key}`, JSON_TYPE, `Content-Length: ${body.length}`],
          body,
        ),
      )
      await connection.closed()
      expect(connection.received()).toBe('')
      await expect.poll(() => running.logText().slice(logged)).toContain('"status":499')
      await Promise.all(busy)
      expect((await production.erase('left')).status).toBe(404)
    })

    it('drops a request whose caller hangs up in the middle of its body', async () => {
      for (let i = 0; i < 20; i++) {
        const connection = await openSocket(url)
        connection.send(
          rawRequest('POST /v1/enroll', [authorization, JSON_TYPE, 'Content-Length: 5000'], '{"a":'),
        )
        connection.socket.resetAndDestroy()
      }
      const metrics = await fetch(`${running.service.adminUrl}/metrics`)
      expect(metrics.status).toBe(200)
    })
  })

  it('does not start a second service at an address in use, and names the address', async () => {
    const { port } = new URL(url)
    const config = loadConfig({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_DATA_DIR: `${running.dataDir}/second`,
      COUNTERSIGN_MODELS_DIR: running.service.config.modelsDir,
      COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_SANDBOX_LISTEN: `127.0.0.1:${port}`,
      COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_ACCEPT_PACK: 'baseline',
      COUNTERSIGN_LOG_LEVEL: 'silent',
    })
    await expect(Service.start(config)).rejects.toThrow(`127.0.0.1:${port} is in use`)
  })

  it('answers requests under way during a stop, refuses later ones with shutting_down, and ends', async () => {
    const leaving = await startService({ COUNTERSIGN_HTTP: transport })
    const customer = await leaving.tenant()
    const bearer = `Authorization: Bearer ${customer.sandboxKey}`
    const sandbox = leaving.service.url('sandbox')
    const body = JSON.stringify({ user_id: 'last', image: base64(await plain()) })
    const first = await openSocket(sandbox)
    const second = await openSocket(sandbox)
    second.send(rawRequest('GET /v1/health', [bearer]))
    expect((await second.response())?.status).toBe(200)
    first.send(
      rawRequest('POST /v1/enroll', [bearer, JSON_TYPE, `Content-Length: ${body.length}`], body.slice(0, 10)),
    )
    // Answered on the same event loop after the first one's head, which has therefore arrived.
    second.send(rawRequest('GET /v1/health', [bearer]))
    await second.response()

    const stopped = leaving.stop()
    second.send(rawRequest('GET /v1/health', [bearer]))
    const refused = await second.response()
    expect(refused?.status).toBe(503)
    expect(refused?.body).toMatchObject({ error: 'unavailable', code: 'shutting_down' })
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
    await second.closed()

    first.send(body.slice(10))
    const answered = await first.response()
    expect([answered?.status, answered?.body.status]).toEqual([201, 'enrolled'])
    await stopped
    await first.closed()
    await expect(openSocket(sandbox)).rejects.toThrow(/ECONNREFUSED/)
  })
})
