/** The rule that refuses pictures that are not upright: how it is taught, and which of its errors are counted. */
import { describe, expect, it } from 'vitest'
import { ruleOf, TURNS } from '../../tools/evaluation/measure-upright.js'
import { cosinePack, DIMENSIONS, normals } from './synthetic.js'

const pack = cosinePack()
const POINTS = [
  {
    fmr: 1e-2,
    threshold: 0.9,
    measured_fmr: 0,
    fmr_ci95: [0, 0] as [number, number],
    fnmr: 0,
    fnmr_ci95: [0, 0] as [number, number],
  },
]

/** People whose faces share a large part, as with some packs; turned faces move along one more dimension, which all of them share. */
function facesOf(people: number) {
  const normal = normals(7)
  const byTurn = new Map(TURNS.map((turn) => [turn, [] as Array<Float32Array | null>]))
  for (let person = 0; person < people; person++) {
    const own = Array.from({ length: DIMENSIONS }, normal)
    for (const turn of TURNS) {
      const isMoved = turn >= 60
      byTurn
        .get(turn)!
        .push(
          Float32Array.from(own, (value, i) =>
            i === 0 ? 6 : i === 1 && isMoved ? 9 : isMoved ? value / 4 : value / 2,
          ),
        )
    }
  }
  return byTurn
}

describe('the rule about turned pictures', () => {
  it('refuses turned faces of people who did not teach it, and no upright ones', () => {
    const { turns } = ruleOf(pack, facesOf(90), POINTS)
    for (const { degrees, photos, refused } of turns) {
      expect(photos).toBe(60)
      expect({ degrees, refused }).toEqual({ degrees, refused: degrees >= 60 ? 60 : 0 })
    }
  })

  it('counts a pair with a refused picture as a pair that does not match', () => {
    const { turns } = ruleOf(pack, facesOf(90), POINTS)
    const at = (degrees: number) => turns.find((turn) => turn.degrees === degrees)!
    expect(at(180).impostor_pairs).toBe((60 * 59) / 2)
    expect(at(180).points).toEqual([{ threshold: 0.9, measured_fmr: 0, fmr_ci95: [0, expect.any(Number)] }])
  })

  it('reports the matches that it leaves', () => {
    const byTurn = facesOf(90)
    // At this turn faces look upright to the rule, and all alike to the threshold.
    byTurn.set(
      45,
      byTurn.get(0)!.map((face, person) => (person % 3 === 0 ? face : byTurn.get(0)![1]!)),
    )
    const { turns } = ruleOf(pack, byTurn, POINTS)
    expect(turns.find(({ degrees }) => degrees === 45)!.points[0]!.measured_fmr).toBe(1)
  })
})
