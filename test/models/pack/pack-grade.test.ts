/** Conditions for production use of a pack, and refusals until an operator accepts it by name. */
import { describe, expect, it } from 'vitest'
import { type Calibration, withFormerFindings } from '../../../models/pack/calibration.js'
import { type ModelPack, parsePackManifest } from '../../../models/pack/model-pack.js'
import {
  assertFmrReached,
  assertMayFollow,
  assertServable,
  gradeOf,
} from '../../../models/pack/pack-grade.js'
import { standardPackDocument } from '../../../tools/pack-builders/standard/pack-document.js'
import { uprightMeasurement } from '../../support/packs.js'

const manifest = parsePackManifest(standardPackDocument())

/** A calibration on 1,000 people: 499,500 pairs of people show 1e-5. */
function packWith({
  groups = WOMEN_AND_MEN,
  upright = uprightMeasurement(manifest.embedder.dimensions),
  ...data
}: {
  people?: number
  upright?: Calibration['upright'] | null
  groups?: Calibration['groups']
} = {}): ModelPack {
  const point = (fmr: number, threshold: number) => ({
    fmr,
    threshold,
    measured_fmr: fmr / 2,
    fmr_ci95: [0, fmr] as [number, number],
    fnmr: 0.02,
    fnmr_ci95: [0.01, 0.03] as [number, number],
  })
  const calibration: Calibration = {
    format: 1,
    pack: { id: manifest.id, version: manifest.version, sha256: '0'.repeat(64) },
    date: '2026-01-01',
    data: {
      photos: 3000,
      people: 1000,
      genuine_pairs: 3000,
      impostor_pairs: 499_500,
      failed_to_acquire: 0,
      ...data,
    },
    ...(upright ? { upright } : {}),
    points: [point(1e-3, 0.4), point(1e-4, 0.5)],
    groups,
  }
  return { dir: '', manifest, modelId: 'standard@1.0.0', calibration }
}

function group(
  name: string,
  people: number,
  pairs: number,
  measured: number | null,
): Calibration['groups'][number] {
  const rates = { fmr_ci95: [0, 1] as [number, number], fnmr: 0, fnmr_ci95: [0, 1] as [number, number] }
  return {
    label: 'sex',
    group: name,
    people,
    genuine_pairs: people,
    impostor_pairs: pairs,
    points: [
      { fmr: 1e-3, threshold: 0.4, measured_fmr: measured && 10 * measured, ...rates },
      { fmr: 1e-4, threshold: 0.5, measured_fmr: measured, ...rates },
    ],
  }
}

const WOMEN_AND_MEN = [group('f', 400, 79_800, 1e-4), group('m', 600, 179_700, 0.2e-4)]

describe('the grade', () => {
  it('the grade is production if the rate was measured on enough people, overall and in each group', () => {
    expect(gradeOf(packWith(), 1e-4)).toEqual({ grade: 'production', reasons: [] })
  })

  const [women, men] = WOMEN_AND_MEN as [Calibration['groups'][0], Calibration['groups'][0]]
  it.each([
    ['no group', []],
    ['one group of a trait, which divides nobody', [women]],
    [
      'only tenants',
      [
        { ...women, label: 'tenant' },
        { ...men, label: 'tenant' },
      ],
    ],
    [
      'only groups of an earlier calibration',
      WOMEN_AND_MEN.map((one) => ({ ...one, carried_from: '2025-01-01' })),
    ],
  ])('the grade is ungrouped where the calibration names %s', (_, groups) => {
    expect(gradeOf(packWith({ groups }), 1e-4)).toEqual({
      grade: 'ungrouped',
      reasons: ['its calibration divides nobody into groups of people'],
    })
  })

  it('taking the groups away never raises the grade', () => {
    const grouped = packWith({ groups: [group('f', 400, 79_800, 1.1e-4), men] })
    expect(gradeOf(grouped, 1e-4).grade).toBe('evaluation')
    const blind = packWith({ groups: [] })
    const calibration = withFormerFindings(blind.calibration!, grouped.calibration!)
    expect(gradeOf({ ...blind, calibration }, 1e-4)).toEqual(gradeOf(grouped, 1e-4))
  })

  it('a group that an earlier calibration could not judge counts until the trait is measured, one over the rate until the group is', () => {
    const origin = (name: string, people: number, pairs: number, measured: number) => ({
      ...group(name, people, pairs, measured),
      label: 'ethnicity',
    })
    const former = packWith({
      groups: [...WOMEN_AND_MEN, origin('african', 14, 1303, 0), origin('asian', 400, 79_800, 3e-4)],
    }).calibration!
    const reasons = (groups: Calibration['groups']) => {
      const pack = packWith({ groups })
      return gradeOf({ ...pack, calibration: withFormerFindings(pack.calibration!, former) }, 1e-4).reasons
    }
    expect(reasons(WOMEN_AND_MEN)).toEqual([
      '14 people of ethnicity african are too few to show the rate',
      'people of ethnicity asian were taken for one another at a rate of 3 in 10,000',
    ])
    const others = [origin('caucasian', 400, 79_800, 0), origin('several', 400, 79_800, 0)]
    expect(reasons([...WOMEN_AND_MEN, ...others])).toEqual([
      'people of ethnicity asian were taken for one another at a rate of 3 in 10,000',
    ])
    expect(reasons([...WOMEN_AND_MEN, ...others, origin('asian', 400, 79_800, 0.5e-4)])).toEqual([])
  })

  it.each([
    ['too few people', packWith({ people: 100 }), /^100 people are too few/],
    ['a group too small to judge', packWith({ groups: [group('f', 14, 1303, 0)] }), /14 women are too few/],
    [
      'a group that is over the rate',
      packWith({ groups: [group('f', 400, 79_800, 1.1e-4)] }),
      /^women .* rate of 1\.1 in 10,000/,
    ],
    [
      'turned pictures that nobody measured',
      packWith({ upright: null }),
      /nobody has measured it on pictures/,
    ],
    [
      'turned pictures that were not all measured',
      packWith({ upright: uprightMeasurement(manifest.embedder.dimensions, { 90: 0, 180: 0 }) }),
      /nobody has measured it on pictures/,
    ],
    [
      'turned pictures that match more often than is signed',
      packWith({
        upright: uprightMeasurement(manifest.embedder.dimensions, { 90: 0, 180: 2.1e-4, 270: 0 }),
      }),
      /turned by 180° match more often/,
    ],
    ['no calibration of its own', { dir: '', manifest, modelId: 'standard@1.0.0' }, /no calibration\.json/],
  ])('the grade is evaluation for %s, and says why', (_, pack, reason) => {
    const { grade, reasons } = gradeOf(pack, 1e-4)
    expect(grade).toBe('evaluation')
    expect(reasons.join('\n')).toMatch(reason)
  })

  it('depends on the rate: the same people show a looser one', () => {
    const pack = packWith({ people: 100 })
    expect(gradeOf(pack, 1e-3).grade).toBe('production')
    expect(gradeOf(pack, 1e-4).grade).toBe('evaluation')
  })
})

describe('a rate beyond the calibration', () => {
  it('a rate beyond the calibration is refused where it is set, no matter who accepted the pack, and the error names the accepted rates', () => {
    const refused = expect.objectContaining({
      code: 'fmr_not_reached',
      message: expect.stringMatching(/--fmr .*1e-7.* ends at 0\.0001.*Name a rate from 0\.0001 to 0\.001/),
    })
    for (const accepted of [[], ['another'], ['standard']])
      expect(() => assertFmrReached(packWith(), 1e-7, '--fmr', accepted)).toThrow(refused)
    expect(() => assertFmrReached(packWith(), 1e-4, '--fmr', [])).not.toThrow()
  })

  it('a rate beyond the other end of the calibration is refused as well', () => {
    expect(() => assertFmrReached(packWith(), 5e-3, '--fmr', ['standard'])).toThrow(/ends at 0\.001\./)
  })

  it('a rate that nobody measured is refused, even if the manifest names a threshold', () => {
    const points = [
      { fmr: 1e-3, threshold: 0.4, measured: true },
      { fmr: 1e-5, threshold: 0.6, measured: false },
    ]
    const pack = {
      dir: '',
      modelId: 'a@1',
      manifest: { ...manifest, calibration: { source: 'a bench', points } },
    }
    expect(() => assertFmrReached(pack, 1e-4, '--fmr', [])).toThrow(/nobody has measured/)
    expect(() => assertFmrReached(pack, 1e-3, '--fmr', [])).not.toThrow()
  })
})

it.each([
  ['evaluation', packWith({ people: 100 }), '100 people'],
  ['ungrouped', packWith({ groups: [] }), 'divides nobody'],
])(
  'a pack of %s grade serves only if the operator accepts it by name, and the refusal names what callers see',
  (_, pack, why) => {
    expect(() => assertServable(pack, 1e-4, [])).toThrow(
      expect.objectContaining({
        code: 'pack_not_accepted',
        message: expect.stringMatching(
          new RegExp(`${why}.*COUNTERSIGN_ACCEPT_PACK=standard;.*every SDK refuses`),
        ),
      }),
    )
    expect(() => assertServable(pack, 1e-4, ['standard'])).not.toThrow()
    expect(() => assertServable(packWith(), 1e-4, [])).not.toThrow()
  },
)

it('a pack of evaluation grade follows only if the operator accepts it by name, next to the pack that serves', () => {
  const pack = packWith({ people: 100 })
  expect(() => assertMayFollow(pack, 1e-4, ['baseline'])).toThrow(
    expect.objectContaining({
      code: 'pack_not_accepted',
      message: expect.stringMatching(/100 people.*COUNTERSIGN_ACCEPT_PACK=baseline,standard/),
    }),
  )
  expect(() => assertMayFollow(pack, 1e-4, ['baseline', 'standard'])).not.toThrow()
  expect(() => assertMayFollow(packWith(), 1e-4, ['baseline'])).not.toThrow()
})
