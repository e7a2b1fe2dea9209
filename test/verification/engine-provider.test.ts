/** The provider of each pack that an engine has loaded. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Engine } from '../../src/biometrics/engine/engine.js'
import type { ProviderCall } from '../../src/verification/biometric-provider.js'
import type { CaptureInput } from '../../src/verification/call.js'
import { EngineProvider } from '../../src/verification/engine-provider.js'
import { baselinePack, startEngine } from '../biometrics/fixtures.js'
import { evidenceOf } from '../support/evidence.js'
import { face } from '../support/faces.js'
import { writeShiftedPack } from '../support/packs.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const BASELINE = 'baseline@1.0.0'
const SHIFTED = 'shifted@1.0.0'
const call = (alsoEmbed?: string[]): ProviderCall<CaptureInput> => ({
  input: { user_id: 'ada' },
  deadlineMs: performance.now() + 60_000,
  signal: new AbortController().signal,
  schedulingClass: { flow: 'tests', priority: 'production', weight: 1 },
  alsoEmbed,
})
let engine: Engine
let provider: EngineProvider

const shifted = temporaryFolder()
beforeAll(async () => {
  await writeShiftedPack(shifted, inject('modelsDir'))
  engine = await startEngine(baselinePack(), { followingPackDirs: [shifted], tasksPerWorker: 4 })
  provider = new EngineProvider(engine)
})
afterAll(() => engine.close())

const photos = async (...names: Parameters<typeof face>[0][]) =>
  evidenceOf(await Promise.all(names.map((name) => face(name))))

describe('a provider', () => {
  it('finds the provider of every loaded pack, and none of another', () => {
    const shifted = provider.forModel(SHIFTED)!
    expect([provider.model, shifted.model]).toEqual([BASELINE, SHIFTED])
    expect(provider.forModel(SHIFTED)).toBe(shifted)
    expect(shifted.forModel(BASELINE)).toBe(provider)
    expect(provider.forModel('other@1')).toBeNull()
  })

  it('takes thresholds and scores from its own pack', async () => {
    const shifted = provider.forModel(SHIFTED)!
    expect(shifted.operatingPoint(1e-3)).not.toEqual(provider.operatingPoint(1e-3))
    const { reference } = await shifted.enrol(call(), await photos('ada'), { assessOnly: false })
    const evidence = await photos('adaToday')
    const { score } = await shifted.verify(call(), evidence, () => reference, 0)
    expect(score).toBe((await engine.verify(evidence.images, reference, { decideBy: SHIFTED })).score)
  })

  it('gives references by the packs that follow, which their own provider compares', async () => {
    const shifted = provider.forModel(SHIFTED)!
    const enrolled = await provider.enrol(call([SHIFTED]), await photos('ada'), { assessOnly: false })
    const own = await shifted.enrol(call(), await photos('ada'), { assessOnly: false })
    expect(enrolled.others[SHIFTED]!.embedding).toEqual(own.reference)
    const evidence = await photos('adaToday')
    const seen = await provider.verify(call([SHIFTED]), evidence, () => enrolled.reference, 0)
    const compared = await shifted.verify(call(), evidence, () => own.reference, 0)
    const followed = seen.others[SHIFTED]!
    expect(shifted.similarity(followed.embedding, own.reference)).toBe(compared.score)
    const joined = shifted.join(
      { embedding: own.reference, weight: own.weight, photoCount: 1 },
      [followed],
      1,
    )
    expect(joined).toMatchObject({ photoCount: 2, weight: own.weight + followed.weight })
  })

  it('has no others where no pack follows', async () => {
    const enrolled = await provider.enrol(call(), await photos('ada'), { assessOnly: false })
    const seen = await provider.verify(call(), await photos('ada'), () => enrolled.reference, 0)
    expect([enrolled.others, seen.others]).toEqual([{}, {}])
  })
})
