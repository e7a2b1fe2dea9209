import { describe, expect, it } from 'vitest'
import { type JudgedPresentation, padRates } from '../../tools/evaluation/pad-rates.js'

let made = 0
function judged(changes: Partial<JudgedPresentation>): JudgedPresentation {
  return {
    id: String(++made),
    species: null,
    subject: 'ada',
    device: 'phone',
    condition: 'office',
    frames: ['a.jpg'],
    reference: null,
    challenge: null,
    response: 'attack',
    score: 0.1,
    matches: null,
    reason: null,
    ...changes,
  }
}
const times = (count: number, changes: Partial<JudgedPresentation>) =>
  Array.from({ length: count }, () => judged(changes))

describe('rates of presentation attack detection', () => {
  it('the worst species comes first and unmeasured ones last, independent of the average', () => {
    const { species } = padRates([
      ...times(42, { species: 'print' }),
      ...times(9, { species: 'screen' }),
      judged({ species: 'screen', response: 'bona_fide' }),
      ...times(3, { species: 'mask', response: 'none', reason: 'face_not_found' }),
    ])
    expect(species.map(({ species: name, apcer, accepted }) => [name, apcer, accepted])).toEqual([
      ['screen', 0.1, 1],
      ['print', 0, 0],
      ['mask', null, 0],
    ])
    const [screen, print, mask] = species
    // R: binom.test(1, 10, alternative = 'less'); 1 - 0.05^(1/42).
    expect(screen!.apcer_ub95).toBeCloseTo(0.3942, 4)
    expect(print!.apcer_ub95).toBeCloseTo(0.0688, 4)
    expect(mask).toMatchObject({ presentations: 3, non_response: 3, apcer_ub95: 1 })
  })

  it('presentations without a response are counted apart: neither accepted nor correct', () => {
    const { species, bona_fide, non_responses } = padRates([
      ...times(1, { species: 'print', response: 'bona_fide' }),
      ...times(1, { species: 'print' }),
      ...times(2, { species: 'print', response: 'none', reason: 'too_close' }),
      ...times(3, { response: 'bona_fide', subject: 'grace' }),
      judged({}),
      judged({ response: 'none', reason: 'face_not_found' }),
    ])
    expect(species[0]).toMatchObject({ presentations: 4, non_response: 2, accepted: 1, apcer: 0.5 })
    expect(bona_fide).toMatchObject({
      presentations: 5,
      subjects: 2,
      non_response: 1,
      refused: 1,
      bpcer: 0.25,
    })
    expect(non_responses).toEqual({ face_not_found: 1, too_close: 2 })
  })

  it('conditions and devices of bona fide presentations have rates of their own', () => {
    const { by_condition, by_device } = padRates([
      ...times(2, { response: 'bona_fide' }),
      judged({ condition: 'dim' }),
      judged({ condition: 'dim', device: 'laptop', response: 'bona_fide' }),
      judged({ condition: 'bright', species: 'print' }),
    ])
    expect(by_condition.map(({ label, bpcer }) => [label, bpcer])).toEqual([
      ['dim', 0.5],
      ['office', 0],
    ])
    expect(by_device.map(({ label, bpcer }) => [label, bpcer])).toEqual([
      ['laptop', 0],
      ['phone', 1 / 3],
    ])
  })

  it('an attack with a reference counts as accepted only if the whole system accepts it as that person', () => {
    const print = { species: 'print', reference: 'ada.jpg' }
    const { species } = padRates([
      judged({ ...print, response: 'bona_fide', matches: true }),
      judged({ ...print, response: 'bona_fide', matches: false }),
      judged({ ...print, response: 'attack', matches: true }),
      judged({ ...print, response: 'none', reason: 'face_not_found' }),
      judged({ species: 'print', response: 'bona_fide' }),
    ])
    expect(species[0]!.iapar).toMatchObject({ presentations: 4, accepted: 1, rate: 0.25 })
    expect(species[0]!.apcer).toBe(0.75)
  })

  it('a rate without presentations is null', () => {
    const { species, bona_fide } = padRates([])
    expect(species).toEqual([])
    expect(bona_fide).toMatchObject({ bpcer: null, bpcer_ci95: [0, 1] })
  })
})
