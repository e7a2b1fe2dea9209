/** The YuNet + MobileFaceNet + MiniFASNet pack, against the figures that its data's own page reports. */
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/biometrics/engine/engine.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import {
  anyFace,
  baselinePack,
  defaultLimits,
  engineOf,
  evaluationDataMissing,
  readEvaluationFile,
  startEngine,
  writeEvaluationPack,
} from './fixtures.js'

describe.skipIf(evaluationDataMissing())('the evaluation pack', () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(writeEvaluationPack(), { workers: 2, limits: anyFace, queueLimit: 200 })
  })
  afterAll(() => engine.close())

  it('separates the people of lfw5: 0 of 225 genuine pairs missed at one false match in 1000', async () => {
    const pairs = readLfwPairs()
    const photos = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))]
    const anyone = new Float32Array(128).fill(1)
    const embeddings = new Map<string, Float32Array>()
    await Promise.all(
      photos.map(async (photo) => {
        const { sample } = await engine.verify([readEvaluationFile(`faces/lfw5/${photo}`)], anyone)
        expect(sample.quality.faceWidthPx).toBeGreaterThanOrEqual(80)
        embeddings.set(photo, sample.embedding)
      }),
    )
    const scores = pairs.map(({ a, b, genuine }) => ({
      genuine,
      score: scoreOf(engine.pack, embeddings.get(a)!, embeddings.get(b)!),
    }))
    const genuine = scores.filter((pair) => pair.genuine).map(({ score }) => score)
    const impostor = scores.filter((pair) => !pair.genuine).map(({ score }) => score)
    impostor.sort((x, y) => y - x)
    expect([genuine.length, impostor.length]).toEqual([225, 1000])
    expect(impostor[1]).toBeCloseTo(0.3164, 2)
    expect(Math.min(...genuine)).toBeGreaterThan(impostor[0]!)
  })

  it.each([
    ['image_F1', false, 0.329],
    ['image_F2', false, 0.002],
    ['image_T1', true, 1],
  ] as const)('judges the liveness of %s', async (name, live, expected) => {
    const bytes = readEvaluationFile(`faces/spoof/${name}.jpg`)
    const { sample } = await engine.verify([bytes], new Float32Array(128).fill(1))
    expect(sample.liveness).toMatchObject({ checked: true, passed: live })
    expect(sample.liveness.score).toBeCloseTo(expected, 1)
    const enrolled = engine.enrol([bytes])
    if (live) await expect(enrolled).resolves.toBeDefined()
    else await expect(enrolled).rejects.toMatchObject({ code: 'liveness_failed', imageIndex: 0 })
  })

  it('one frame that is not live decides for all: a live one is no second try', async () => {
    const [fake, live] = ['image_F2', 'image_T1'].map((name) => readEvaluationFile(`faces/spoof/${name}.jpg`))
    const anyone = new Float32Array(128).fill(1)
    for (const frames of [
      [fake!, live!],
      [live!, fake!],
    ]) {
      const { sample } = await engine.verify(frames, anyone)
      expect(sample.liveness.passed).toBe(false)
      expect(sample.liveness.score).toBeCloseTo(0.002, 1)
    }
  })

  it('finds the same face with a detector whose input size is fixed', async () => {
    const fixed = await engineOf(writeEvaluationPack('face_detection_yunet_2023mar.onnx'), {
      limits: anyFace,
    })
    const bytes = readEvaluationFile('faces/spoof/image_T1.jpg')
    const expected = await engine.verify([bytes], new Float32Array(128).fill(1))
    const { score, sample } = await fixed.verify([bytes], expected.sample.embedding)
    expect(Math.abs(sample.box.width - expected.sample.box.width)).toBeLessThan(15)
    // Another network places the points a little differently (0.89); strangers stay under 0.34.
    expect(score).toBeGreaterThan(0.8)
  })

  it('embeds alike with a network that takes one chip at a time', async () => {
    const single = await engineOf(writeEvaluationPack(undefined, 'mobilefacenet.onnx'), { limits: anyFace })
    const bytes = readEvaluationFile('faces/spoof/image_T1.jpg')
    const expected = await engine.verify([bytes], new Float32Array(128).fill(1))
    const { score } = await single.verify([bytes], expected.sample.embedding)
    expect(score).toBeCloseTo(1, 5)
  })

  it('reports boxes in the source’s own pixels, also for large photos', async () => {
    const bytes = readEvaluationFile('faces/spoof/image_T1.jpg')
    const anyone = new Float32Array(128).fill(1)
    const small = await engine.verify([bytes], anyone)
    const enlarged = await sharp(bytes).autoOrient().resize(1920).jpeg({ quality: 95 }).toBuffer()
    const large = await engine.verify([enlarged], small.sample.embedding)
    for (const side of ['x', 'y', 'width', 'height'] as const) {
      expect(Math.abs(large.sample.box[side] / 4 - small.sample.box[side])).toBeLessThan(5)
    }
    expect(large.score).toBeGreaterThan(0.9)
  })
})

describe.skipIf(evaluationDataMissing())('the default quality and size limits', () => {
  let engines: Engine[] = []
  beforeAll(async () => {
    // YuNet's tight boxes put one of these faces at 80 px exactly, and at 79 once it is darkened: size is only asked of
    // the originals.
    const packs = [writeEvaluationPack(), baselinePack()]
    engines = await Promise.all(packs.map((pack) => startEngine(pack, { limits: anyFace, queueLimit: 200 })))
  })
  afterAll(() => Promise.all(engines.map((engine) => engine.close())))

  it('the default limits accept every lfw5 photo, and rate no darkened copy of one as poor', async () => {
    const photos = [...new Set(readLfwPairs().flatMap(({ a, b }) => [a, b]))]
    const anyone = new Float32Array(128).fill(1)
    const refusals: string[] = []
    await Promise.all(
      photos.map(async (photo) => {
        const bytes = readEvaluationFile(`faces/lfw5/${photo}`)
        const darkened = await sharp(bytes).linear(0.6, 0).jpeg({ quality: 75 }).toBuffer()
        for (const engine of engines) {
          const { sample } = await engine.verify([bytes], anyone)
          expect(sample.quality.faceWidthPx).toBeGreaterThanOrEqual(defaultLimits.minFacePx)
          await engine
            .verify([darkened], anyone)
            .catch((error: { code: string }) => refusals.push(error.code))
        }
      }),
    )
    // The baseline's detector is unsure of one of the 50 and loses it in the dark.
    expect(refusals.filter((code) => code !== 'face_not_found')).toEqual([])
    expect(refusals.length).toBeLessThanOrEqual(1)
  })
})

function readLfwPairs(): Array<{ a: string; b: string; genuine: boolean }> {
  const [, ...rows] = readEvaluationFile('faces/lfw5/pairs.csv').toString('utf8').trim().split('\n')
  return rows.map((row) => {
    const [a, b] = row.split(',').filter((cell) => cell.endsWith('.jpg')) as [string, string]
    return { a, b, genuine: a.split('/')[0] === b.split('/')[0] }
  })
}
