/** Challenges in the engine: each frame is a task of its own, and the result is the same as that of a single worker. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { EngineProcess } from '../../../src/biometrics/engine/engine-process.js'
import type { FrameFace } from '../../../src/biometrics/measurements.js'
import { StageClock } from '../../../src/biometrics/pipeline/stage-clock.js'
import type { CallOptions, EngineOptions } from '../../../src/biometrics/types.js'
import { judgeGeometry, keyIndices } from '../../../src/features/challenges/film/active-geometry.js'
import type { Step } from '../../../src/features/challenges/film/steps.js'
import type { JudgedFilm } from '../../../src/verification/biometric-provider.js'
import { Random } from '../../hostile/random.js'
import { type Film, headFilm } from '../../liveness/films.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { lookAt, portraitOf } from '../../liveness/portrait.js'
import { face } from '../../support/faces.js'
import { codeOf, guidanceBy, judgeBy, plainPicture, startEngine, writeLightPack } from '../fixtures.js'

const STEPS: readonly Step[] = ['frontal', 'turn_left', 'frontal']
const packDir = writeLightPack()
const nobody = await plainPicture().jpeg().toBuffer()
const notes = Array.from({ length: 16 }, (_, i) => ({ step: Math.floor(i / 4), tMs: i * 200 }))
const someone = await face('ada')

const engines = new Map<string, Engine>()
let film: Film
/** Results for `film` from one pipeline that measures its frames one after another. */
let expected: { indices: number[]; embeddings: Float32Array[]; qualities: number[] }

/** The engine of earlier tests with these options: one worker with one task where none are given. */
async function running(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const all = { workers: 1, tasksPerWorker: 1, ...options }
  const key = JSON.stringify(all)
  const engine = engines.get(key) ?? (await startEngine(packDir, { faultInjection: true, ...all }))
  engines.set(key, engine)
  await expect.poll(() => engine.health().status).toBe('ok')
  return engine
}

beforeAll(async () => {
  const pipeline = await loadPipeline(packDir)
  film = await headFilm(
    { portrait: await portraitOf(pipeline, 'ada', await face('adaElsewhere')) },
    STEPS,
    new Random(3),
  )
  const { activeLiveness, quality } = pipeline.pack.manifest
  const looks: FrameFace[] = []
  for (const [i, frame] of film.frames.entries()) looks.push(await lookAt(pipeline, frame, i))
  const { keys } = judgeGeometry(looks, film.notes, STEPS, { activeLiveness: activeLiveness!, quality })
  const indices = keyIndices(keys!)
  const embeddings: Float32Array[] = []
  for (const imageIndex of indices) {
    const options = { imageIndex, checkLiveness: false, clock: new StageClock() }
    const { alignment } = await pipeline.look(film.frames[imageIndex]!, options)
    const { embedding } = await pipeline.embed(film.frames[imageIndex]!, alignment, options)
    embeddings.push(embedding)
  }
  const { embedding } = await pipeline.analyse(film.frames[indices[0]!]!)
  expect(embedding).toEqual(embeddings[0])
  expected = { indices, embeddings, qualities: indices.map((index) => looks[index]!.quality.score) }
  await pipeline.release()
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => Promise.all([...engines.values()].map((engine) => engine.close())))

const challenge = (engine: Engine, { frames, notes }: Film = film, call: CallOptions = {}) =>
  judgeBy(engine, frames, { notes, steps: STEPS }, call)
/** Frames without a face, which cost little to measure. */
const blankFilm = (): Film => ({ frames: notes.map(() => nobody), notes })

function expectSame({ fault, samples }: JudgedFilm): void {
  expect(fault).toBeNull()
  expect(samples.map(({ imageIndex }) => imageIndex)).toEqual(expected.indices)
  expect(samples.map(({ embedding }) => embedding)).toEqual(expected.embeddings)
  expect(samples.map(({ quality }) => quality.score)).toEqual(expected.qualities)
}

/** Records the tasks that workers are given from now on, and how many of them workers then hold. */
function watchTasks(engine: Engine) {
  const given: Array<{ type: string; imageIndex: number | undefined; running: number }> = []
  const run = EngineProcess.prototype.run
  vi.spyOn(EngineProcess.prototype, 'run').mockImplementation(function (this: EngineProcess, task) {
    const imageIndex = 'imageIndex' in task ? task.imageIndex : undefined
    given.push({ type: task.type, imageIndex, running: engine.health().queue.running })
    return run.call(this, task)
  })
  return given
}

describe('a challenge', () => {
  it.each([
    { workers: 1, tasksPerWorker: 1 },
    { workers: 2, tasksPerWorker: 4 },
  ])('has the same result to the bit, however its frames are spread over workers: %j', async (options) => {
    const engine = await running(options)
    for (const result of await Promise.all([challenge(engine), challenge(engine)])) expectSame(result)
  })

  it('reports how long its stages took, over all of its frames', async () => {
    const { timingsMs } = await challenge(await running({ workers: 2, tasksPerWorker: 4 }))
    for (const stage of ['queue', 'decode', 'detect', 'align', 'embed', 'match'] as const)
      expect(timingsMs[stage]).toBeGreaterThan(0)
  })

  it.each([
    { workers: 1, tasksPerWorker: 1 },
    { workers: 2, tasksPerWorker: 4 },
  ])('lets a verify through between its frames: %j', async (options) => {
    const engine = await running(options)
    const { reference } = await engine.enrol([someone])
    const order: string[] = []
    const films = Array.from({ length: 4 }, () =>
      challenge(engine, blankFilm()).then(() => order.push('challenge')),
    )
    await engine.verify([someone], reference).then(() => order.push('verify'))
    await Promise.all(films)
    expect(order.indexOf('verify')).toBe(0)
  })

  it('leaves a place for guidance if each worker has a free one', async () => {
    const engine = await running({ workers: 2, tasksPerWorker: 4 })
    const film = challenge(engine, blankFilm())
    expect(engine.health().queue).toMatchObject({ waiting: 1, running: 4 })
    expect(await guidanceBy(engine, nobody)).toEqual(['no_face'])
    await film
  })

  it('counts as one call of the queue, however many frames it has', async () => {
    const engine = await running()
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 100 })
    const waiting = codeOf(challenge(engine, blankFilm()))
    expect(engine.health().queue).toMatchObject({ waiting: 1, running: 1 })
    expect(await waiting).toBe('resolved')
    await stalled
  })

  it('is not refused for a full queue once it has begun', async () => {
    expectSame(await challenge(await running({ queueLimit: 0 })))
  })

  it('is refused for its first unusable frame, and the frames after it are dropped', async () => {
    const engine = await running()
    const given = watchTasks(engine)
    const frames = film.frames.with(3, Buffer.from('no picture')).with(5, Buffer.from('nor this'))
    await expect(challenge(engine, { ...film, frames })).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 3,
    })
    expect(await codeOf(engine.inspect([nobody]))).toBe('resolved')
    expect(given.map(({ imageIndex }) => imageIndex)).toEqual([0, 1, 2, 3, 0])
    expect(engine.health().queue).toMatchObject({ waiting: 0, running: 0 })
  })

  it('gives the workers no further frames when its caller hangs up', async () => {
    const engine = await running()
    const given = watchTasks(engine)
    const controller = new AbortController()
    const { signal } = controller
    const aborted = codeOf(challenge(engine, film, { signal }))
    await expect.poll(() => given.length, { interval: 1 }).toBeGreaterThan(1)
    controller.abort()
    const count = given.length
    expect(await aborted).toBe('cancelled')
    expect(engine.health().queue.waiting).toBe(0)
    expect(await codeOf(engine.inspect([nobody]))).toBe('resolved')
    expect(given.slice(count).map(({ type }) => type)).toEqual(['inspect'])
  })

  it('has one deadline for all of its frames', async () => {
    const engine = await running()
    const given = watchTasks(engine)
    const deadlineMs = performance.now() + 30
    const late = challenge(engine, film, { deadlineMs })
    expect(await codeOf(late)).toBe('deadline_exceeded')
    expect(engine.health().queue.waiting).toBe(0)
    expect(given.length).toBeLessThan(film.frames.length)
  })

  it.each(['exit', 'throw', 'crash'] as const)(
    'survives a worker that dies by %s, with the same result: what was lost is tried again while nothing else runs',
    async (cause) => {
      const engine = await running({ workers: 2, tasksPerWorker: 4 })
      await engine.injectFault({ kind: `${cause}-on-next-task` })
      const given = watchTasks(engine)
      const other = codeOf(engine.enrol([someone]))
      expectSame(await challenge(engine))
      expect(await other).toBe('resolved')
      const seen = given.map(({ type, imageIndex }) => `${type} ${imageIndex}`)
      const again = seen.flatMap((one, at) => (seen.indexOf(one) < at ? [at] : []))
      expect(again.length).toBeGreaterThan(0)
      for (const at of again) expect(given[at]!.running).toBe(1)
    },
  )

  it('is answered before the engine closes, including the embedding of its key frames', async () => {
    const engine = await running({ queueLimit: 0 })
    const answered = challenge(engine)
    await engine.close()
    expectSame(await answered)
  })
})

it('an inspection of many pictures lets a call of production through between them', async () => {
  const engine = await running({ workers: 2, tasksPerWorker: 4 })
  const schedulingClass = (flow: string, priority: 'production' | 'sandbox') => ({
    flow,
    priority,
    weight: 1,
  })
  const order: string[] = []
  const pictures = notes.map(() => nobody)
  const inspections = Array.from({ length: 4 }, () =>
    engine.inspect(pictures, { schedulingClass: schedulingClass('s', 'sandbox') }).then(({ images }) => {
      expect(images).toHaveLength(notes.length)
      order.push('sandbox')
    }),
  )
  await engine
    .inspect([nobody], { schedulingClass: schedulingClass('p', 'production') })
    .then(() => order.push('production'))
  await Promise.all(inspections)
  expect(order).toEqual(['production', ...Array(4).fill('sandbox')])
})
