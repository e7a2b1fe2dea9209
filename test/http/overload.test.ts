/** A service whose engine has no place: whom it refuses, and how early. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poll } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { childrenOf } from '../support/process-tree.js'
import { openSocket, rawRequest } from '../support/raw-socket.js'
import { startService, type TestService } from '../support/service.js'

const MIB = 1024 * 1024

describe.skipIf(process.platform !== 'linux')('while every place of the engine is taken', () => {
  let running: TestService
  /** The engine's process, which stands still in these tests: so its places stay taken. */
  let engine: number

  beforeAll(async () => {
    const before = new Set(childrenOf(process.pid))
    running = await startService({ COUNTERSIGN_QUEUE_LIMIT: '1' }, { ownEngine: true })
    engine = childrenOf(process.pid).find((pid) => !before.has(pid))!
  })
  afterAll(() => running?.stop())

  it('refuses a call by its head, before any of its body has arrived', async () => {
    const client = await running.production(await running.tenant())
    const image = base64(await face('ada'))
    process.kill(engine, 'SIGSTOP')
    try {
      const admitted = [0, 1, 2, 3, 4].map((user) => client.enroll({ user_id: `user-${user}`, image }))
      await poll(
        async () => (await client.health()).body.checks.engine.queue,
        ({ running, waiting }) => running === 4 && waiting === 1,
      )
      const connection = await openSocket(running.service.url('production'))
      const head = [`Authorization: Bearer ${client.key}`, 'Content-Type: application/json']
      connection.send(rawRequest('POST /v1/verify', [...head, `Content-Length: ${MIB}`]))
      const refused = await connection.response()
      expect([refused?.status, refused?.body.code]).toEqual([503, 'overloaded'])
      connection.end()
      process.kill(engine, 'SIGCONT')
      expect((await Promise.all(admitted)).map(({ status }) => status)).toEqual(Array(5).fill(201))
    } finally {
      process.kill(engine, 'SIGCONT')
    }
  })
})
