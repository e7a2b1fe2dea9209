/** Tasks that never end, and tasks that have lost their worker once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { MINUTE_MS } from '../../../src/clock.js'
import { copyBaselinePack, plainPicture, removeTemporaryDirs, startEngine } from '../fixtures.js'

const incidents: string[] = []
let engine: Engine
let picture: Buffer

beforeAll(async () => {
  picture = await plainPicture().jpeg().toBuffer()
})
beforeEach(async () => {
  engine = await startEngine(copyBaselinePack(), {
    faultInjection: true,
    tasksPerWorker: 4,
    onIncident: ({ kind }) => incidents.push(kind),
  })
})
afterAll(removeTemporaryDirs)
afterEach(async () => {
  vi.useRealTimers()
  await engine?.close()
  incidents.length = 0
})

/** For a task with one picture, or none. */
const STUCK_MS = 20_000

/** Of real time, in which the faked one moves along. */
const PATIENCE = { timeout: 20_000 }

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

describe('a task that never ends', () => {
  it('costs its process after 20 s, a second time under one call the call itself, and no more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let code: string | undefined
    void codeOf(engine.injectFault({ kind: 'stall', durationMs: 60 * MINUTE_MS })).then((told) => {
      code = told
    })
    const isRunning = () => engine.health().workers.ready === 1 && engine.health().queue.running === 1
    for (const stuck of [1, 2]) {
      await vi.waitUntil(isRunning, PATIENCE)
      vi.advanceTimersByTime(STUCK_MS - 1)
      expect(incidents.filter((kind) => kind === 'task_stuck')).toHaveLength(stuck - 1)
      vi.advanceTimersByTime(1)
      expect(incidents.filter((kind) => kind === 'task_stuck')).toHaveLength(stuck)
      await vi.waitUntil(() => engine.health().workers.ready === 0, PATIENCE)
    }
    await vi.waitUntil(() => code !== undefined, PATIENCE)
    expect(code).toBe('engine_unavailable')
    vi.useRealTimers()
    expect(await codeOf(engine.inspect([picture]))).toBe('resolved')
  })
})

describe('a call whose worker died under it', () => {
  it('is tried again with nobody beside it, so that it can take nobody along', async () => {
    await engine.injectFault({ kind: 'crash-on-next-task' })
    const retried = codeOf(engine.injectFault({ kind: 'stall', durationMs: 700 }))
    for (const ready of [0, 1])
      await expect.poll(() => engine.health().workers.ready, { interval: 5 }).toBe(ready)
    await expect.poll(() => engine.health().queue.running, { interval: 5 }).toBe(1)
    const others = [1, 2].map(() => codeOf(engine.inspect([picture])))
    expect(engine.health().queue).toMatchObject({ running: 1, waiting: 2 })
    expect(await Promise.all([retried, ...others])).toEqual(['resolved', 'resolved', 'resolved'])
  })

  it('is not tried again beside another one of that kind, which may be the cause', async () => {
    const innocent = codeOf(engine.injectFault({ kind: 'stall', durationMs: 300 }))
    const culprit = codeOf(engine.injectFault({ kind: 'crash' }))
    expect(await culprit).toBe('engine_unavailable')
    expect(await innocent).toBe('resolved')
  })
})
