/**
 * The scaling suite: latency (milliseconds), throughput (verifies per second), CPU time and resident memory of the
 * service as pictures, callers and references grow. Each size is measured against the smallest.
 */
import { DEFAULT_TASKS_PER_WORKER } from '../src/biometrics/engine/dispatcher.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, enlarge, takeCaptures } from './lib/captures.js'
import type { CpuTimes } from './lib/cpu-times.js'
import { startLoadGenerator } from './lib/load-generator.js'
import type { LoadResult } from './lib/load-orders.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { copyReference } from './lib/references.js'
import { type RunningService, startService } from './lib/service-process.js'
import { carriedPercentile, median, ratePerSecond, round, shown, TOO_FEW_SAMPLES } from './lib/statistics.js'
import type { Suite } from './suite.js'

/** Pictures as cameras take them; all suites use the first, and the others are enlarged from it. */
const SIZES: ReadonlyArray<{ label: string; enlarged?: readonly [width: number, height: number] }> = [
  { label: 'VGA' },
  { label: '2 MP', enlarged: [1632, 1224] },
  { label: '5 MP', enlarged: [2592, 1944] },
  { label: '12 MP', enlarged: [4000, 3000] },
]
const PICTURES_PER_SIZE = 2
/** Callers, as a multiple of the verifies that the service admits at once. */
const CROWDS = [1, 4, 20] as const
/** Each caller of the largest crowd is a user of its own, so that no user is locked out or has many captures. */
const FEWEST_REFERENCES = 1000
/** Shares of the measuring time, each divided evenly. */
const SHARES = { sizes: 0.3, crowds: 0.4, references: 0.3 } as const
const WARM_UP_SECONDS = 0.5
/** Seconds of warm-up: a crowd arrives all at once, and by then the refused callers have retried once. */
const CROWD_WARM_UP_SECONDS = 2

interface SizeResult {
  label: string
  megabytes: number
  p50Ms: number
  residentMib: number
}

interface CrowdResult {
  times: number
  callers: number
  perSecond: number
  p50Ms: number
  refused: number
  refusalP50Ms: number | null
  refusalP99Ms: number | null
  late: number
  eventLoopDelayP99Ms: number
  residentMib: number
  /**
   * CPU time of the service and of its main thread, as shares of one core; null where the system does not report it.
   */
  serviceShare: number | null
  mainThreadShare: number | null
  /** The load generator's CPU time, as a share of one core. */
  loadShare: number
}

interface ReferencesResult {
  references: number
  p50Ms: number
  /** Null with too few samples. */
  p99Ms: number | null
  residentMib: number
}

export const scaling: Suite = {
  name: 'scaling',
  description: 'verify by image size, callers beyond capacity, references; memory',
  measures: SERVICE_ROOMS,
  defaultSeconds: 40,
  async run({ pack, seconds, cpuProfileDir, references }) {
    const { enrolImages, verifyImages } = await takeCaptures()
    const few = verifyImages.slice(0, PICTURES_PER_SIZE)
    const bySize: Buffer[][] = []
    for (const { enlarged } of SIZES) bySize.push(enlarged ? await enlarge(few, ...enlarged) : few)
    const progress = progressSteps('scaling')
    const counts = powersOfTen(FEWEST_REFERENCES, references)
    const steps = SIZES.length + CROWDS.length + counts.length
    let step = 0
    const announce = (label: string) => progress.update(step++, steps, label)
    const load = startLoadGenerator()
    const start = async (successorOf?: RunningService) => {
      const after = successorOf ? { successorOf } : {}
      const service = await startService({ pack, cpuProfileDir, ...after }, enrolImages[0]!)
      startUpsMs.push(service.startUpMs)
      return service
    }
    const targetOf = ({ production, key }: RunningService) => ({ origin: production, key })

    const startUpsMs: number[] = []
    const sizes: SizeResult[] = []
    const crowds: CrowdResult[] = []
    const counted: ReferencesResult[] = []
    try {
      let service = await start()
      await load.ask({ type: 'enrol', target: targetOf(service), users: 1, images: enrolImages })
      for (const [i, { label }] of SIZES.entries()) {
        announce(label)
        const images = bySize[i]!
        const { latenciesMs } = await load.ask({
          type: 'verify',
          target: targetOf(service),
          users: 1,
          images,
          callers: 1,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds: (seconds * SHARES.sizes) / SIZES.length,
        })
        sizes.push({
          label,
          megabytes: images.reduce((sum, { length }) => sum + length, 0) / images.length / 1e6,
          p50Ms: median(latenciesMs.verify),
          residentMib: (await service.vitals()).residentMib,
        })
      }

      // Rows can only be written while the service is stopped, so each count has a service of its own.
      let enrolled = 1
      for (const count of counts) {
        announce(`${count} references`)
        await service.stop()
        await copyReference(service.dataDir, { from: enrolled, to: count })
        enrolled = count
        service = await start(service)
        const { latenciesMs } = await load.ask({
          type: 'verify',
          target: targetOf(service),
          users: count,
          images: verifyImages,
          callers: 1,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds: (seconds * SHARES.references) / counts.length,
        })
        counted.push({
          references: count,
          p50Ms: median(latenciesMs.verify),
          p99Ms: carriedPercentile(latenciesMs.verify, 0.99),
          residentMib: (await service.vitals()).residentMib,
        })
      }

      const admitted = service.queueLimit + DEFAULT_TASKS_PER_WORKER * service.workers
      for (const times of CROWDS) {
        const callers = times * admitted
        announce(`${callers} callers`)
        crowds.push({
          times,
          callers,
          ...(await crowd(service, () =>
            load.ask({
              type: 'verify',
              target: targetOf(service),
              users: enrolled,
              images: verifyImages,
              callers,
              patient: true,
              warmUpSeconds: CROWD_WARM_UP_SECONDS,
              seconds: (seconds * SHARES.crowds) / CROWDS.length,
            }),
          )),
        })
      }
      progress.update(steps, steps, 'done')
      await load.stop()
      await service.stop()
    } finally {
      progress.stop()
    }

    const fewest = counted[0]!
    const most = counted.at(-1)!
    const alone = crowds[0]!
    return {
      suite: 'scaling',
      model: pack.modelId,
      seconds,
      summary: {
        size_p50_ms: Object.fromEntries(
          sizes.map(({ label, p50Ms }) => [label.toLowerCase().replace(' ', '_'), round(p50Ms, 3)]),
        ),
        crowd_per_s: Object.fromEntries(
          crowds.map(({ times, perSecond }) => [`x${times}`, round(perSecond, 2)]),
        ),
        references_p50_ms: Object.fromEntries(
          counted.map((one) => [String(one.references), round(one.p50Ms, 3)]),
        ),
        resident_mib: round(crowds.at(-1)!.residentMib, 1),
        least_resident_mib: round(Math.min(...[...sizes, ...counted].map((one) => one.residentMib)), 1),
        most_resident_mib: round(
          Math.max(...[...sizes, ...counted, ...crowds].map((one) => one.residentMib)),
          1,
        ),
        start_up_ms: round(median(startUpsMs), 0),
      },
      tables: [
        {
          title: 'Image size, one caller',
          rows: [
            ['JPEG', 'MB', 'verify p50, ms', 'RSS at the end, MiB'],
            ...sizes.map(({ label, megabytes, p50Ms, residentMib }) => [
              label,
              megabytes.toFixed(2),
              p50Ms.toFixed(2),
              residentMib.toFixed(0),
            ]),
          ],
        },
        {
          title: 'References in the database, one caller, a fresh service each',
          rows: [
            ['references', 'verify p50, ms', 'p99, ms', 'RSS at the end, MiB'],
            ...counted.map((one) => [
              String(one.references),
              one.p50Ms.toFixed(2),
              shown(one.p99Ms, 2),
              one.residentMib.toFixed(0),
            ]),
          ],
        },
        {
          title: 'Callers beyond capacity',
          rows: [
            [
              'callers',
              'of what is admitted',
              'verifies per s',
              'of 1×',
              'p50, ms',
              'refused (503, 429)',
              'refusal p50, ms',
              'p99, ms',
              'late (504)',
              'event loop delay p99, ms',
              'service, cores',
              'main thread, cores',
              'client, cores',
              'RSS at the end, MiB',
            ],
            ...crowds.map((one) => [
              String(one.callers),
              `${one.times}×`,
              one.perSecond.toFixed(1),
              `${((one.perSecond / alone.perSecond) * 100).toFixed(1)} %`,
              one.p50Ms.toFixed(0),
              String(one.refused),
              one.refusalP50Ms?.toFixed(2) ?? '–',
              one.refusalP99Ms?.toFixed(2) ?? '–',
              String(one.late),
              one.eventLoopDelayP99Ms.toFixed(1),
              one.serviceShare?.toFixed(2) ?? '–',
              one.mainThreadShare?.toFixed(2) ?? '–',
              one.loadShare.toFixed(2),
              one.residentMib.toFixed(0),
            ]),
          ],
        },
      ],
      charts: [
        {
          title: 'Image size: verify p50',
          unit: 'ms',
          bars: sizes.map(({ label, p50Ms }) => ({ label, value: p50Ms })),
        },
        {
          title: 'References: verify p50',
          unit: 'ms',
          bars: counted.map((one) => ({ label: String(one.references), value: one.p50Ms })),
        },
        {
          title: 'Callers beyond capacity',
          unit: 'verifies per second',
          bars: crowds.map(({ callers, times, perSecond }) => ({
            label: `${callers} callers (${times}×)`,
            value: perSecond,
          })),
        },
      ],
      notes: [
        TOO_FEW_SAMPLES,
        `Images: ${describeSizes(verifyImages)}; the larger ones are the same pictures enlarged, with grain added.`,
        `From ${fewest.references} to ${most.references} references the median went to ${((most.p50Ms / fewest.p50Ms) * 100).toFixed(1)} %. Rows are written by the storage layer into the stopped service’s database; users are taken from all over it.`,
        'The service admits what its workers hold and what its queue takes. A refused caller waits for Retry-After and up to as long again. Client and service share the cores: what the client takes, and what reading the refused requests takes, verifies do not get.',
        'The event loop’s delay is what a 10 ms timer was late.',
        `From the start of the process until it served: ${median(startUpsMs).toFixed(0)} ms, the median of ${startUpsMs.length} starts.`,
      ],
      details: { start_ups_ms: startUpsMs.map((ms) => round(ms, 0)), sizes, crowds, references: counted },
      failures: [],
    }
  },
}

async function crowd(
  service: RunningService,
  ask: () => Promise<LoadResult>,
): Promise<Omit<CrowdResult, 'times' | 'callers'>> {
  // This request starts the next window of the event loop's figures.
  await service.vitals()
  const before = service.cpuTimes()
  const startedMs = performance.now()
  const { verifiedAtMs, latenciesMs, refusals, cpuMs, wallMs } = await ask()
  const elapsedMs = performance.now() - startedMs
  const after = service.cpuTimes()
  const share = (part: keyof CpuTimes) => before && after && (after[part] - before[part]) / elapsedMs
  const { eventLoopDelayP99Ms, residentMib } = await service.vitals()
  const refusedMs = refusals.filter(({ status }) => status !== 504).map(({ elapsedMs }) => elapsedMs)
  return {
    perSecond: ratePerSecond(verifiedAtMs),
    p50Ms: median(latenciesMs.verify),
    refused: refusedMs.length,
    refusalP50Ms: refusedMs.length > 0 ? median(refusedMs) : null,
    refusalP99Ms: carriedPercentile(refusedMs, 0.99),
    late: refusals.length - refusedMs.length,
    eventLoopDelayP99Ms,
    residentMib,
    serviceShare: share('all'),
    mainThreadShare: share('mainThread'),
    loadShare: cpuMs / wallMs,
  }
}

/** Returns `first`, ten times that, …, and `last` itself. */
function powersOfTen(first: number, last: number): number[] {
  const counts: number[] = []
  for (let count = first; count < last; count *= 10) counts.push(count)
  return [...counts, last]
}
