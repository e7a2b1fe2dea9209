/** The candidate, as it is configured and named. */
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../../src/app/configuration.js'
import { candidateOf, describeCandidate } from '../../../../src/features/insight/shadow/candidate.js'

const PACKS = [
  { dir: '/packs/standard', modelId: 'standard@1.0.0' },
  { dir: '/packs/other', modelId: 'other@2' },
]
const LOADED = { MODELS_DIR: '/packs', MODEL_PACK: 'standard', FOLLOWING_PACKS: 'other' }
const resolve = (settings: Record<string, string>) =>
  resolveConfig(
    Object.fromEntries(
      Object.entries({ ...LOADED, ...settings }).map(([name, value]) => [`COUNTERSIGN_${name}`, value]),
    ),
  )
const candidate = (settings: Record<string, string>) => {
  const { config, problems } = resolve(settings)
  expect(problems).toEqual([])
  return candidateOf(config, PACKS)
}

describe('the candidate', () => {
  it('is none where no setting names one', () => {
    expect(candidate({})).toBeNull()
    expect(candidate({ SHADOW_SHARE: '1' })).toBeNull()
  })

  it('has a pack, a rate and bounds, each of them only where it is set', () => {
    expect(candidate({ SHADOW_PACK: 'other' })).toEqual({ model: 'other@2', fmr: null, bounds: null })
    expect(candidate({ SHADOW_FMR: '1e-5' })).toEqual({ model: null, fmr: 1e-5, bounds: null })
    expect(candidate({ SHADOW_MIN_FACE_PX: '120' })?.bounds).toEqual({ minFacePx: 120 })
    expect(
      candidate({ SHADOW_QUALITY: 'sharpness>=10, head_pose_yaw>=-25,head_pose_yaw<=25' })?.bounds,
    ).toEqual({ quality: { sharpness: { min: 10 }, head_pose_yaw: { min: -25, max: 25 } } })
  })

  it('is named by everything in which it differs', () => {
    const all = {
      SHADOW_PACK: 'other',
      SHADOW_FMR: '1e-5',
      SHADOW_MIN_FACE_PX: '120',
      SHADOW_QUALITY: 'head_pose_yaw<=25,sharpness>=10',
    }
    expect(describeCandidate(candidate(all)!)).toBe(
      'other@2, FMR 0.00001, face >= 120 px, sharpness >= 10, head_pose_yaw <= 25',
    )
  })
})

describe('the configuration refuses', () => {
  it('a pack that no other setting loads', () => {
    expect(resolve({ SHADOW_PACK: 'third' }).problems).toEqual([
      'COUNTERSIGN_SHADOW_PACK is third, which no other setting loads. Name it in COUNTERSIGN_FOLLOWING_PACKS too.',
    ])
  })

  it('a bound of another form or of a component that nobody measures, and a share that is none', () => {
    for (const text of ['sharpness', 'sharpness=10', 'sharpness>=x', 'smile>=1', ''])
      expect([text, resolve({ SHADOW_QUALITY: text }).problems.length]).toEqual([text, text ? 1 : 0])
    for (const text of ['0', '-1', '1.1', 'x'])
      expect([text, resolve({ SHADOW_SHARE: text }).problems.length]).toEqual([text, 1])
  })
})
