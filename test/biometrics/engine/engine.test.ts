/** Life and death of calls and workers. Closing is always awaited: a busy worker must not be ended. */

import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PingMessage, TaskMessage } from '../../../src/biometrics/channel/engine-protocol.js'
import { encodeFrame, FrameReader } from '../../../src/biometrics/channel/frames.js'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { decodingThreads } from '../../../src/biometrics/engine/engine-process.js'
import type { EngineOptions } from '../../../src/biometrics/types.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import {
  baselinePack,
  codeOf,
  copyBaselinePack,
  faceCrop,
  guidanceBy,
  judgeBy,
  people,
  plainPicture,
  startEngine,
  writeLightPack,
} from '../fixtures.js'

const packDir = writeLightPack()
const face = await (await faceCrop(people[0])).jpeg().toBuffer()
const nobody = await plainPicture().jpeg().toBuffer()

const incidents: Array<{ kind: string; error: unknown }> = []

const withFaults = (options: Partial<EngineOptions>): Partial<EngineOptions> => ({
  faultInjection: true,
  onIncident: (incident) => incidents.push(incident),
  ...options,
})

const environmentOf = (engine: Engine) => readFileSync(`/proc/${engine.health().processId}/environ`, 'utf8')

/** Starting an engine takes longer than most tests, so tests share a few of them. */
const ONE = { queueLimit: 4 }
const FOUR = { tasksPerWorker: 4 }
/** Eight places at two workers. */
const TWO = { workers: 2, tasksPerWorker: 4 }
const WITHOUT_QUEUE = { queueLimit: 0 }
/** Embeddings that tell people apart. */
const OF_BASELINE = { tasksPerWorker: 4, packDir: baselinePack() }
const kept = new Map<object, Engine>()

/** The engine of earlier tests with these options, once it has recovered from them and does nothing. */
async function running(options: Partial<EngineOptions> = ONE): Promise<Engine> {
  let engine = kept.get(options)
  if (!engine) {
    const { packDir: dir = packDir } = options
    engine = await startEngine(dir, withFaults(options))
    kept.set(options, engine)
  }
  await expect.poll(() => engine.health()).toMatchObject({ status: 'ok', queue: { waiting: 0, running: 0 } })
  return engine
}

afterEach(() => {
  incidents.length = 0
})
afterAll(() => Promise.all([...kept.values()].map((engine) => engine.close())))

it('starting resolves when every worker is ready', async () => {
  const engine = await running(TWO)
  expect(engine.health()).toMatchObject({
    status: 'ok',
    workers: { ready: 2, configured: 2 },
    queue: { waiting: 0, running: 0, limit: 64 },
    model: engine.pack.modelId,
  })
})

it('starting fails with a code when the pack was tampered with', async () => {
  const dir = copyBaselinePack()
  writeFileSync(join(dir, 'embedder.onnx'), 'not a network')
  expect(await codeOf(startEngine(dir))).toBe('pack_file_mismatch')
})

describe('a call', () => {
  it('enrols, verifies, compares and inspects, with timings', async () => {
    const engine = await running(OF_BASELINE)
    const enrolled = await engine.enrol([face])
    expect(enrolled.reference).toHaveLength(128)
    expect(enrolled.samples[0]!.landmarks).toHaveLength(5)
    expect(enrolled.liveness).toEqual({ checked: false, score: null, passed: null })
    for (const stage of ['queue', 'decode', 'detect', 'align', 'embed', 'match'] as const) {
      expect(enrolled.timingsMs[stage]).toBeGreaterThanOrEqual(0)
    }
    const verified = await engine.verify([face], enrolled.reference)
    expect(verified.score).toBeCloseTo(1, 5)
    expect((await engine.compare(face, face)).score).toBeCloseTo(1, 5)
    expect((await engine.inspect([face, nobody])).images).toEqual([
      { format: 'jpeg', width: 420, height: 420 },
      { format: 'jpeg', width: 320, height: 240 },
    ])
  })

  it('needs every image at enrolment, and one at verification', async () => {
    const engine = await running(OF_BASELINE)
    await expect(engine.enrol([face, nobody])).rejects.toMatchObject({
      code: 'face_not_found',
      imageIndex: 1,
    })
    const { reference } = await engine.enrol([face, face])
    const { sample } = await engine.verify([nobody, face], reference)
    expect(sample.imageIndex).toBe(1)
    await expect(engine.verify([Buffer.from('text'), nobody], reference)).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 0,
    })
  })

  it('compares only the frame of best quality: another frame that is more alike is no second try', async () => {
    const engine = await running(OF_BASELINE)
    const dim = await sharp(face).modulate({ brightness: 0.45 }).blur(2).jpeg().toBuffer()
    const { reference } = await engine.enrol([dim])
    const [alone, copy] = [await engine.verify([face], reference), await engine.verify([dim], reference)]
    expect(copy.sample.quality.score).toBeLessThan(alone.sample.quality.score)
    expect(copy.score).toBeGreaterThan(alone.score + 0.01)
    for (const frames of [
      [face, dim],
      [dim, face, nobody],
    ]) {
      const verified = await engine.verify(frames, reference)
      expect(verified.score).toBeCloseTo(alone.score, 5)
      expect(verified.samples).toHaveLength(2)
    }
  })

  it('refuses images of different people, naming the odd one', async () => {
    const engine = await running(OF_BASELINE)
    const stranger = await (await faceCrop(people[1])).jpeg().toBuffer()
    const { reference } = await engine.enrol([face])
    const named = (imageIndex: number) => ({
      code: 'different_people',
      imageIndex,
      message: expect.stringMatching(/^The image is not alike enough to the others: -?0\.\d\d of 0\.\d\d\.$/),
    })
    await expect(engine.enrol([face, stranger])).rejects.toMatchObject(named(1))
    await expect(engine.enrol([stranger, face, face])).rejects.toMatchObject(named(0))
    await expect(engine.verify([face, nobody, stranger, face], reference)).rejects.toMatchObject(named(2))
  })

  it('takes pictures that lie inside a larger buffer', async () => {
    const engine = await running(OF_BASELINE)
    const body = Buffer.concat([Buffer.alloc(100), face, Buffer.alloc(100)])
    const { images } = await engine.inspect([body.subarray(100, 100 + face.length)])
    expect(images[0]).toMatchObject({ width: 420 })
  })

  it('throws TypeError without images or with a foreign reference', async () => {
    const engine = await running(OF_BASELINE)
    await expect(engine.enrol([])).rejects.toThrow(TypeError)
    await expect(engine.verify([face], new Float32Array(64))).rejects.toThrow(TypeError)
  })
})

describe('the queue', () => {
  it('refuses a call beyond its limit at once, and serves the others in order', async () => {
    const engine = await running()
    const order: number[] = []
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 200 })
    const waiting = [1, 2, 3, 4].map((i) => engine.inspect([nobody]).then(() => order.push(i)))
    expect(engine.health().queue).toEqual({ waiting: 4, running: 1, limit: 4 })
    expect(await codeOf(engine.inspect([nobody]))).toBe('overloaded')
    await Promise.all([stalled, ...waiting])
    expect(order).toEqual([1, 2, 3, 4])
  })

  it('makes room for a flow that holds less by refusing the newest call of the flow that holds most', async () => {
    const engine = await running()
    const schedulingClass = (flow: string) => ({ flow, priority: 'production', weight: 1 }) as const
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 200 })
    const greedy = [1, 2, 3, 4].map(() =>
      codeOf(engine.inspect([nobody], { schedulingClass: schedulingClass('greedy') })),
    )
    expect([
      engine.isSaturatedFor(schedulingClass('greedy')),
      engine.isSaturatedFor(schedulingClass('polite')),
    ]).toEqual([true, false])
    const polite = codeOf(engine.inspect([nobody], { schedulingClass: schedulingClass('polite') }))
    expect(await Promise.all([...greedy, polite])).toEqual([
      ...Array(3).fill('resolved'),
      'overloaded',
      'resolved',
    ])
    await stalled
  })

  it('refuses guidance while no worker has a place, so that no verdict waits for it', async () => {
    const engine = await running()
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 200 })
    const verdict = codeOf(engine.inspect([nobody]))
    expect(await codeOf(guidanceBy(engine, nobody))).toBe('overloaded')
    expect(engine.health().queue).toMatchObject({ waiting: 1, running: 1 })
    expect(await verdict).toBe('resolved')
    await stalled
    expect(await guidanceBy(engine, nobody)).toEqual(['no_face'])
  })

  it('serves a call that finds a free worker even with a limit of 0', async () => {
    const engine = await running(WITHOUT_QUEUE)
    expect(await codeOf(engine.inspect([nobody]))).toBe('resolved')
  })

  it('drops a waiting call at its deadline or abort, without using a worker', async () => {
    const engine = await running()
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 300 })
    const controller = new AbortController()
    const late = codeOf(engine.inspect([nobody], { deadlineMs: performance.now() + 50 }))
    const aborted = codeOf(engine.inspect([nobody], { signal: controller.signal }))
    controller.abort()
    expect(await aborted).toBe('cancelled')
    expect(await late).toBe('deadline_exceeded')
    expect(engine.health().queue).toMatchObject({ waiting: 0, running: 1 })
    await stalled
  })

  it('drops the result of a running call, and lets the worker finish', async () => {
    const engine = await running()
    const controller = new AbortController()
    const late = codeOf(engine.verify([face], new Float32Array(128), { deadlineMs: performance.now() + 5 }))
    const aborted = codeOf(engine.enrol([face], { signal: controller.signal }))
    expect(await late).toBe('deadline_exceeded')
    await sleep(5)
    controller.abort()
    expect(await aborted).toBe('cancelled')
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
    expect(engine.health()).toMatchObject({ status: 'ok', queue: { waiting: 0, running: 0 } })
    expect(incidents).toEqual([])
  })

  it('never takes a call that is already late or aborted', async () => {
    const engine = await running()
    expect(await codeOf(engine.inspect([nobody], { deadlineMs: performance.now() - 1 }))).toBe(
      'deadline_exceeded',
    )
    expect(await codeOf(engine.inspect([nobody], { signal: AbortSignal.abort() }))).toBe('cancelled')
  })
})

it('each face of a batch gets the embedding that it gets without company', async () => {
  const engine = await running(OF_BASELINE)
  const crops = await Promise.all(
    people.slice(0, 4).map(async (person) => (await faceCrop(person)).jpeg().toBuffer()),
  )
  const alone: Float32Array[] = []
  for (const crop of crops) alone.push((await engine.enrol([crop])).reference)
  // Pictures without a face leave the batch, and the others stay.
  const pictures = [...crops, nobody, ...crops, nobody]
  const together = await Promise.allSettled(pictures.map((picture) => engine.enrol([picture])))
  together.forEach((result, i) => {
    const expected = alone[crops.indexOf(pictures[i]!)]
    if (expected) expect(result).toMatchObject({ status: 'fulfilled', value: { reference: expected } })
    else expect(result).toMatchObject({ status: 'rejected', reason: { code: 'face_not_found' } })
  })
})

describe('a worker that dies', () => {
  it('a worker that dies costs its call only a retry, and is replaced', async () => {
    const engine = await running()
    await engine.injectFault({ kind: 'exit-on-next-task' })
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
    expect(engine.health()).toMatchObject({ status: 'ok', workers: { ready: 1 } })
    expect(incidents.map(({ kind }) => kind)).toEqual(['worker_lost'])
  })

  for (const cause of ['throw', 'exhaust'] as const)
    it(`a worker that dies by an uncaught ${cause === 'throw' ? 'error' : 'heap overflow'} costs only its call a retry`, async () => {
      const engine = await running(TWO)
      await engine.injectFault({ kind: `${cause}-on-next-task` })
      const calls = Array.from({ length: 8 }, () => codeOf(engine.enrol([face])))
      await expect.poll(() => engine.health().status, { interval: 1 }).toBe('degraded')
      expect(await Promise.all(calls)).toEqual(Array(8).fill('resolved'))
      await expect.poll(() => engine.health().status).toBe('ok')
      expect(engine.health().workers).toEqual({ ready: 2, configured: 2 })
      expect(incidents).not.toEqual([])
    })

  it('two deaths under one call make the engine unavailable for only that call', async () => {
    const engine = await running(TWO)
    const broken = codeOf(engine.injectFault({ kind: 'throw' }))
    const innocent = Array.from({ length: 4 }, () => codeOf(engine.enrol([face])))
    expect(await broken).toBe('engine_unavailable')
    expect(await Promise.all(innocent)).toEqual(Array(4).fill('resolved'))
    await expect.poll(() => engine.health().status).toBe('ok')
  })

  it('other calls decode while the replacement of a worker starts', async () => {
    const engine = await running(TWO)
    await engine.injectFault({ kind: 'exit-on-next-task' })
    const codes = new Set<string>()
    let isReplaced = false
    const callers = Array.from({ length: 2 }, async () => {
      while (!isReplaced) codes.add(await codeOf(engine.inspect([nobody])))
    })
    for (const status of ['degraded', 'ok'])
      await expect.poll(() => engine.health().status, { interval: 1 }).toBe(status)
    isReplaced = true
    await Promise.all(callers)
    expect(codes).toEqual(new Set(['resolved']))
  })

  it('a call whose worker died does not outlive its deadline', async () => {
    const engine = await running()
    await engine.injectFault({ kind: 'exit-on-next-task' })
    const code = await codeOf(engine.enrol([face], { deadlineMs: performance.now() + 20 }))
    expect(code).toBe('deadline_exceeded')
  })

  it('the death of one worker costs the call of another worker nothing', async () => {
    const engine = await running(TWO)
    const { reference } = await engine.enrol([face])
    const { sample } = await engine.verify([face], reference)
    // The delays meet the face at different stages.
    for (const delayMs of [0, 8]) {
      await expect.poll(() => engine.health().status).toBe('ok')
      const helped = engine.verify([face], reference)
      await sleep(delayMs)
      const lost = codeOf(engine.injectFault({ kind: 'exit' }))
      expect((await helped).sample.embedding).toEqual(sample.embedding)
      expect(await lost).toBe('engine_unavailable')
    }
  })

  it('a worker that dies between calls costs none', async () => {
    const engine = await running()
    await engine.injectFault({ kind: 'throw-afterwards' })
    await expect.poll(() => incidents.length).toBeGreaterThan(0)
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
    expect(engine.health()).toMatchObject({ status: 'ok', workers: { ready: 1 } })
  })

  it('a worker is not replaced by one with other networks: calls are refused until the files are right again', async ({
    onTestFinished,
  }) => {
    const dir = writeLightPack()
    const file = join(dir, 'detector.onnx')
    const original = readFileSync(file)
    const engine = await startEngine(dir, withFaults({}))
    onTestFinished(() => engine.close())
    await engine.injectFault({ kind: 'exit-on-next-task' })
    writeFileSync(file, 'not a network')
    expect(await codeOf(engine.enrol([face]))).toBe('engine_unavailable')
    expect(engine.health()).toMatchObject({ status: 'degraded', workers: { ready: 0 } })
    expect(await codeOf(engine.enrol([face]))).toBe('engine_unavailable')
    expect(incidents.map(({ kind }) => kind)).toContain('worker_load_failed')
    writeFileSync(file, original)
    await expect.poll(() => engine.health().status, { interval: 100 }).toBe('ok')
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
  })
})

describe('a native crash', () => {
  it('a native crash costs the running calls only a retry: the process is replaced', async () => {
    const engine = await running(FOUR)
    await engine.injectFault({ kind: 'crash-on-next-task' })
    const calls = Array.from({ length: 8 }, () => codeOf(engine.enrol([face])))
    expect(await Promise.all(calls)).toEqual(Array(8).fill('resolved'))
    expect(incidents.map(({ kind }) => kind)).toContain('engine_process_lost')
    await expect.poll(() => engine.health().workers.ready).toBe(1)
  })

  it('a call that crashes two processes makes the engine unavailable for only that call', async () => {
    const engine = await running(FOUR)
    const crash = codeOf(engine.injectFault({ kind: 'crash' }))
    const innocent = Array.from({ length: 6 }, () => codeOf(engine.enrol([face])))
    expect(await crash).toBe('engine_unavailable')
    expect(await Promise.all(innocent)).toEqual(Array(6).fill('resolved'))
    expect(incidents.filter(({ kind }) => kind === 'engine_process_lost')).toHaveLength(2)
  })
})

describe('an engine without faults, in an environment of its own', () => {
  /** Settings of glibc that give every large picture a mapping of its own: a read of freed memory then crashes for certain. */
  const STRICT_MALLOC = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_PERTURB_: '165' }
  let engine: Engine
  /** Socket on which the engine's workers answer. */
  let socketPath: string
  const place = temporaryFolder()
  beforeAll(async () => {
    const environment = { TMPDIR: place, MALLOC_ARENA_MAX: '7', ...STRICT_MALLOC }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    try {
      engine = await startEngine(packDir, { onIncident: (incident) => incidents.push(incident) })
    } finally {
      vi.unstubAllEnvs()
    }
    const folder = readdirSync(place).find((name) => name.startsWith('countersign-engine-'))!
    socketPath = join(place, folder, 'engine.sock')
  })
  afterAll(() => engine?.close())

  it('a picture is not freed while a decoder reads it: one bad frame among large ones of a challenge crashes nothing', async () => {
    const large = await plainPicture(3190, 3190).jpeg().toBuffer()
    const frames = Array.from({ length: 16 }, (_, i) => (i === 1 ? large : Buffer.from('nope')))
    const notes = frames.map((_, i) => ({ step: Math.floor(i / 6), tMs: 200 * i }))
    const steps = ['frontal', 'turn_left', 'frontal'] as const
    for (let i = 0; i < 4; i++)
      expect(await codeOf(judgeBy(engine, frames, { notes, steps }))).toBe('image_unreadable')
    expect(incidents).toEqual([])
    expect(engine.health().status).toBe('ok')
  })

  it.skipIf(process.platform !== 'linux')(
    'has the arenas of memory that the operator says, and elsewhere no more of them than workers',
    async () => {
      expect(environmentOf(engine)).toContain('MALLOC_ARENA_MAX=7\0')
      expect(environmentOf(await running())).toContain('MALLOC_ARENA_MAX=1\0')
    },
  )

  it('faults are refused unless fault injection is switched on', async () => {
    const fault = engine.injectFault({ kind: 'exit-on-next-task' })
    expect(await codeOf(fault)).toBe('engine_unavailable')
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
  })

  it.each([
    ['a frame of four gigabytes', Buffer.from(Uint32Array.of(0xffffffff, 0).buffer)],
    ['four thousand million parts', Buffer.from(Uint32Array.of(2, 0xffffffff).buffer)],
    ['a message that is no JSON', Buffer.concat(encodeFrame(1)).fill('{', 8)],
    ['a vector that is not there', Buffer.concat(encodeFrame({ $vector: 7 }))],
    ['a message of nothing', Buffer.concat(encodeFrame(null))],
    ['a message of no known kind', Buffer.concat(encodeFrame({ kind: 'other' }))],
    ['a ready message without its provider', Buffer.concat(encodeFrame({ kind: 'ready' }))],
  ])('a worker that sends %s is disconnected, and the service keeps answering', async (_what, bytes) => {
    const socket = connect(socketPath)
    await once(socket, 'connect')
    socket.resume().write(bytes)
    await once(socket, 'close')
    expect(incidents.map(({ kind }) => kind)).toEqual(['worker_garbled'])
    expect(await codeOf(engine.enrol([face]))).toBe('resolved')
    expect(engine.health().provider.active).toBe('cpu')
  })

  it.each([
    ['an embedding that claims a length', { embedding: { length: 1e9 } }],
    ['an embedding of other dimensions', { embedding: new Float32Array(1000) }],
    ['no quality', { quality: null }],
  ])(
    'a worker that answers with %s is disconnected, and its call is tried again elsewhere',
    async (_what, hostile) => {
      const { samples } = await engine.compare(face, face)
      const socket = connect(socketPath)
      const tasks = new FrameReader<TaskMessage | PingMessage>(1e8, ({ message }) => {
        // An answer to a ping would end the connection before the engine counts this worker.
        if ('ping' in message) return
        const { id } = message
        const value = { samples: [{ ...samples[0], ...hostile }, samples[1]], score: 1 }
        const reply = { ok: true, value, timingsMs: {} }
        for (const piece of encodeFrame({ kind: 'reply', id, reply })) socket.write(piece)
      })
      socket.on('data', (chunk) => tasks.push(chunk))
      for (const piece of encodeFrame({ kind: 'ready', provider: engine.health().provider }))
        socket.write(piece)
      await expect.poll(() => engine.health().workers.ready).toBe(2)
      // Each worker takes one task.
      const calls = await Promise.all([engine.compare(face, face), engine.compare(face, face)])
      // A worker may embed both calls in one batch, whose last bits differ from those of one face.
      for (const call of calls)
        for (const [i, value] of samples[0].embedding.entries())
          expect(call.samples[0].embedding[i]).toBeCloseTo(value, 4)
      expect(incidents.map(({ kind }) => kind)).toEqual(['worker_garbled'])
    },
  )
})

it.skipIf(process.platform !== 'linux')(
  'the engine process has no channel to the service but its workers’ sockets',
  async () => expect(environmentOf(await running())).not.toContain('NODE_CHANNEL_FD'),
)

describe('decoding threads', () => {
  it.each([
    [1, 4],
    [2, 4],
    [16, 32],
    [256, 512],
  ])('for %i workers there are %i decoding threads', (workers, threads) => {
    expect(decodingThreads(workers)).toBe(threads)
  })

  it.skipIf(process.platform !== 'linux')(
    'the number of decoding threads is set for the engine process',
    async () => expect(environmentOf(await running())).toContain('UV_THREADPOOL_SIZE=4'),
  )
})

describe('closing', () => {
  /** The engine of earlier tests, for the last time. */
  async function last(options: Partial<EngineOptions> = ONE): Promise<Engine> {
    const engine = await running(options)
    kept.delete(options)
    return engine
  }

  it('closing waits for running and waiting calls, refuses new ones, and is safe twice', async () => {
    const engine = await last()
    const calls = [engine.enrol([face]), engine.enrol([face]), engine.inspect([face])].map(codeOf)
    const closed = Promise.all([engine.close(), engine.close()])
    expect(await codeOf(engine.inspect([face]))).toBe('engine_unavailable')
    await closed
    expect(await Promise.all(calls)).toEqual(['resolved', 'resolved', 'resolved'])
    await engine.close()
    expect(engine.health()).toMatchObject({ status: 'degraded', workers: { ready: 0 } })
  })

  it('closing waits for the worker of an aborted call', async () => {
    const engine = await last(TWO)
    const controller = new AbortController()
    const aborted = codeOf(engine.enrol([face], { signal: controller.signal }))
    controller.abort()
    expect(await aborted).toBe('cancelled')
    await engine.close()
  })

  it.each([
    ['a replacement loads', WITHOUT_QUEUE, 'exit-on-next-task', 20],
    ['the new process starts', FOUR, 'crash-on-next-task', 50],
  ] as const)('the engine can be closed while %s', async (_while, options, kind, afterMs) => {
    const engine = await last(options)
    await engine.injectFault({ kind })
    const lost = codeOf(engine.inspect([nobody], { deadlineMs: performance.now() + afterMs }))
    expect(await lost).toBe('deadline_exceeded')
    await engine.close()
  })
})
