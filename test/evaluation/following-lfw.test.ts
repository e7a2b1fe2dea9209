/**
 * How far two verifies carry the people of LFW from one model pack to another, how often a stranger would, and how the moved references
 * compare with fresh ones.
 */
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { loadModelPack, type ModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { strictThreshold } from '../../models/pack/strict-threshold.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import type { PhotoResult } from '../../tools/evaluation/embedding-cache.js'
import { exactInterval } from '../../tools/evaluation/intervals.js'
import { evaluationDataMissing, writeEvaluationPack } from '../biometrics/fixtures.js'
import { embedded, isSound, MINUTE_MS, rateText as rate, readLfw } from './lfw.js'

/** A folder of an installed pack that decides before the change, instead of the baseline. */
const PACK = process.env.TEST_PACK
/** The reference, two verifies, and one photo on which moved and fresh references are compared. */
const PHOTOS = 4
const FMR = 1e-4
const STRICT_FMR = 1e-5

describe.skipIf(evaluationDataMissing())('people of LFW on their way to another pack', () => {
  let old: ModelPack
  let next: ModelPack
  /** Results of the photos of each person who has enough of them, by pack. */
  let people: { old: PhotoResult[]; next: PhotoResult[] }[]
  const sound = (result: PhotoResult) => isSound(old, result)

  beforeAll(async () => {
    old = await loadModelPack(PACK ?? join(inject('modelsDir'), 'baseline'))
    next = await loadModelPack(writeEvaluationPack())
    const data = await readLfw(PHOTOS)
    const [byOld, byNext] = [await embedded(data, old), await embedded(data, next)]
    const photosOf = (person: number, results: PhotoResult[]) =>
      results.filter((_, i) => data.photos[i]!.person === person)
    people = data.people
      .map((_, person) => ({ old: photosOf(person, byOld), next: photosOf(person, byNext) }))
      .filter((photos) => [...photos.old, ...photos.next].every(({ embedding }) => embedding !== null))
      .filter((photos) => photos.old.length === PHOTOS)
  }, 30 * MINUTE_MS)

  it('are moved by strong verifies, and by no stranger more often than the strict bound allows', () => {
    const { threshold } = thresholdForFmr(old, FMR)
    const strict = strictThreshold(old, STRICT_FMR)!
    const enrolled = people.filter((person) => sound(person.old[0]!))
    const score = (one: PhotoResult, other: PhotoResult) => scoreOf(old, one.embedding!, other.embedding!)
    let [approved, twice, moved, strangers, writes] = [0, 0, 0, 0, 0]
    for (const person of enrolled) {
      const verifies = person.old.slice(1, 3)
      const scores = verifies.map((photo) => score(person.old[0]!, photo))
      const approvals = scores.filter((one) => one >= threshold).length
      const isMoved = scores.some((one, i) => one >= strict.threshold && sound(verifies[i]!))
      approved += approvals
      if (isMoved) moved++
      if (approvals === 2) twice++
      for (const other of enrolled)
        if (other !== person)
          for (const photo of verifies) {
            strangers++
            if (score(other.old[0]!, photo) >= strict.threshold && sound(photo)) writes++
          }
    }
    console.log(`${old.modelId}: ${people.length} people with ${PHOTOS} photos, ${enrolled.length} enrolled`)
    console.log(`threshold ${threshold}, strict ${strict.threshold} (${strict.basis})`)
    console.log(`approved verifies: ${rate(approved, 2 * enrolled.length)}; people approved twice: ${twice}`)
    console.log(`moved after two genuine verifies: ${rate(moved, enrolled.length)}`)
    console.log(`attempts of strangers that write a template: ${rate(writes, strangers)}`)
    expect(moved).toBeGreaterThan(0)
    expect(exactInterval(writes, strangers)[0]).toBeLessThanOrEqual(STRICT_FMR)
  })

  it('have references as good as fresh ones of one photo', () => {
    const { threshold } = thresholdForFmr(next, FMR)
    const bound = strictThreshold(old, STRICT_FMR)!.threshold
    const ways: Record<string, { reference: PhotoResult; last: PhotoResult }[]> = { fresh: [], moved: [] }
    for (const { old: before, next: after } of people.filter((person) => sound(person.old[0]!))) {
      const at = [1, 2].find(
        (i) => sound(before[i]!) && scoreOf(old, before[0]!.embedding!, before[i]!.embedding!) >= bound,
      )
      if (at === undefined) continue
      ways.fresh!.push({ reference: after[0]!, last: after[3]! })
      ways.moved!.push({ reference: after[at]!, last: after[3]! })
    }
    const misses: Record<string, number> = {}
    for (const [way, users] of Object.entries(ways)) {
      const score = (one: PhotoResult, other: PhotoResult) => scoreOf(next, one.embedding!, other.embedding!)
      const missed = users.filter(({ reference, last }) => score(reference, last) < threshold).length
      const pairs = users.flatMap((one) =>
        users.filter((other) => other !== one).map((other) => [one, other]),
      )
      const matched = pairs.filter(([one, other]) => score(one!.reference, other!.last) >= threshold).length
      misses[way] = missed
      console.log(
        `${way} on ${next.modelId}: false non-matches ${rate(missed, users.length)}; false matches ${rate(matched, pairs.length)}`,
      )
    }
    expect(misses.moved).toBeLessThanOrEqual(
      exactInterval(misses.fresh!, ways.fresh!.length)[1] * ways.moved!.length,
    )
  })
})
