/** Faces of which others compute a part: what comes out is what one thread alone would find. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { FacePipeline } from '../../../src/biometrics/pipeline/face-pipeline.js'
import type { Neighbours } from '../../../src/biometrics/pipeline/views.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { blurredFace } from '../../support/images.js'
import { faceCrop, people } from '../fixtures.js'

const NOBODY: Neighbours = { ask: () => null }
let pipeline: FacePipeline
const faces = await Promise.all(
  people.slice(0, 3).map(async (person) => (await faceCrop(person)).jpeg().toBuffer()),
)
const [face] = faces as [Buffer]

beforeAll(async () => {
  pipeline = await loadPipeline()
})

/** So many idle neighbours, that compute the same or have not begun. */
function neighbours(count: number, { begin = true } = {}) {
  const asked: string[] = []
  let busy = 0
  const ask: Neighbours['ask'] = (network, views) => {
    if (busy === count) return null
    busy++
    asked.push(network)
    const copy = views.slice()
    return {
      result: async () => {
        busy--
        return begin ? pipeline.runFor(network, copy) : null
      },
    }
  }
  return { asked, ask, busy: () => busy }
}

async function analyse(bytes: Buffer, others: Neighbours) {
  pipeline.askOf(others)
  return pipeline.analyse(bytes)
}

describe('views of a face', () => {
  for (const count of [1, 2, 3])
    it(`are the same when ${count} neighbours compute some of them`, async () => {
      const others = neighbours(count)
      expect(await analyse(face, others)).toEqual(await analyse(face, NOBODY))
      expect(others.asked).toEqual(['landmarks', ...Array(Math.min(count, 2)).fill('embedder')])
      expect(others.busy()).toBe(0)
    })

  it('are computed here where the neighbours have not begun', async () => {
    const others = neighbours(2, { begin: false })
    expect(await analyse(face, others)).toEqual(await analyse(face, NOBODY))
    expect(others.asked).toHaveLength(3)
    expect(others.busy()).toBe(0)
  })

  it('of several faces are the same in company, and nobody is kept from others', async () => {
    pipeline.askOf(NOBODY)
    const alone = [...faces, face].map((bytes) => pipeline.analyse(bytes))
    const expected = await Promise.all(alone)
    const others = neighbours(2)
    pipeline.askOf(others)
    const found = await Promise.all([...faces, face].map((bytes) => pipeline.analyse(bytes)))
    expect(found).toEqual(expected)
    expect(others.asked).toContain('embedder')
    await expect.poll(() => others.busy()).toBe(0)
  })

  it('that nobody wants any more, of a face that is refused, keep no neighbour', async () => {
    const others = neighbours(2)
    await expect(analyse(await blurredFace(), others)).rejects.toMatchObject({ code: 'low_quality' })
    expect(others.asked).toContain('embedder')
    await expect.poll(() => others.busy()).toBe(0)
  })
})
