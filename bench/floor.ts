/**
 * The floor suite: the service at saturation against the bare kernel loop, in turns, on the same images. Units:
 * verifications per second with all workers busy, and milliseconds (p50) for one caller.
 */

import { loadConfig } from '../src/app/configuration.js'
import { engineOptions } from '../src/app/engine-options.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import type { CpuTimes } from './lib/cpu-times.js'
import { HelperProcess } from './lib/helper-process.js'
import { ENGINE_BATCH, type KernelOrder, type KernelResult } from './lib/kernel-orders.js'
import { startLoadGenerator } from './lib/load-generator.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { cutIntoRounds } from './lib/rounds.js'
import { type RunningService, startService } from './lib/service-process.js'
import { median, ratePerSecond, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

/**
 * Maximum number of rounds of each contender; their order changes every time. There are many short rounds because the
 * speed of shared machines drifts.
 */
const ROUNDS = 16
/** Share of the measuring time that goes to one caller instead of saturation. */
const SINGLE_SHARE = 0.2
/** Seconds at the start of each round in which caches, clock rates and queues settle. */
const WARM_UP_SECONDS = 0.5
/** Seconds of load before the first round. */
const SETTLING_SECONDS = 10
/** Callers per worker: enough that a worker never waits for the network, far fewer than the queue holds. */
const CALLERS_PER_WORKER = 6
/**
 * Number of users: no user verifies twice at once, and each only a few times in the whole run, as in a day, because
 * each capture is compared with those before.
 */
const USERS = 2048
/** Target of the service's rate, as a share of the bare loop's. */
const TARGET_RATIO = 0.95

interface Round {
  perSecond: number
  /** CPU time per verification, in milliseconds; null where the system does not report it. */
  cpuMs: number | null
  mainThreadCpuMs: number | null
  /** The load generator's CPU time, as a share of one core; 0 for the bare loop. */
  loadShare: number
  loadCpuMs: number | null
}

export const floor: Suite = {
  name: 'floor',
  description: 'verifications per second of the service against the bare kernel loop',
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds, cpuProfileDir }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const service = await startService({ pack, cpuProfileDir }, enrolImages[0]!)
    const target = { origin: service.production, key: service.key }
    const load = startLoadGenerator()
    const kernel = HelperProcess.start<KernelOrder, KernelResult>(
      new URL('./lib/kernel-process.js', import.meta.url),
    )
    const { limits, executionProviders } = engineOptions(loadConfig({}))
    const { workers } = service
    const provider = executionProviders[0] ?? 'cpu'
    const setup = { pack, provider, limits, enrolImage: enrolImages[0]!, images }
    await kernel.ask({ type: 'load', threads: workers, ...setup })
    await load.ask({ type: 'enrol', target, users: USERS, images: enrolImages })

    const askService = (callers: number, roundSeconds: number) =>
      load.ask({
        type: 'verify',
        target,
        users: USERS,
        images,
        callers,
        warmUpSeconds: WARM_UP_SECONDS,
        seconds: roundSeconds,
      })
    const askKernel = (threads: number, picturesAtOnce: number, roundSeconds: number) =>
      kernel.ask({
        type: 'loop',
        threads,
        picturesAtOnce,
        warmUpSeconds: WARM_UP_SECONDS,
        seconds: roundSeconds,
      })

    // The service's JavaScript must be compiled first, as in operation; the native kernels are from the start.
    await askService(CALLERS_PER_WORKER * workers, SETTLING_SECONDS)

    const progress = progressSteps('floor')
    const saturated = cutIntoRounds(seconds * (1 - SINGLE_SHARE), 3, ROUNDS)
    const single = cutIntoRounds(seconds * SINGLE_SHARE, 2, ROUNDS)
    const steps = 3 * saturated.count + 2 * single.count
    let step = 0
    const inTurns = async (label: string, first: boolean, contenders: Array<() => Promise<void>>) => {
      for (const contender of first ? contenders : contenders.toReversed()) {
        progress.update(step++, steps, label)
        await contender()
      }
    }
    const rounds: { service: Round[]; floor: Round[]; batched: Round[] } = {
      service: [],
      floor: [],
      batched: [],
    }
    const singleMs: { service: number[]; floor: number[] } = { service: [], floor: [] }
    try {
      for (let turn = 0; turn < saturated.count; turn++) {
        await inTurns('all workers busy', turn % 2 === 0, [
          async () =>
            void rounds.service.push(
              await measureService(service, () =>
                askService(CALLERS_PER_WORKER * workers, saturated.seconds),
              ),
            ),
          async () => void rounds.floor.push(toRound(await askKernel(workers, 1, saturated.seconds))),
          async () =>
            void rounds.batched.push(toRound(await askKernel(workers, ENGINE_BATCH, saturated.seconds))),
        ])
      }
      for (let turn = 0; turn < single.count; turn++) {
        await inTurns('one caller', turn % 2 === 0, [
          async () => void singleMs.service.push(...(await askService(1, single.seconds)).latenciesMs.verify),
          async () => void singleMs.floor.push(...(await askKernel(1, 1, single.seconds)).latenciesMs),
        ])
      }
      progress.update(steps, steps, 'done')
    } finally {
      progress.stop()
    }
    await load.stop()
    await kernel.stop()
    await service.stop()

    const ratios = rounds.service.map(({ perSecond }, i) => perSecond / rounds.floor[i]!.perSecond)
    const batchedPerSecond = median(rounds.batched.map(({ perSecond }) => perSecond))
    const batchedRatio = median(
      rounds.service.map(({ perSecond }, i) => perSecond / rounds.batched[i]!.perSecond),
    )
    const cpu = {
      service: medianOf(rounds.service.map(({ cpuMs }) => cpuMs)),
      floor: medianOf(rounds.floor.map(({ cpuMs }) => cpuMs)),
      main: medianOf(rounds.service.map(({ mainThreadCpuMs }) => mainThreadCpuMs)),
      load: medianOf(rounds.service.map(({ loadCpuMs }) => loadCpuMs)),
    }
    const summary = {
      service_per_s: round(median(rounds.service.map(({ perSecond }) => perSecond)), 2),
      floor_per_s: round(median(rounds.floor.map(({ perSecond }) => perSecond)), 2),
      ratio: round(median(ratios), 4),
      service_p50_ms: round(median(singleMs.service), 3),
      floor_p50_ms: round(median(singleMs.floor), 3),
      batched_floor_per_s: round(batchedPerSecond, 2),
      batched_ratio: round(batchedRatio, 4),
      service_cpu_ms: roundedOrNull(cpu.service),
      main_thread_ms: roundedOrNull(cpu.main),
    }
    const loadShare = median(rounds.service.map((one) => one.loadShare))
    return {
      suite: 'floor',
      model: pack.modelId,
      seconds,
      summary,
      tables: [
        {
          title: `The service against the bare kernel loop, ${workers} threads each`,
          rows: [
            ['', 'service', 'bare loop', 'service / loop'],
            [
              'verifications per second, all workers busy',
              summary.service_per_s.toFixed(1),
              summary.floor_per_s.toFixed(1),
              percent(summary.ratio),
            ],
            [
              `the same, the bare loop with ${ENGINE_BATCH} pictures at once in each thread`,
              summary.service_per_s.toFixed(1),
              batchedPerSecond.toFixed(1),
              percent(batchedRatio),
            ],
            [
              'one caller, p50, ms',
              summary.service_p50_ms.toFixed(2),
              summary.floor_p50_ms.toFixed(2),
              percent(summary.service_p50_ms / summary.floor_p50_ms),
            ],
            [
              'CPU per verification, all threads, ms',
              milliseconds(cpu.service),
              milliseconds(cpu.floor),
              cpu.service && cpu.floor ? percent(cpu.service / cpu.floor) : '–',
            ],
            ['CPU per verification, main thread, ms', milliseconds(cpu.main), '–', '–'],
            ['CPU per verification, load generator, ms', milliseconds(cpu.load), '–', '–'],
          ],
        },
        {
          title: 'Rounds, verifications per second',
          rows: [
            ['round', 'service', 'bare loop', 'service / loop', `bare loop, ${ENGINE_BATCH} at once`],
            ...ratios.map((ratio, i) => [
              String(i + 1),
              rounds.service[i]!.perSecond.toFixed(1),
              rounds.floor[i]!.perSecond.toFixed(1),
              percent(ratio),
              rounds.batched[i]!.perSecond.toFixed(1),
            ]),
          ],
        },
      ],
      charts: [
        {
          title: 'All workers busy',
          unit: 'verifications per second',
          bars: [
            { label: 'service', value: summary.service_per_s },
            { label: 'bare loop', value: summary.floor_per_s, pale: true },
            { label: `bare loop, ${ENGINE_BATCH} at once`, value: round(batchedPerSecond, 2), pale: true },
          ],
        },
        {
          title: 'One caller, p50',
          unit: 'ms',
          bars: [
            { label: 'service', value: summary.service_p50_ms },
            { label: 'bare loop', value: summary.floor_p50_ms, pale: true },
          ],
        },
      ],
      notes: [
        `Images: ${describeSizes(images)}. ${CALLERS_PER_WORKER * workers} callers in a closed loop, ${USERS} users, idempotency keys. The bare loop decodes, detects, aligns, embeds and matches the same images, one after the other in each thread; the service can do more than it, because a worker embeds the faces of several requests in one run.`,
        'One caller: the bare loop has one thread, as the service has one busy worker.',
        `The load generator runs on the same cores and took ${percent(loadShare)} of one core while the service was measured.`,
        `The ratio is the median of the rounds' ratios (our target: at least ${percent(TARGET_RATIO)}).`,
      ],
      details: {
        workers,
        rounds,
        single_samples: { service: singleMs.service.length, floor: singleMs.floor.length },
      },
      failures: [],
    }
  },
}

async function measureService(
  service: RunningService,
  ask: () => ReturnType<ReturnType<typeof startLoadGenerator>['ask']>,
): Promise<Round> {
  const before = service.cpuTimes()
  const { verifiedAtMs, latenciesMs, requests, cpuMs, wallMs } = await ask()
  const after = service.cpuTimes()
  const perRequest = (part: keyof CpuTimes) => before && after && (after[part] - before[part]) / requests
  return {
    perSecond: ratePerSecond(verifiedAtMs),
    cpuMs: perRequest('all'),
    mainThreadCpuMs: perRequest('mainThread'),
    loadShare: cpuMs / wallMs,
    loadCpuMs: cpuMs / latenciesMs.verify.length,
  }
}

function toRound({ doneAtMs, latenciesMs, cpuMs }: KernelResult): Round {
  return {
    perSecond: ratePerSecond(doneAtMs),
    cpuMs: cpuMs / latenciesMs.length,
    mainThreadCpuMs: null,
    loadShare: 0,
    loadCpuMs: null,
  }
}

function medianOf(values: ReadonlyArray<number | null>): number | null {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? median(known) : null
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : round(value, 3)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : value.toFixed(2)
}
