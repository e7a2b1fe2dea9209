import { expect, it } from 'vitest'
import { GUIDANCE_TEXTS } from '../../../clients/capture/guidance-texts.js'
import { QUALITY_COMPONENTS } from '../../../models/pack/quality-components.js'
import type { QualityComponents } from '../../../src/biometrics/measurements.js'
import { guidanceOfFault } from '../../../src/biometrics/picture-guidance.js'
import { faultsOf } from '../../../src/biometrics/pipeline/judge/component-finding.js'
import { assessQuality, lowQuality } from '../../../src/biometrics/pipeline/judge/quality-bounds.js'

const good: Required<QualityComponents> = {
  inter_eye_distance: 90,
  sharpness: 100,
  luminance_mean: 130,
  luminance_variance: 1500,
  under_exposure_prevention: 1,
  over_exposure_prevention: 1,
  illumination_uniformity: 0.9,
  head_pose_yaw: 0,
  head_pose_pitch: 0,
  head_pose_roll: 0,
  eyes_open: 0.28,
}
const hintsFor = (change: QualityComponents, purpose: 'enrol' | 'verify') =>
  assessQuality({ ...good, ...change }, purpose).flatMap(({ hint }) => hint ?? [])

it('every measured component gets a finding, in a fixed order, and no other does', () => {
  const { eyes_open: _, ...measured } = good
  const named = (components: QualityComponents) =>
    assessQuality(components, 'enrol').map(({ component }) => component)
  expect(named(good)).toEqual(QUALITY_COMPONENTS)
  expect(named(measured)).toEqual(QUALITY_COMPONENTS.filter((name) => name !== 'eyes_open'))
  expect(assessQuality(good, 'enrol').every(({ passed, hint }) => passed && hint === null)).toBe(true)
})

it.each<[QualityComponents, string]>([
  [{ sharpness: 1 }, 'Hold still'],
  [{ luminance_mean: 20 }, 'light'],
  [{ luminance_mean: 240 }, 'Turn away from the light'],
  [{ luminance_variance: 10 }, 'light'],
])('%j is refused at verify and at enrolment', (change, hint) => {
  for (const purpose of ['enrol', 'verify'] as const) {
    expect(hintsFor(change, purpose)).toEqual([expect.stringContaining(hint)])
  }
})

it.each<[QualityComponents, string]>([
  [{ sharpness: 10 }, 'Hold still'],
  [{ luminance_mean: 28 }, 'Turn to the light'],
  [{ under_exposure_prevention: 0.5 }, 'Turn to the light'],
  [{ illumination_uniformity: 0.3 }, 'both sides'],
  [{ head_pose_yaw: -50 }, 'to the camera'],
  [{ head_pose_yaw: 50 }, 'to the camera'],
  [{ head_pose_pitch: -40 }, 'Lift your chin'],
  [{ head_pose_pitch: 40 }, 'Lower your chin'],
  [{ head_pose_roll: 35 }, 'upright'],
  [{ eyes_open: 0.1 }, 'Please open your eyes'],
])('%j is refused only at enrolment', (change, hint) => {
  expect(hintsFor(change, 'enrol')).toEqual([expect.stringContaining(hint)])
  expect(hintsFor(change, 'verify')).toEqual([])
})

it('a pack replaces the default bounds, end by end', () => {
  const bound = (purpose: 'enrol' | 'verify') =>
    assessQuality(good, purpose, {
      verify: { inter_eye_distance: { min: 30 }, luminance_mean: { max: 250 } },
      enrol: { luminance_mean: { max: 200 } },
    }).find(({ component }) => component === 'luminance_mean')!.bound
  expect(bound('verify')).toEqual({ min: 25, max: 250 })
  expect(bound('enrol')).toEqual({ min: 30, max: 200 })
  const near = { ...good, inter_eye_distance: 20 }
  const findings = assessQuality(near, 'verify', { verify: { inter_eye_distance: { min: 30 } } })
  expect(faultsOf(findings, 2)).toEqual([
    {
      imageIndex: 2,
      component: 'inter_eye_distance',
      value: 20,
      bound: { min: 30 },
      hint: 'Come closer.',
    },
  ])
})

it('advice says each thing once', () => {
  const findings = assessQuality({ ...good, luminance_mean: 29, under_exposure_prevention: 0.4 }, 'enrol')
  const faults = [...faultsOf(findings, 0), ...faultsOf(findings, 1)]
  expect(faults).toHaveLength(4)
  expect(lowQuality(faults).message).toBe('The photo is not good enough. It is too dark. Turn to the light.')
})

it('gives the text of the guidance code as advice, or says which way to go', () => {
  const beyond = { min: 10, max: 20 }
  const said = QUALITY_COMPONENTS.flatMap((component) =>
    [5, 25].flatMap((value) => {
      const findings = assessQuality({ [component]: value }, 'verify', { verify: { [component]: beyond } })
      return faultsOf(findings, 0).map((fault) => ({ hint: fault.hint, guidance: guidanceOfFault(fault) }))
    }),
  )
  expect(said).toHaveLength(2 * QUALITY_COMPONENTS.length)
  const exact = said.filter(({ hint, guidance }) => hint !== GUIDANCE_TEXTS[guidance])
  expect([...new Set(exact.map(({ hint }) => hint))]).toEqual([
    'Find better light, and wipe the lens.',
    'Turn to the light, so that it falls on both sides of the face.',
    'Turn your face to the camera.',
    'Lift your chin a little.',
    'Lower your chin a little.',
    'Hold your head upright.',
  ])
})
