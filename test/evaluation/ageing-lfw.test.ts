/**
 * How far attackers can walk an aged reference to another face, with the bounds and without them, and what ageing does to the error rates
 * of people of LFW.
 */
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type AgeingBounds, ageingBounds, distanceOfScore } from '../../models/pack/ageing-bounds.js'
import { loadModelPack, type ModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { strictThreshold } from '../../models/pack/strict-threshold.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { agedTemplate } from '../../src/features/learning-references/aged-template.js'
import { exactInterval } from '../../tools/evaluation/intervals.js'
import { evaluationDataMissing } from '../biometrics/fixtures.js'
import { embedded, isSound, MINUTE_MS, rateText, readLfw } from './lfw.js'

/** A folder of an installed pack, instead of the baseline. */
const PACK = process.env.TEST_PACK
/** One pair of strangers in so many is walked; 1 for all of them, which takes ten minutes. */
const STRIDE = Number(process.env.TEST_STRIDE ?? 20)
/** The enrollment, two captures that may be taken in, and one on which references are compared. */
const PHOTOS = 4
const RATES = [1e-3, 1e-4]
/** Captures that an attacker has taken in: ten years of one every 30 days. */
const WALK = 120
/** Gain in score below which an attacker gives up. */
const LEAST_GAIN = 1e-5

type Embedding = Float32Array

const rate = (events: number, trials: number) => rateText(events, trials, 0.01)

describe.skipIf(evaluationDataMissing())(
  'references of people of LFW that age',
  { timeout: 15 * MINUTE_MS },
  () => {
    let pack: ModelPack
    let bounds: AgeingBounds
    /** Photos of each person that have enough of them, the first one good enough to enroll with. */
    let people: { embedding: Embedding; isSound: boolean }[][]

    beforeAll(async () => {
      pack = await loadModelPack(PACK ?? join(inject('modelsDir'), 'baseline'))
      bounds = ageingBounds(pack)!
      const data = await readLfw(PHOTOS)
      const results = await embedded(data, pack)
      people = data.people
        .map((_, person) => results.filter((_, i) => data.photos[i]!.person === person))
        .filter((photos) => photos.length === PHOTOS && photos.every(({ embedding }) => embedding !== null))
        .map((photos) =>
          photos.map((photo) => ({ embedding: photo.embedding!, isSound: isSound(pack, photo) })),
        )
        .filter(([first]) => first!.isSound)
      console.log(`${pack.modelId}: ${people.length} people with ${PHOTOS} photos, enrolled by the first`)
      console.log(`distance from the first template ${bounds.fromFirst}, step ${bounds.step}`)
    }, 30 * MINUTE_MS)

    const score = (a: Embedding, b: Embedding) => scoreOf(pack, a, b)
    const strictBound = (fmr: number) => strictThreshold(pack, fmr / 10)!.threshold
    const age = (first: Embedding, present: Embedding, capture: Embedding, limits = bounds) =>
      agedTemplate(pack, limits, { first, present, capture })

    /** Pairs of a victim and somebody else whose last photo does not match the victim's first template, every so many. */
    function* strangers(threshold: number) {
      let pair = 0
      for (const victim of people)
        for (const other of people)
          if (
            victim !== other &&
            pair++ % STRIDE === 0 &&
            score(victim[0]!.embedding, other.at(-1)!.embedding) < threshold
          )
            yield { victim, other, face: other.at(-1)!.embedding }
    }

    it.each(RATES)(
      'miss no more of their people at %d, and match strangers at no more than ten times the rate',
      (fmr) => {
        const { threshold } = thresholdForFmr(pack, fmr)
        const strict = strictBound(fmr)
        const users = people.map((photos) => {
          const first = photos[0]!.embedding
          const captures = photos
            .slice(1, -1)
            .filter((one) => one.isSound && score(first, one.embedding) >= strict)
          const aged = captures.reduce((present, { embedding }) => age(first, present, embedding), first)
          return { first, aged, hasAged: captures.length > 0, last: photos.at(-1)!.embedding }
        })
        const grown = users.filter(({ hasAged }) => hasAged)
        const missedBy = (of: 'first' | 'aged') =>
          grown.filter((user) => score(user[of], user.last) < threshold).length
        const matchedBy = (of: 'first' | 'aged') =>
          grown.flatMap((user) =>
            users.filter((other) => other !== user && score(user[of], other.last) >= threshold),
          ).length
        const trials = grown.length * (users.length - 1)
        const [missed, missedAged] = [missedBy('first'), missedBy('aged')]
        const [matched, matchedAged] = [matchedBy('first'), matchedBy('aged')]
        console.log(`at ${fmr}: ${grown.length} of ${users.length} references took captures in`)
        console.log(
          `misses as enrolled ${rate(missed, grown.length)}; aged ${rate(missedAged, grown.length)}`,
        )
        console.log(
          `matches of strangers as enrolled ${rate(matched, trials)}; aged ${rate(matchedAged, trials)}`,
        )
        expect(missedAged).toBeLessThanOrEqual(missed)
        expect(exactInterval(matchedAged, trials)[0]).toBeLessThanOrEqual(10 * fmr)
      },
    )

    it.each(RATES)(
      'are walked by real photos to fewer strangers than ten times the rate %d allows',
      (fmr) => {
        const { threshold } = thresholdForFmr(pack, fmr)
        const strict = strictBound(fmr)
        const counts = { pairs: 0, begun: 0, bounded: 0, unbounded: 0 }
        for (const { victim, other, face } of strangers(threshold)) {
          const first = victim[0]!.embedding
          // The attacker has every photo of both, and gives the one that brings the template nearest.
          const photos = [...victim.slice(1), ...other.slice(0, -1)].filter(({ isSound }) => isSound)
          const walk = (limits: AgeingBounds, near: (present: Embedding) => Embedding) => {
            let present = first
            for (let i = 0; i < WALK; i++) {
              const nexts = photos
                .filter(({ embedding }) => score(near(present), embedding) >= strict)
                .map(({ embedding }) => age(first, present, embedding, limits))
              const best = nexts.reduce((a, b) => (score(b, face) > score(a, face) ? b : a), present)
              if (score(best, face) - score(present, face) < LEAST_GAIN) break
              present = best
            }
            return present
          }
          counts.pairs++
          if (other.slice(0, -1).some(({ embedding }) => score(first, embedding) >= strict)) counts.begun++
          if (
            score(
              walk(bounds, () => first),
              face,
            ) >= threshold
          )
            counts.bounded++
          if (
            score(
              walk({ ...bounds, fromFirst: Number.POSITIVE_INFINITY }, (present) => present),
              face,
            ) >= threshold
          )
            counts.unbounded++
        }
        console.log(
          `at ${fmr}, real photos, ${counts.pairs} pairs of strangers, ${counts.begun} with a first strong match`,
        )
        console.log(`walked with the bounds ${rate(counts.bounded, counts.pairs)}`)
        console.log(`walked without them ${rate(counts.unbounded, counts.pairs)}`)
        expect(exactInterval(counts.bounded, counts.pairs)[0]).toBeLessThanOrEqual(9 * fmr)
      },
    )

    it.each(RATES)(
      'are walked by chosen embeddings to nobody whom the first template refuses at ten times the rate %d',
      (fmr) => {
        const { threshold } = thresholdForFmr(pack, fmr)
        const laxer = thresholdForFmr(pack, 10 * fmr).threshold
        const strict = distanceOfScore(pack, strictBound(fmr))
        const towards = (from: Embedding, to: Embedding) =>
          agedTemplate(
            pack,
            { fromFirst: Number.POSITIVE_INFINITY, step: strict },
            { first: from, present: from, capture: to },
          )
        const counts = { pairs: 0, bounded: 0, unbounded: 0, beyond: 0 }
        const steps: number[] = []
        for (const { victim, face } of strangers(threshold)) {
          const first = victim[0]!.embedding
          counts.pairs++
          // The strongest attacker makes a capture that just passes, and lies straight on the way to the own face.
          let present = first
          for (let i = 0; i < WALK; i++) {
            const before = score(present, face)
            present = age(first, present, towards(first, face))
            if (score(present, face) - before < LEAST_GAIN) break
          }
          if (score(present, face) >= threshold) {
            counts.bounded++
            if (score(first, face) < laxer - 1e-6) counts.beyond++
          }
          present = first
          const limits = { ...bounds, fromFirst: Number.POSITIVE_INFINITY }
          let taken = 0
          for (; taken < WALK && score(present, face) < threshold; taken++)
            present = age(first, present, towards(present, face), limits)
          if (score(present, face) >= threshold) {
            counts.unbounded++
            steps.push(taken)
          }
        }
        const median = steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)]!
        console.log(`at ${fmr}, chosen embeddings, ${counts.pairs} pairs of strangers`)
        console.log(`walked with the bounds ${rate(counts.bounded, counts.pairs)}`)
        console.log(
          `walked without them ${rate(counts.unbounded, counts.pairs)}, in ${median} captures by the median`,
        )
        expect(counts.beyond).toBe(0)
        expect(counts.unbounded).toBe(counts.pairs)
        expect(exactInterval(counts.bounded, counts.pairs)[0]).toBeLessThanOrEqual(10 * fmr)
      },
    )
  },
)
