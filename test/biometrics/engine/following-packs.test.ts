/** Packs that follow the one that decides: their embeddings are their own, and no answer depends on them. */
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { PackManifest } from '../../../models/pack/pack-schema.js'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { EngineProcess } from '../../../src/biometrics/engine/engine-process.js'
import type { Box } from '../../../src/biometrics/measurements.js'
import { scoreOf } from '../../../src/biometrics/pipeline/judge/match.js'
import { FaceDetector } from '../../../src/biometrics/pipeline/networks/detect.js'
import { LandmarkFinder } from '../../../src/biometrics/pipeline/networks/landmarks.js'
import { StageClock } from '../../../src/biometrics/pipeline/stage-clock.js'
import type { Step } from '../../../src/features/challenges/film/steps.js'
import { OnnxGraph } from '../../../tools/pack-builders/onnx/onnx-writer.js'
import { Random } from '../../hostile/random.js'
import { headFilm } from '../../liveness/films.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { portraitOf } from '../../liveness/portrait.js'
import { face } from '../../support/faces.js'
import { writeBroughtPack, writeShiftedPack } from '../../support/packs.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import {
  baselinePack,
  engineOf,
  evaluationDataMissing,
  judgeBy,
  plainPicture,
  startEngine,
  writeEvaluationPack,
} from '../fixtures.js'

const STEPS: readonly Step[] = ['frontal', 'turn_left', 'frontal']
const ada = await face('ada')
const adaElsewhere = await face('adaElsewhere')
const grace = await face('grace')

/** Packs that differ from the baseline, which decides unless a test says otherwise. */
const dirs = { baseline: baselinePack(), shifted: temporaryFolder(), wide: '', failing: '' }
const SHIFTED = 'shifted@1.0.0'
const WIDE = 'wide@1.0.0'
const FAILING = 'failing@1.0.0'
const BASELINE = 'baseline@1.0.0'
const incidents: string[] = []

let together: Engine
const alone = new Map<string, Engine>()

async function pack(id: string, changes: (manifest: PackManifest) => object): Promise<string> {
  const dir = temporaryFolder()
  await writeBroughtPack(dir, inject('modelsDir'), (manifest) => ({
    id,
    ...changes(manifest as unknown as PackManifest),
  }))
  rmSync(join(dir, 'calibration.json'), { force: true })
  return dir
}

const wideDetector = ({ detector }: PackManifest) => ({ detector: { ...detector, sizes: [224] } })

/** An embedder that answers a gray picture, on which it is tried, and fails for any other. */
function failingNetwork(): Uint8Array {
  const graph = new OnnxGraph('failing', 'failing')
  const input = graph.input('input', [1, 3, 150, 150])
  const means = graph.node('Flatten', [graph.node('GlobalAveragePool', [input], 'pooled')], 'means')
  const centred = graph.node('Add', [means, graph.floats('gray', [1, 3], [-128, -128, -128])], 'centred')
  const squares = graph.node('Mul', [centred, centred], 'squares')
  const negative = graph.node('Neg', [squares], 'negative')
  const almost = graph.node('Add', [negative, graph.floats('little', [1, 3], [0.01, 0.01, 0.01])], 'almost')
  const roots = graph.node('Sqrt', [almost], 'roots')
  const ones = graph.floats('ones', [3, 128], new Array(3 * 128).fill(1))
  graph.output(graph.node('MatMul', [roots, ones], 'embedding'), [1, 128])
  return graph.encode()
}

beforeAll(async () => {
  await writeShiftedPack(dirs.shifted, inject('modelsDir'))
  // A detector of its own, which looks at one size.
  dirs.wide = await pack('wide', (manifest) => ({
    ...wideDetector(manifest),
    quality: { verify: { sharpness: { min: 1e9 } }, enrol: { sharpness: { min: 1e9 } } },
  }))
  const network = failingNetwork()
  dirs.failing = await pack('failing', ({ embedder }) => {
    const { quantised: _, ...rest } = embedder
    const sha256 = createHash('sha256').update(network).digest('hex')
    return { embedder: { ...rest, file: 'failing.onnx', sha256, flipAverage: false } }
  })
  writeFileSync(join(dirs.failing, 'failing.onnx'), network)
  together = await startEngine(dirs.baseline, {
    followingPackDirs: [dirs.shifted, dirs.wide, dirs.failing],
    tasksPerWorker: 4,
    faultInjection: true,
    onIncident: ({ kind }) => incidents.push(kind),
  })
})
afterEach(() => {
  incidents.splice(0)
  vi.restoreAllMocks()
})
afterAll(() => Promise.all([together, ...alone.values()].map((engine) => engine.close())))

async function aloneWith(dir: string): Promise<Engine> {
  const engine = alone.get(dir) ?? (await startEngine(dir))
  alone.set(dir, engine)
  return engine
}

const nobody = new Float32Array(128).fill(1)

describe('a pack that follows', () => {
  it('embeds a photo as an engine with only that pack does, whether it shares the detector or not', async () => {
    const { sample } = await together.verify([ada], nobody, { alsoEmbed: [SHIFTED, WIDE] })
    const shifted = await (await aloneWith(dirs.shifted)).verify([ada], nobody)
    // The bounds of the pack `wide` refuse every photo where it decides.
    const wide = await (await aloneWith(await pack('wide', wideDetector))).verify([ada], nobody)
    expect(sample.others).toEqual({ [SHIFTED]: shifted.sample.embedding, [WIDE]: wide.sample.embedding })
    expect(shifted.sample.embedding).not.toEqual(sample.embedding)
    expect(wide.sample.embedding).not.toEqual(sample.embedding)
  })

  it.skipIf(evaluationDataMissing())('embeds a photo with networks that all differ', async () => {
    const dir = writeEvaluationPack()
    const engine = await engineOf(dirs.baseline, { followingPackDirs: [dir] })
    const { sample } = await engine.verify([ada], nobody, { alsoEmbed: ['evaluation@1'] })
    const own = await (await aloneWith(dir)).verify([ada], nobody)
    expect(sample.others).toEqual({ 'evaluation@1': own.sample.embedding })
  })

  it('gives null for another face than the one that was decided about', async () => {
    const pipeline = await loadPipeline(dirs.baseline, {}, [dirs.shifted])
    const look = { imageIndex: 0, checkLiveness: false, clock: new StageClock() }
    const { face, alignment } = await pipeline.look(ada, look)
    const following = { models: [SHIFTED], onFailure: () => expect.unreachable() }
    const at = (box: Box) => pipeline.embed(ada, alignment, { ...look, following: { ...following, box } })
    expect((await at(face.box)).others![SHIFTED]).toBeInstanceOf(Float32Array)
    const beside = { ...face.box, x: face.box.x + 0.6 * face.box.width }
    expect((await at(beside)).others).toEqual({ [SHIFTED]: null })
    await pipeline.release()
  })

  it('changes nothing in the result of the pack that decides', async () => {
    const { timingsMs: _, ...plain } = await (await aloneWith(dirs.baseline)).verify([ada], nobody)
    const {
      timingsMs: __,
      sample,
      samples,
      ...rest
    } = await together.verify([ada], nobody, {
      alsoEmbed: [SHIFTED, WIDE, FAILING],
    })
    const { others: ___, ...withoutOthers } = sample
    expect({ ...rest, sample: withoutOthers }).toEqual({ score: plain.score, sample: plain.sample })
    expect(samples).toHaveLength(plain.samples.length)
  })

  it('refuses nothing: where it fails, the call has its result and the log an incident', async () => {
    const { sample } = await together.verify([ada], nobody, { alsoEmbed: [FAILING, SHIFTED] })
    expect(sample.others![FAILING]).toBeNull()
    expect(sample.others![SHIFTED]).toBeInstanceOf(Float32Array)
    expect(incidents).toEqual(['following_pack_failed'])
  })

  it('gives no reference where it has no embedding of one of the photos', async () => {
    const { others } = await together.enrol([ada, adaElsewhere], {
      alsoEmbed: [FAILING, SHIFTED],
      assessOnly: true,
    })
    const own = await (await aloneWith(dirs.shifted)).enrol([ada, adaElsewhere], { assessOnly: true })
    expect(others[FAILING]).toBeNull()
    expect(others[SHIFTED]!.embedding).toHaveLength(own.reference.length)
    expect(scoreOf(together.packs.get(SHIFTED)!, others[SHIFTED]!.embedding, own.reference)).toBeGreaterThan(
      0.99,
    )
  })

  it('gives no reference of a part of the photos, nor of people who differ', async () => {
    const seen = async (photo: Buffer) =>
      (await together.verify([photo], nobody, { alsoEmbed: [SHIFTED] })).sample
    const [first, other] = [await seen(ada), await seen(grace)]
    const choice = { alsoEmbed: [SHIFTED] }
    expect(together.fuse([first, first], choice).others[SHIFTED]).not.toBeNull()
    expect(
      together.fuse([first, { ...first, others: { [SHIFTED]: null } }], choice).others[SHIFTED],
    ).toBeNull()
    expect(together.fuse([first, { ...first, others: other.others! }], choice).others[SHIFTED]).toBeNull()
  })

  it('gives null when it is not loaded, or is the one that decides anyway', async () => {
    const { sample } = await together.verify([ada], nobody, { alsoEmbed: ['other@1', BASELINE] })
    expect(sample.others).toBeUndefined()
    const { others } = await together.enrol([ada], { alsoEmbed: ['other@1', BASELINE] })
    expect(others).toEqual({ 'other@1': null })
  })

  it('sees what the pack that decides refuses as little as anybody else', async () => {
    const blank = await plainPicture().jpeg().toBuffer()
    await expect(together.verify([blank], nobody, { alsoEmbed: [SHIFTED] })).rejects.toMatchObject({
      code: 'face_not_found',
    })
    await expect(together.enrol([ada, grace], { alsoEmbed: [SHIFTED] })).rejects.toMatchObject({
      code: 'different_people',
    })
  })

  it('embeds the looks straight ahead of a challenge as it would embed them as photos', async () => {
    const pipeline = await loadPipeline(dirs.baseline)
    const portrait = await portraitOf(pipeline, 'ada', adaElsewhere)
    const film = await headFilm({ portrait }, STEPS, new Random(3))
    await pipeline.release()
    const { samples, fault } = await judgeBy(
      together,
      film.frames,
      { notes: film.notes, steps: STEPS },
      { alsoEmbed: [SHIFTED, WIDE] },
    )
    expect(fault).toBeNull()
    const ahead = [samples[0]!, samples.at(-1)!]
    for (const { imageIndex, others } of ahead) {
      const frame = film.frames[imageIndex]!
      const { sample } = await together.verify([frame], nobody, { alsoEmbed: [SHIFTED, WIDE] })
      expect(others).toEqual(sample.others)
      expect(others![SHIFTED]).toBeInstanceOf(Float32Array)
    }
    expect(samples.slice(1, -1).every(({ others }) => others === undefined)).toBe(true)
  })
})

describe('a pack that decides for a call', () => {
  it('scores, bounds and refuses as an engine with only that pack', async () => {
    const engine = await aloneWith(dirs.shifted)
    const own = await engine.enrol([ada])
    const enrolled = await together.enrol([ada], { decideBy: SHIFTED })
    expect(enrolled.reference).toEqual(own.reference)
    const { score } = await together.verify([adaElsewhere], own.reference, { decideBy: SHIFTED })
    expect(score).toBe((await engine.verify([adaElsewhere], own.reference)).score)
    await expect(together.verify([ada], own.reference, { decideBy: WIDE })).rejects.toMatchObject({
      code: 'low_quality',
    })
    await expect(together.verify([ada], own.reference, { decideBy: 'other@1' })).rejects.toThrow(TypeError)
  })

  it('may be followed by the primary pack', async () => {
    const { sample } = await together.verify([ada], nobody, { decideBy: SHIFTED, alsoEmbed: [BASELINE] })
    const primary = await together.verify([ada], nobody)
    expect(sample.others).toEqual({ [BASELINE]: primary.sample.embedding })
  })
})

it('a worker that dies comes back with every pack', async () => {
  const choice = { alsoEmbed: [SHIFTED, WIDE] }
  const before = await together.verify([ada], nobody, choice)
  await together.injectFault({ kind: 'crash-on-next-task' })
  const after = await together.verify([ada], nobody, choice)
  expect(after.sample).toEqual(before.sample)
  expect(together.health()).toMatchObject({ model: BASELINE, following: [SHIFTED, WIDE, FAILING] })
})

it('packs that share a detector keep their own idea of a doubtful face', async () => {
  const pipeline = await loadPipeline(dirs.baseline, {}, [dirs.shifted])
  const own = await loadPipeline(dirs.baseline)
  const lenient = await loadPipeline(dirs.shifted)
  const onFailure = () => expect.unreachable()
  const outcome = (from: typeof own, photo: Buffer) =>
    from.analyse(photo).then(
      () => 'found',
      ({ code }) => code as string,
    )
  let seen: Array<string | Float32Array | null | undefined> = []
  for (let degrees = 40; degrees < 64 && seen[0] !== null; degrees++) {
    const photo = await sharp(ada).rotate(degrees, { background: '#808080' }).jpeg().toBuffer()
    if ((await outcome(lenient, photo)) !== 'found') continue
    const following = { models: [BASELINE], onFailure }
    const { others } = await pipeline.analyse(photo, { decideBy: SHIFTED, following })
    seen = [others![BASELINE], await outcome(pipeline, photo), await outcome(own, photo)]
  }
  // The turned picture shows the strict pack a face, which is why it names another reason than `face_not_found`.
  expect(seen).toEqual([null, 'face_not_upright', 'face_not_upright'])
  for (const each of [pipeline, own, lenient]) await each.release()
})

it('a call without other packs names the worker only the pack that decides', async () => {
  const run = vi.spyOn(EngineProcess.prototype, 'run')
  await together.verify([ada], nobody, { decideBy: BASELINE, alsoEmbed: [] })
  expect(run.mock.calls.map(([task]) => Object.keys(task))).toEqual([['type', 'images', 'decideBy']])
})

it('packs of the same detector and landmarks look for faces once', async () => {
  const pipeline = await loadPipeline(dirs.baseline, {}, [dirs.shifted, dirs.wide])
  const detect = vi.spyOn(FaceDetector.prototype, 'detect')
  const find = vi.spyOn(LandmarkFinder.prototype, 'find')
  const onFailure = () => expect.unreachable()
  await pipeline.analyse(ada, { following: { models: [SHIFTED], onFailure } })
  expect([detect.mock.calls.length, find.mock.calls.length]).toEqual([1, 1])
  await pipeline.analyse(ada, { following: { models: [SHIFTED, WIDE], onFailure } })
  expect([detect.mock.calls.length, find.mock.calls.length]).toEqual([3, 3])
  await pipeline.release()
})

it('refuses two packs of one model id', async () => {
  const starting = startEngine(dirs.baseline, { followingPackDirs: [dirs.baseline] })
  await expect(starting).rejects.toMatchObject({ code: 'pack_invalid' })
})
