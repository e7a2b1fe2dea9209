/** Replies in a stream, over a listener of their own. */
import { createConnection } from 'node:net'
import { describe, expect, it } from 'vitest'
import { poll, until } from '../../support/command.js'
import { listenForTest, overTransports } from '../../support/transports.js'

const MEBIBYTE = 'x'.repeat(1_048_576)
overTransports((name) => {
  async function serve(chunks: () => AsyncIterable<string>): Promise<number> {
    const handler = async () => ({ status: 200, headers: { 'X-Kind': 'stream' }, body: chunks() })
    return (await listenForTest(name, { maxBodyBytes: 1000, handler })).address.port
  }

  describe('a stream', () => {
    it('delivers a stream whole in parts of any size', async () => {
      const port = await serve(async function* () {
        for (const part of ['first,', '', MEBIBYTE, MEBIBYTE, ',last']) {
          yield part
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
      const response = await fetch(`http://127.0.0.1:${port}/`)
      expect(response.headers.get('x-kind')).toBe('stream')
      expect(await response.text()).toBe(`first,${MEBIBYTE}${MEBIBYTE},last`)
    })

    it('does not start a stream for HEAD', async () => {
      let begun = false
      const port = await serve(async function* () {
        begun = true
        yield 'x'
      })
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
      expect([response.status, await response.text(), begun]).toEqual([200, '', false])
    })

    it('cuts the connection of a stream that fails, so that no caller takes a part for the whole', async () => {
      const port = await serve(async function* () {
        yield 'a part'
        throw new Error('the rest is gone')
      })
      const response = fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text())
      await expect(response).rejects.toThrow()
    })

    it('pauses a stream for a caller that does not read, and ends it when the caller is gone', async () => {
      const MOST = 1000
      let made = 0
      let ended = false
      const port = await serve(async function* () {
        try {
          while (made < MOST) {
            made++
            yield MEBIBYTE
          }
        } finally {
          ended = true
        }
      })
      const socket = createConnection(port, '127.0.0.1')
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await until(() => made > 0)
      socket.destroy()
      await poll(async () => ended, Boolean)
      expect(made).toBeLessThan(MOST)
    })
  })
})
