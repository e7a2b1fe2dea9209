/**
 * Tasks that never end, that have lost their worker once, or for which no caller waits; and the places of production
 * and sandbox.
 */
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MINUTE_MS } from '../../../src/lib/clock.js'
import { childrenOf, processorTicks } from '../../support/process-tree.js'
import { codeOf, defaultLimits, engineOf, judgeBy, plainPicture, writeLightPack } from '../fixtures.js'

const packDir = writeLightPack()
const incidents: string[] = []
const picture = await plainPicture().jpeg().toBuffer()

const start = () =>
  engineOf(packDir, {
    faultInjection: true,
    tasksPerWorker: 4,
    onIncident: ({ kind }) => incidents.push(kind),
  })

const kept = await start()
/** The engine that tests share, once it has recovered from the test before. */
async function running() {
  await expect.poll(() => kept.health().status).toBe('ok')
  return kept
}
afterEach(() => {
  vi.useRealTimers()
  incidents.length = 0
})

/** Time limit of a task with one picture or none, in milliseconds. */
const STUCK_MS = 20_000

/** Options of `vi.waitUntil`: it waits at most 20,000 ms of real time and moves the fake time along meanwhile. */
const PATIENCE = { timeout: 20_000 }

it('a task that never ends costs its process after 20 s, a second time the call itself, and no more', async () => {
  // An engine of its own: timers that it set in fake time never end.
  const engine = await start()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let code: string | undefined
  void codeOf(engine.injectFault({ kind: 'stall', durationMs: 60 * MINUTE_MS })).then((told) => {
    code = told
  })
  const isRunning = () => engine.health().workers.ready === 1 && engine.health().queue.running === 1
  for (const stuck of [1, 2]) {
    await vi.waitUntil(isRunning, PATIENCE)
    vi.advanceTimersByTime(STUCK_MS / 2)
    expect(incidents.filter((kind) => kind === 'task_stuck')).toHaveLength(stuck - 1)
    vi.advanceTimersByTime(STUCK_MS / 2)
    expect(incidents.filter((kind) => kind === 'task_stuck')).toHaveLength(stuck)
    await vi.waitUntil(() => engine.health().workers.ready === 0, PATIENCE)
  }
  await vi.waitUntil(() => code !== undefined, PATIENCE)
  expect(code).toBe('engine_unavailable')
  vi.useRealTimers()
  expect(await codeOf(engine.inspect([picture]))).toBe('resolved')
})

describe('a call whose worker died under it', () => {
  it('a call whose worker died is retried while nothing else runs, so that it can take no other call with it', async () => {
    const engine = await running()
    await engine.injectFault({ kind: 'crash-on-next-task' })
    const retried = codeOf(engine.injectFault({ kind: 'stall', durationMs: 700 }))
    for (const ready of [0, 1])
      await expect.poll(() => engine.health().workers.ready, { interval: 5 }).toBe(ready)
    await expect.poll(() => engine.health().queue.running, { interval: 5 }).toBe(1)
    const others = [1, 2].map(() => codeOf(engine.inspect([picture])))
    expect(engine.health().queue).toMatchObject({ running: 1, waiting: 2 })
    expect(await Promise.all([retried, ...others])).toEqual(['resolved', 'resolved', 'resolved'])
  })

  it('a retry waits until the calls that ran with the lost one have ended', async () => {
    const both = await engineOf(packDir, { faultInjection: true, workers: 2 })
    const order: string[] = []
    const running = both
      .injectFault({ kind: 'stall', durationMs: 3000 })
      .then(() => order.push('the one that was running'))
    // The other worker takes these two, and dies under the second.
    await both.injectFault({ kind: 'exit-on-next-task' })
    const retried = both.inspect([picture]).then(() => order.push('the one that was lost'))
    await Promise.all([running, retried])
    expect(order).toEqual(['the one that was running', 'the one that was lost'])
  })

  it('a retry does not run together with another retry, which may be the cause', async () => {
    const engine = await running()
    const innocent = codeOf(engine.injectFault({ kind: 'stall', durationMs: 300 }))
    const culprit = codeOf(engine.injectFault({ kind: 'crash' }))
    expect(await culprit).toBe('engine_unavailable')
    expect(await innocent).toBe('resolved')
  })
})

it('a call whose caller has gone ends its decoding, and causes no incident', async () => {
  const engine = await running()
  const { processId } = engine.health()
  const large = await plainPicture(4800, 4800).png().toBuffer()
  // This picture starts the decoder process.
  expect(await codeOf(engine.inspect([await plainPicture(3000, 2000).png().toBuffer()]))).toBe('resolved')
  const caller = new AbortController()
  const gone = codeOf(engine.inspect([large, large, large, large], { signal: caller.signal }))
  const [decoder] = childrenOf(processId!)
  const before = processorTicks(decoder!)
  await expect.poll(() => processorTicks(decoder!), { interval: 5 }).toBeGreaterThan(before + 5)
  caller.abort()
  expect(await gone).toBe('cancelled')
  // An idle decoder process would live for a minute.
  await expect.poll(() => childrenOf(processId!).includes(decoder!), { interval: 20 }).toBe(false)
  await expect.poll(() => engine.health().queue, { interval: 20 }).toMatchObject({ running: 0, waiting: 0 })
  expect(incidents).toEqual([])
  expect(await codeOf(engine.inspect([picture]))).toBe('resolved')
})

it('the processes that read pictures leave cores and memory to the service, those that read costly pictures first', async () => {
  const engine = await running()
  const { processId } = engine.health()
  expect(await codeOf(engine.inspect([await plainPicture(3000, 2000).png().toBuffer()]))).toBe('resolved')
  const [decoder] = childrenOf(processId!)
  const oomScoreOf = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
  const [ofEngine, ofDecoder] = [processId!, decoder!].map((pid) => [getPriority(pid), oomScoreOf(pid)])
  expect(ofEngine).toEqual([10, 500])
  expect(ofDecoder).toEqual([12, 800])
})

const schedulingClass = { flow: 'somebody', weight: 1 }

it('the sandbox has one task at each worker, however many it sends; the other places are left to production', async () => {
  const engine = await running()
  const inspect = (priority: 'sandbox' | 'production') =>
    codeOf(engine.inspect([picture], { schedulingClass: { ...schedulingClass, priority } }))
  const sandbox = Array.from({ length: 6 }, () => inspect('sandbox'))
  expect(engine.health().queue).toMatchObject({ running: 1, waiting: 5 })
  const production = Array.from({ length: 4 }, () => inspect('production'))
  expect(engine.health().queue).toMatchObject({ running: 4, waiting: 6 })
  expect(await Promise.all([...sandbox, ...production])).toEqual(Array(10).fill('resolved'))
})

it('a frame of a challenge has its own limit of pixels, in the sandbox as well', async () => {
  const limits = { ...defaultLimits, maxFramePixels: 640 * 480 }
  const other = await engineOf(packDir, { limits })
  const frames = (width: number) =>
    Promise.all(Array.from({ length: 16 }, () => plainPicture(width, 480).jpeg().toBuffer()))
  const notes = Array.from({ length: 16 }, (_, i) => ({ step: i < 8 ? 0 : 1, tMs: 200 * i }))
  const steps = ['frontal', 'turn_left'] as const
  expect(await codeOf(judgeBy(other, await frames(641), { notes, steps }))).toBe('image_too_large')
  expect(await codeOf(judgeBy(other, await frames(640), { notes, steps }))).toBe('resolved')
  expect(await codeOf(other.inspect(await frames(641), { areFrames: true }))).toBe('image_too_large')
  expect(await codeOf(other.inspect(await frames(641)))).toBe('resolved')
})
