/** The baseline pack on the people of face-api's sample photographs: who is who, and what is refused. */
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { baselinePack, engineOf, faceCrop, guidanceBy, people, samplePhoto } from './fixtures.js'

const engine = await engineOf(baselinePack())
const references: Float32Array[] = []
for (const person of people) {
  const { reference } = await engine.enrol([await (await faceCrop(person)).jpeg().toBuffer()])
  references.push(reference)
}

/** Changes that a second photograph makes to a face. */
const retakes: Array<[string, (crop: Sharp) => Sharp]> = [
  ['encoded again at low quality', (crop) => crop.jpeg({ quality: 40 })],
  ['darkened', (crop) => crop.linear(0.6, 0).jpeg()],
  ['brightened', (crop) => crop.linear(1.25, 10).jpeg()],
  ['made smaller', (crop) => crop.resize(260).jpeg()],
  ['made larger', (crop) => crop.resize(900).png()],
  ['turned by 6 degrees', (crop) => crop.rotate(6, { background: '#808080' }).jpeg()],
  ['softened, as WebP', (crop) => crop.blur(1.2).webp()],
]

describe('a person', () => {
  it.each(retakes)('a photo matches itself %s, and nobody else does', async (_, retake) => {
    const { threshold } = thresholdForFmr(engine.pack, 1e-3)
    for (const [i, person] of people.entries()) {
      const bytes = await retake(await faceCrop(person)).toBuffer()
      const { sample } = await engine.verify([bytes], references[i]!)
      for (const [j, reference] of references.entries()) {
        const score = scoreOf(engine.pack, sample.embedding, reference)
        if (i === j) expect(score).toBeGreaterThan(threshold)
        else expect(score).toBeLessThan(threshold)
      }
    }
  })
})

const refused = async (bytes: Uint8Array) =>
  engine.enrol([bytes]).then(
    ({ quality }) => `accepted at ${quality.score}`,
    (error: { code: string }) => error.code,
  )

it('a picture of a group is refused', async () => {
  expect(await refused(samplePhoto(6))).toBe('multiple_faces')
})

it('a picture with a face that is too small is refused', async () => {
  const small = await (await faceCrop(people[0])).resize(100).jpeg().toBuffer()
  expect(await refused(small)).toBe('face_too_small')
})

it.each<[string, (crop: Sharp) => Sharp]>([
  ['nearly black', (crop) => crop.linear(0.06, 0)],
  ['blown out', (crop) => crop.linear(2, 190)],
  ['heavily blurred', (crop) => crop.blur(14)],
])('a picture that is %s is refused', async (_, spoil) => {
  for (const person of people) {
    const bytes = await spoil(await faceCrop(person))
      .jpeg()
      .toBuffer()
    expect(await refused(bytes)).toMatch(/^(low_quality|face_not_found)$/)
  }
})

describe('a picture that is not upright', () => {
  const turns = people.flatMap((person) => [90, 180, 270].map((degrees) => ({ person, degrees })))

  it('is refused at enrollment and at a verify, and never compared', async () => {
    for (const [i, { person, degrees }] of turns.entries()) {
      const bytes = await (await faceCrop(person)).rotate(degrees).jpeg().toBuffer()
      const reference = references[Math.floor(i / 3)]!
      await expect(engine.enrol([bytes])).rejects.toMatchObject({ code: 'face_not_upright' })
      await expect(engine.verify([bytes], reference)).rejects.toMatchObject({ code: 'face_not_upright' })
    }
  })

  it('has a guidance code of its own, even if other things are wrong with it', async () => {
    for (const { person, degrees } of turns) {
      const image = await (await faceCrop(person)).rotate(degrees).resize(320).jpeg().toBuffer()
      expect(await guidanceBy(engine, image)).toEqual(['not_upright'])
    }
  })

  it('is used where it says by EXIF which side is up', async () => {
    const bytes = await (await faceCrop(people[0])).rotate(180).jpeg().toBuffer()
    const labelled = await sharp(bytes).withMetadata({ orientation: 3 }).jpeg().toBuffer()
    const { score } = await engine.verify([labelled], references[0]!)
    expect(score).toBeGreaterThan(thresholdForFmr(engine.pack, 1e-3).threshold)
  })

  it('may roll by 15 degrees', async () => {
    for (const [i, person] of people.entries()) {
      const bytes = await (await faceCrop(person)).rotate(15, { background: '#808080' }).jpeg().toBuffer()
      const { score } = await engine.verify([bytes], references[i]!)
      expect(score).toBeGreaterThan(thresholdForFmr(engine.pack, 1e-3).threshold)
    }
  })
})

it('a picture that its sender has cut close shows its face in little more than twice the distance between the eyes', async () => {
  for (const [i, person] of people.entries()) {
    const { sample } = await engine.verify([await (await faceCrop(person)).jpeg().toBuffer()], references[i]!)
    const [right, left] = sample.landmarks!.map(([x, y]) => ({ x, y }))
    const eyes = Math.hypot(right!.x - left!.x, right!.y - left!.y)
    const centre = sample.landmarks!.reduce(([x, y], point) => [x + point[0] / 5, y + point[1] / 5], [0, 0])
    const side = Math.round(2.2 * eyes)
    const close = await sharp(await (await faceCrop(person)).png().toBuffer())
      .extract({
        left: Math.max(0, Math.round(centre[0]! - side / 2)),
        top: Math.max(0, Math.round(centre[1]! - side / 2)),
        width: side,
        height: side,
      })
      .jpeg()
      .toBuffer()
    const { score } = await engine.verify([close], references[i]!)
    expect(score).toBeGreaterThan(0)
  }
})
