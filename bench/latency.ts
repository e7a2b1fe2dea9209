/**
 * The latency suite: latency of each endpoint at the real service over HTTP for one caller, against the
 * specification's medians; then of verifies that arrive at random at shares of the measured capacity. Unit:
 * milliseconds (p50, p95, p99).
 */
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { type LoadGenerator, startLoadGenerator } from './lib/load-generator.js'
import type { LoadResult, Operation, Refusal } from './lib/load-orders.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { type RunningService, startService } from './lib/service-process.js'
import {
  carriedPercentile,
  type LatencySummary,
  mean,
  median,
  ratePerSecond,
  round,
  shown,
  summariseLatency,
  TOO_FEW_SAMPLES,
} from './lib/statistics.js'
import type { Suite } from './suite.js'

/**
 * Limits in milliseconds. `specified` is the interface specification's median, and a larger one fails the run; `ours`
 * is our own target.
 */
const LIMITS: Record<Operation, { specified: number; ours: number | null }> = {
  enroll: { specified: 310, ours: null },
  verify: { specified: 292, ours: 30 },
  delete: { specified: 40, ours: 2 },
  health: { specified: 5, ours: 2 },
}
/** Target of verify's 99th percentile, as a multiple of its median. */
const TAIL_FACTOR = 3
const WARM_UP_SECONDS = 2

/** Shares of the measuring time: one caller, the capacity, and each arrival rate. */
const SHARES = { oneCaller: 0.4, capacity: 0.1, arrivals: 0.5 } as const
/** Arrival rates, as shares of the measured capacity. */
const UTILISATIONS = [0.25, 0.5, 0.75, 0.9] as const
/** Callers per worker at saturation: enough that a worker never waits for the network. */
const CALLERS_PER_WORKER = 4
/** Number of users: so many that no user's history of captures grows long. */
const USERS = 64
/** Seconds of warm-up at the start of each rate. */
const SETTLE_SECONDS = 0.5

export const latency: Suite = {
  name: 'latency',
  description: 'one caller at the real service, then verifies that arrive at random',
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds, cpuProfileDir }) {
    const { enrolImages, verifyImages } = await takeCaptures()
    const service = await startService({ pack, cpuProfileDir }, enrolImages[0]!)
    const load = startLoadGenerator()
    const progress = progressSteps('latency')
    const target = { origin: service.production, key: service.key }
    const warmUpSeconds = Math.min(WARM_UP_SECONDS, seconds)
    let oneCaller: LoadResult
    let openLoop: OpenLoop
    try {
      oneCaller = await load.ask(
        {
          type: 'lifecycle',
          target,
          enrolImages,
          verifyImages,
          warmUpSeconds,
          seconds: seconds * SHARES.oneCaller,
        },
        (share) => progress.update(Math.round(share * 100), 100, 'one caller'),
      )
      await load.ask({ type: 'enrol', target, users: USERS, images: enrolImages })
      openLoop = await measureArrivals({ service, load, images: verifyImages, seconds }, (done) =>
        progress.update(Math.round(done * 100), 100, 'arrivals'),
      )
    } finally {
      progress.stop()
    }
    const { latenciesMs, verifyStagesMs } = oneCaller
    await load.stop()
    await service.stop()

    const operations = Object.keys(LIMITS) as Operation[]
    const byOperation = Object.fromEntries(
      operations.map((operation) => [operation, summariseLatency(latenciesMs[operation])]),
    ) as Record<Operation, LatencySummary>
    const summary = {
      ...byOperation,
      capacity_per_s: round(openLoop.capacity, 1),
      by_load: Object.fromEntries(
        openLoop.rates.map(({ utilisation, p50_ms, p99_ms }) => [
          `at_${Math.round(utilisation * 100)}_percent`,
          { p50_ms, p99_ms },
        ]),
      ),
    }
    const samples = Object.fromEntries(
      operations.map((operation) => [operation, latenciesMs[operation].length]),
    )
    const rows = operations.map((operation) => {
      const { p50_ms, p95_ms, p99_ms } = summary[operation]
      const { specified, ours } = LIMITS[operation]
      return [
        operation,
        ...[p50_ms, p95_ms, p99_ms].map((ms) => shown(ms, 2)),
        String(samples[operation]),
        `${specified}`,
        ours === null ? '' : `${ours}`,
      ]
    })
    const stages = stageTimes(latenciesMs.verify, verifyStagesMs)
    const { p50_ms: verifyMedian, p99_ms: verifyTail } = summary.verify
    return {
      suite: 'latency',
      model: pack.modelId,
      seconds,
      summary,
      tables: [
        {
          title: 'Milliseconds from the first byte sent to the last byte received, one caller',
          rows: [['endpoint', 'p50', 'p95', 'p99', 'samples', 'specified median', 'our target'], ...rows],
        },
        {
          title: 'Where the time of a verify goes, by the service’s own Server-Timing, milliseconds',
          rows: [
            ['stage', 'mean', 'p50'],
            ...stages.map(({ stage, mean_ms, p50_ms }) => [stage, mean_ms.toFixed(2), p50_ms.toFixed(2)]),
          ],
        },
        {
          title: `Verify by arrival rate, milliseconds since the intended time; capacity ${openLoop.capacity.toFixed(1)} per second`,
          rows: [
            [
              'of capacity',
              'arrivals per s',
              'p50',
              'p95',
              'p99',
              'p99.9',
              'answered',
              'refused (503, 429)',
              'late (504)',
            ],
            ...openLoop.rates.map((rate) => [
              percent(rate.utilisation),
              rate.perSecond.toFixed(1),
              ...[rate.p50_ms, rate.p95_ms, rate.p99_ms, rate.p999_ms].map((ms) => shown(ms, 1)),
              String(rate.answered),
              String(rate.refused),
              String(rate.late),
            ]),
          ],
        },
      ],
      charts: [
        {
          title: 'One caller, p50',
          unit: 'ms',
          bars: operations.map((operation) => ({ label: operation, value: summary[operation].p50_ms })),
        },
        {
          title: 'Verify by arrival rate, p50 and p99 (pale) from the intended time',
          unit: 'ms',
          bars: openLoop.rates.flatMap(({ utilisation, p50_ms, p99_ms }) => [
            { label: `${percent(utilisation)} of capacity, p50`, value: p50_ms ?? 0 },
            ...(p99_ms === null ? [] : [{ label: 'p99', value: p99_ms, pale: true }]),
          ]),
        },
      ],
      notes: [
        'In the second table, “outside” is what the service does not time: HTTP on both sides, JSON, waiting for the event loop.',
        `Images: ${describeSizes([...enrolImages, ...verifyImages])}. Each user is new: enrolled, verified with another picture, deleted.`,
        'Enroll and verify carry an idempotency key. Client and service share the machine; the client’s own share is in the figures.',
        verifyTail === null
          ? `Too few verifies for a 99th percentile: ask for more --seconds.`
          : `The 99th percentile of verify is ${(verifyTail / verifyMedian).toFixed(1)} medians (our target: at most ${TAIL_FACTOR}).`,
        `Capacity is a closed loop of ${CALLERS_PER_WORKER * service.workers} callers. Arrivals are a Poisson process that does not wait for answers; latency counts from when a verify should have been sent, so neither a stalled client nor a queue hides any. The client’s timer adds up to 1 ms.`,
        TOO_FEW_SAMPLES,
      ],
      details: { samples, workers: service.workers, verify_stages: stages, open_loop: openLoop },
      failures: operations
        .filter((operation) => summary[operation].p50_ms > LIMITS[operation].specified)
        .map(
          (operation) =>
            `the median of ${operation} is ${summary[operation].p50_ms} ms; the specification allows ${LIMITS[operation].specified} ms`,
        ),
    }
  },
}

interface ArrivalRate {
  /** Arrival rate as a share of the capacity. */
  utilisation: number
  perSecond: number
  /** Milliseconds; null where too few requests were answered. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
  p999_ms: number | null
  answered: number
  refused: number
  late: number
}

interface OpenLoop {
  /** Verifies per second at saturation. */
  capacity: number
  rates: ArrivalRate[]
}

async function measureArrivals(
  {
    service,
    load,
    images,
    seconds,
  }: { service: RunningService; load: LoadGenerator; images: Buffer[]; seconds: number },
  report: (done: number) => void,
): Promise<OpenLoop> {
  const verifies = {
    target: { origin: service.production, key: service.key },
    users: USERS,
    images,
    warmUpSeconds: SETTLE_SECONDS,
  }
  report(0)
  const saturated = await load.ask({
    type: 'verify',
    ...verifies,
    callers: CALLERS_PER_WORKER * service.workers,
    seconds: seconds * SHARES.capacity,
  })
  const capacity = ratePerSecond(saturated.verifiedAtMs)
  const rates: ArrivalRate[] = []
  for (const utilisation of UTILISATIONS) {
    const perSecond = utilisation * capacity
    const { latenciesMs, refusals } = await load.ask({
      type: 'arrivals',
      ...verifies,
      ratePerSecond: perSecond,
      seconds: (seconds * SHARES.arrivals) / UTILISATIONS.length,
    })
    rates.push({ utilisation, perSecond, ...summariseArrivals(latenciesMs.verify, refusals) })
    report(rates.length / UTILISATIONS.length)
  }
  return { capacity, rates }
}

function summariseArrivals(
  answeredMs: readonly number[],
  refusals: readonly Refusal[],
): Omit<ArrivalRate, 'utilisation' | 'perSecond'> {
  const late = refusals.filter(({ status }) => status === 504).length
  const at = (share: number) => {
    const ms = carriedPercentile(answeredMs, share)
    return ms === null ? null : round(ms, 4)
  }
  return {
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    p99_ms: at(0.99),
    p999_ms: at(0.999),
    answered: answeredMs.length,
    refused: refusals.length - late,
    late,
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

interface StageTime {
  stage: string
  p50_ms: number
  /** Means in milliseconds: unlike medians, they add up. */
  mean_ms: number
}

/** Returns the mean of each stage of the verifies, and the rest of the caller's time. */
function stageTimes(
  verifyMs: readonly number[],
  stagesMs: ReadonlyArray<Record<string, number>>,
): StageTime[] {
  const time = (stage: string, samplesMs: number[]): StageTime => ({
    stage,
    p50_ms: round(median(samplesMs), 3),
    mean_ms: round(mean(samplesMs), 3),
  })
  const outside = stagesMs.map(
    (stages, i) => verifyMs[i]! - Object.values(stages).reduce((sum, ms) => sum + ms, 0),
  )
  return [
    ...Object.keys(stagesMs[0] ?? {}).map((name) =>
      time(
        name,
        stagesMs.map((stages) => stages[name] ?? 0),
      ),
    ),
    time('outside', outside),
  ]
}
