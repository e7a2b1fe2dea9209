import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { base64 } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { checkAsync } from '../../support/properties.js'
import { openSocket } from '../../support/raw-socket.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { overTransports } from '../../support/transports.js'

/** Never cut: docs/internals/http-edge.md, "What is left". */
const LINE = 'POST /v1/verify HTTP/1.1\r\n'

overTransports((transport) => {
  let running: TestService
  let tenant: TestTenant
  let body: string
  beforeAll(async () => {
    running = await startService({ COUNTERSIGN_HTTP: transport, COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s' })
    tenant = await running.tenant()
    body = JSON.stringify({ user_id: 'änne+no_match', image: base64(await plain()), action: { note: '€' } })
  })
  afterAll(() => running?.stop())

  /** Framed by its length, or in chunks of the given sizes. */
  function request(chunks: number[] | null): Buffer {
    const bytes = Buffer.from(body)
    const head = [
      LINE.trim(),
      'Host: localhost',
      `Authorization: Bearer ${tenant.sandboxKey}`,
      'Content-Type: application/json',
    ]
    if (!chunks)
      return Buffer.concat([
        Buffer.from([...head, `Content-Length: ${bytes.length}`, '', ''].join('\r\n')),
        bytes,
      ])
    const pieces: Buffer[] = []
    let at = 0
    for (const size of [...chunks, bytes.length]) {
      const piece = bytes.subarray(at, at + size)
      if (piece.length > 0)
        pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
      at += size
    }
    return Buffer.concat([
      Buffer.from([...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n')),
      ...pieces,
      Buffer.from('0\r\n\r\n'),
    ])
  }

  it('reads the same request however its bytes arrive, by length or in chunks', async () => {
    await checkAsync(
      fc.asyncProperty(
        fc.option(fc.array(fc.integer({ min: 1, max: 1500 }), { maxLength: 20 })),
        fc.array(fc.nat(), { maxLength: 20 }),
        async (chunks, cuts) => {
          const bytes = request(chunks)
          const places = [
            0,
            ...cuts.map((cut) => LINE.length + (cut % (bytes.length - LINE.length))),
            bytes.length,
          ]
          places.sort((a, b) => a - b)
          const connection = await openSocket(running.service.url('sandbox'))
          connection.socket.setNoDelay(true)
          for (const [index, end] of places.slice(1).entries()) {
            connection.send(bytes.subarray(places[index], end))
            await turn()
          }
          const response = await connection.response()
          connection.end()
          expect([response?.status, response?.body.user_id, response?.body.reason]).toEqual([
            200,
            'änne+no_match',
            'no_match',
          ])
        },
      ),
      100,
    )
  })
})
