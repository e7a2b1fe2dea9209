/** Spare calls: they run on workers that have nothing else to do, and other bounds than the configured ones hold for one call. */
import { describe, expect, it } from 'vitest'
import { codeOf, engineOf, faceCrop, people, writeLightPack } from '../fixtures.js'

const incidents: string[] = []
const engine = await engineOf(writeLightPack(), {
  faultInjection: true,
  onIncident: ({ kind }) => incidents.push(kind),
})
const face = await (await faceCrop(people[0])).jpeg().toBuffer()
const { reference } = await engine.enrol([face])

const verify = (more = {}) => engine.verify([face], reference, more)
const spare = () => verify({ isSpare: true })

describe('a spare call', () => {
  it('runs on an idle worker, with the same result', async () => {
    expect(engine.hasSparePlace).toBe(true)
    expect((await spare()).score).toBe((await verify()).score)
  })

  it('is refused while the worker has another call', async () => {
    const stalled = engine.injectFault({ kind: 'stall', durationMs: 300 })
    expect(engine.hasSparePlace).toBe(false)
    expect(await codeOf(spare())).toBe('overloaded')
    await stalled
    expect(engine.hasSparePlace).toBe(true)
  })

  it('is the only one on a single worker', async () => {
    const first = codeOf(spare())
    expect(engine.hasSparePlace).toBe(false)
    expect(await codeOf(spare())).toBe('overloaded')
    expect(await first).toBe('resolved')
  })

  it('gives its worker up for another call, which is answered', async () => {
    const given = codeOf(spare())
    expect(await codeOf(verify())).toBe('resolved')
    expect(await given).toBe('overloaded')
  })

  it('is not retried when its worker dies', async () => {
    await expect.poll(() => engine.hasSparePlace).toBe(true)
    await engine.injectFault({ kind: 'exit-on-next-task' })
    expect(await codeOf(spare())).toBe('engine_unavailable')
    await expect.poll(() => engine.health().status).toBe('ok')
    expect(incidents).toEqual(['worker_lost'])
    expect(await codeOf(spare())).toBe('resolved')
  })
})

describe('other bounds of a call', () => {
  it('refuse a face that is narrower than they say, and for this call only', async () => {
    expect(await codeOf(verify({ bounds: { minFacePx: 4000 } }))).toBe('face_too_small')
    expect(await codeOf(verify())).toBe('resolved')
  })

  it('accept a face that the configured ones refuse', async () => {
    const small = await (await faceCrop(people[0])).resize(110).jpeg().toBuffer()
    expect(await codeOf(engine.verify([small], reference))).toBe('face_too_small')
    expect(await codeOf(engine.verify([small], reference, { bounds: { minFacePx: 20 } }))).toBe('resolved')
  })

  it('replace ends of quality bounds and leave the others', async () => {
    const quality = { sharpness: { min: 100_000 } }
    expect(await codeOf(verify({ bounds: { quality } }))).toBe('low_quality')
    expect(await codeOf(verify({ bounds: { quality: { luminance_mean: { max: 1 } } } }))).toBe('low_quality')
    expect(await codeOf(verify({ bounds: { quality: { sharpness: { min: 0 } } } }))).toBe('resolved')
  })
})
