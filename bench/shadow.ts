/**
 * The shadow suite: two services over HTTP, of which one shows every verify to a candidate, in turns. Units: milliseconds of a verify
 * (p50, p99) for verifies that arrive at random, and CPU time for one verify.
 */
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { startLoadGenerator } from './lib/load-generator.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { cutIntoRounds } from './lib/rounds.js'
import { type RunningService, startService } from './lib/service-process.js'
import { median, percentile, ratePerSecond, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

/** Arrival rates, as shares of the capacity that the plain service has for one caller at a time. */
const UTILISATIONS = [0.2, 0.5] as const
/** Maximum number of rounds of each service and rate: the speed of shared machines drifts. */
const ROUNDS = 12
/** Number of users: so many that no user's history of captures grows long. */
const USERS = 64
const SETTLE_SECONDS = 0.5
/** The candidate looks at every verify with another bound, which costs as much as the verify itself. */
const CANDIDATE = { COUNTERSIGN_SHADOW_MIN_FACE_PX: '40', COUNTERSIGN_SHADOW_SHARE: '1' }

interface Contender {
  name: string
  service: RunningService
  /** One list for each utilisation. */
  verifyMs: number[][]
  /** Medians of the rounds, one list for each utilisation. */
  medians: number[][]
  cpuMs: number[][]
}

export const shadow: Suite = {
  name: 'shadow',
  description: 'a service with a candidate in shadow against one without',
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const start = async (name: string, settings: Record<string, string>): Promise<Contender> => ({
      name,
      service: await startService({ pack, settings }, enrolImages[0]!),
      ...{ verifyMs: UTILISATIONS.map(() => []), medians: UTILISATIONS.map(() => []) },
      cpuMs: UTILISATIONS.map(() => []),
    })
    const contenders = [await start('without', {}), await start('with a candidate', CANDIDATE)]
    const [without, withCandidate] = contenders as [Contender, Contender]
    const load = startLoadGenerator()
    const targetOf = ({ service }: Contender) => ({ origin: service.production, key: service.key })
    for (const contender of contenders)
      await load.ask({ type: 'enrol', target: targetOf(contender), users: USERS, images: enrolImages })
    const verifies = { users: USERS, images, warmUpSeconds: SETTLE_SECONDS }
    const closed = { type: 'verify' as const, ...verifies, callers: 1, seconds: 3 }
    const alone = await load.ask({ ...closed, target: targetOf(without) })
    const capacity = ratePerSecond(alone.verifiedAtMs)
    const rounds = cutIntoRounds(seconds / UTILISATIONS.length, contenders.length, ROUNDS)
    const progress = progressSteps('shadow')
    for (let step = 0; step < rounds.count; step++) {
      progress.update(step, rounds.count, 'arrivals')
      for (const [index, utilisation] of UTILISATIONS.entries())
        for (const contender of step % 2 === 0 ? contenders : contenders.toReversed()) {
          const before = contender.service.cpuTimes()?.all ?? Number.NaN
          const target = targetOf(contender)
          const order = { type: 'arrivals' as const, ...verifies, target, seconds: rounds.seconds }
          const { latenciesMs, requests } = await load.ask({
            ...order,
            ratePerSecond: utilisation * capacity,
          })
          const after = contender.service.cpuTimes()?.all ?? Number.NaN
          contender.verifyMs[index]!.push(...latenciesMs.verify)
          contender.medians[index]!.push(median(latenciesMs.verify))
          contender.cpuMs[index]!.push((after - before) / requests)
        }
    }
    progress.stop()
    const seen = await shadowCounts(withCandidate.service)
    await load.stop()
    for (const { service } of contenders) await service.stop()

    const rates = UTILISATIONS.map((utilisation, index) => {
      const at = (contender: Contender, share: number) => percentile(contender.verifyMs[index]!, share)
      const ratios = withCandidate.medians[index]!.map((ms, i) => ms / without.medians[index]![i]!)
      return {
        utilisation,
        without_p50_ms: round(at(without, 0.5), 2),
        with_p50_ms: round(at(withCandidate, 0.5), 2),
        without_p99_ms: round(at(without, 0.99), 2),
        with_p99_ms: round(at(withCandidate, 0.99), 2),
        p50_ratio: round(median(ratios), 3),
        p99_ratio: round(at(withCandidate, 0.99) / at(without, 0.99), 3),
        without_cpu_ms: round(median(without.cpuMs[index]!), 1),
        with_cpu_ms: round(median(withCandidate.cpuMs[index]!), 1),
        verifies: withCandidate.verifyMs[index]!.length,
      }
    })
    return {
      suite: 'shadow',
      model: pack.modelId,
      seconds,
      summary: {
        ...seen,
        ...Object.fromEntries(rates.map((rate) => [`at_${rate.utilisation * 100}_percent`, rate])),
      },
      tables: [
        {
          title: `${pack.modelId}; ${without.service.workers} workers; verifies that arrive at random, milliseconds`,
          rows: [
            [
              'of one caller’s rate',
              'p50 without',
              'p50 with',
              'p99 without',
              'p99 with',
              'CPU without',
              'CPU with',
            ],
            ...rates.map((rate) => [
              `${rate.utilisation * 100} %`,
              rate.without_p50_ms.toFixed(1),
              `${rate.with_p50_ms.toFixed(1)} (× ${rate.p50_ratio})`,
              rate.without_p99_ms.toFixed(1),
              `${rate.with_p99_ms.toFixed(1)} (× ${rate.p99_ratio})`,
              rate.without_cpu_ms.toFixed(1),
              rate.with_cpu_ms.toFixed(1),
            ]),
          ],
        },
      ],
      notes: [
        `Images: ${describeSizes(images)}. The candidate is another bound of the face’s width and sees every verify: ${seen.compared} were compared, ${seen.dropped} dropped for want of an idle worker.`,
        'The ratio of medians is the median over rounds in turns. CPU is the time of all threads of service and engine for one verify.',
      ],
      details: { rates, workers: without.service.workers, capacity_per_s: round(capacity, 1) },
      failures: [],
    }
  },
}

/** Reads how many verifies the candidate compared, and how many were dropped, from the metrics of the service. */
async function shadowCounts({ admin }: RunningService): Promise<{ compared: number; dropped: number }> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((total, [, count]) => total + Number(count), 0)
  return {
    compared: sum(/^countersign_shadow_verdicts_total\{.*\} (\d+)/gm),
    dropped: sum(/^countersign_shadow_uncompared_total\{.*reason="dropped".*\} (\d+)/gm),
  }
}
