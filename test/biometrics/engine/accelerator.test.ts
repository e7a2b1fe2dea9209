/** An engine whose workers share one lane to an accelerator; the processor stands in for the accelerator. */
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { STAND_IN_PROVIDER } from '../../../src/biometrics/pipeline/networks/accelerators.js'
import type { EngineOptions } from '../../../src/biometrics/types.js'
import { writeShiftedPack } from '../../support/packs.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { faceCrop, people, startEngine, writeLightPack } from '../fixtures.js'

const PATIENCE = { timeout: 60_000, interval: 20 }

const packDir = writeLightPack()
const photos = await Promise.all(people.map(async (person) => (await faceCrop(person)).jpeg().toBuffer()))

interface Started {
  engine: Engine
  incidents: string[]
}

async function start(options: Partial<EngineOptions> = {}): Promise<Started> {
  const incidents: string[] = []
  const engine = await startEngine(packDir, {
    workers: 2,
    tasksPerWorker: 4,
    executionProviders: [STAND_IN_PROVIDER, 'cpu'],
    faultInjection: true,
    onIncident: ({ kind }) => incidents.push(kind),
    ...options,
  })
  return { engine, incidents }
}

/** Starts an engine for one test. */
async function startFor({ onTestFinished }: TestContext, options?: Partial<EngineOptions>): Promise<Started> {
  const started = await start(options)
  onTestFinished(() => started.engine.close())
  return started
}

const embed = async (engine: Engine, photo: Buffer) => (await engine.enrol([photo])).reference

const lostTo = (reason: RegExp, workers = 1) => ({
  status: 'degraded',
  isAcceleratorLost: true,
  workers: { ready: workers, configured: workers },
  provider: {
    active: 'cpu',
    fallbacks: [{ provider: STAND_IN_PROVIDER, reason: expect.stringMatching(reason) }],
  },
})

describe('an engine with an accelerator', () => {
  const shifted = temporaryFolder()
  let engine: Engine
  let incidents: string[]
  beforeAll(async () => {
    await writeShiftedPack(shifted, dirname(packDir))
    const started = await start({ followingPackDirs: [shifted] })
    engine = started.engine
    incidents = started.incidents
  })
  afterAll(() => engine?.close())

  it('gives 64 callers at once what each of them gets without the others, to rounding', async () => {
    expect(engine.health()).toMatchObject({
      status: 'ok',
      isAcceleratorLost: false,
      provider: { active: STAND_IN_PROVIDER, fallbacks: [] },
    })
    const alone: Float32Array[] = []
    for (const photo of photos) alone.push(await embed(engine, photo))
    const together = await Promise.all(
      Array.from({ length: 64 }, (_, i) => embed(engine, photos[i % photos.length]!)),
    )
    for (const [i, embedding] of together.entries()) {
      const differences = embedding.map((value, k) => Math.abs(value - alone[i % photos.length]![k]!))
      expect(Math.max(...differences)).toBeLessThan(1e-5)
    }
    expect(incidents).toEqual([])
  })

  it('embeds for packs that follow in the same lane', async (context) => {
    const followed = await Promise.all(
      photos.map((photo) => engine.enrol([photo], { alsoEmbed: ['shifted@1.0.0'] })),
    )
    const { engine: own } = await startFor(context, { packDir: shifted, workers: 1 })
    for (const [i, photo] of photos.entries()) {
      const expected = await embed(own, photo)
      const { embedding } = followed[i]!.others['shifted@1.0.0']!
      const differences = embedding.map((value, k) => Math.abs(value - expected[k]!))
      expect(Math.max(...differences)).toBeLessThan(1e-5)
    }
  })

  it('gives a worker that was replaced the lane again', async () => {
    await engine.injectFault({ kind: 'exit' }).catch(() => {})
    await expect.poll(() => engine.health().workers.ready, PATIENCE).toBe(2)
    await Promise.all(photos.map((photo) => embed(engine, photo)))
    expect(engine.health()).toMatchObject({ status: 'ok', provider: { active: STAND_IN_PROVIDER } })
  })

  it('serves every call when the device is lost, in the same process, and says why it is degraded', async () => {
    incidents.length = 0
    const { processId } = engine.health()
    const before = await embed(engine, photos[0]!)
    const calls = Array.from({ length: 16 }, () => embed(engine, photos[0]!))
    await engine.injectFault({ kind: 'accelerator-lose' })
    for (const embedding of await Promise.all([...calls, embed(engine, photos[0]!)])) {
      const differences = embedding.map((value, k) => Math.abs(value - before[k]!))
      expect(Math.max(...differences)).toBeLessThan(1e-5)
    }
    await expect
      .poll(() => engine.health(), PATIENCE)
      .toMatchObject({ ...lostTo(/^device lost/, 2), processId })
    expect(incidents).toEqual(['accelerator_lost'])
  })
})

// At once: a run counts as hung after ten seconds.
describe.concurrent('an engine with an accelerator', () => {
  it('does the calls again in the next process when the thread of the lane has ended, and has the accelerator back', async (context) => {
    const { engine, incidents } = await startFor(context, { workers: 1 })
    const { processId } = engine.health()
    await engine.injectFault({ kind: 'accelerator-exit' })
    await Promise.all(photos.map((photo) => embed(engine, photo)))
    expect(engine.health().processId).not.toBe(processId)
    await context.expect
      .poll(() => engine.health(), PATIENCE)
      .toMatchObject({
        status: 'ok',
        provider: { active: STAND_IN_PROVIDER, fallbacks: [] },
      })
    expect(incidents).toContain('engine_process_lost')
  })

  it.for([
    ['a native crash', 'crash-on-next-task', /SIGSEGV/, []],
    ['a run that does not end', 'accelerator-hang', /did not end/, ['accelerator_hung']],
  ] as const)(
    'does not use the accelerator again after %s, and does the calls again with the processor',
    async ([, kind, reason, told], context) => {
      const { engine, incidents } = await startFor(context, { workers: 1 })
      await engine.injectFault({ kind })
      await Promise.all(photos.map((photo) => embed(engine, photo)))
      await context.expect.poll(() => engine.health(), PATIENCE).toMatchObject(lostTo(reason))
      // The new process has no lane to break.
      await expect(engine.injectFault({ kind: 'accelerator-lose' })).rejects.toThrow('There is no lane.')
      expect(incidents).toEqual([...told, 'engine_process_lost'])
    },
  )
})

it('gives each worker sessions of its own where no accelerator can serve, and says why', async (context) => {
  const { engine } = await startFor(context, {
    executionProviders: ['webgpu-of-nowhere', 'cpu', STAND_IN_PROVIDER],
  })
  expect(engine.health()).toMatchObject({
    status: 'ok',
    isAcceleratorLost: false,
    provider: { active: 'cpu', fallbacks: [{ provider: 'webgpu-of-nowhere' }] },
  })
  await expect(engine.injectFault({ kind: 'accelerator-lose' })).rejects.toThrow('There is no lane.')
  await Promise.all(photos.map((photo) => embed(engine, photo)))
})
