/** The soak: a steady mixture of all calls over an hour, while the engine is killed now and then; what grows, and what is lost. */
import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { progressSteps } from '../src/cli/progress.js'
import { packageFile } from '../src/package-root.js'
import { takeCaptures, takeStrangers } from './lib/captures.js'
import { drawLinePlots, type LinePlot } from './lib/line-plots.js'
import { childrenOf, readServiceVitals, type ServiceVitals } from './lib/process-vitals.js'
import { robustSlope } from './lib/robust-slope.js'
import { startService } from './lib/service-process.js'
import { missingEffects } from './lib/soak-ledger.js'
import { CALLS, type Call, SoakLoad, type Window } from './lib/soak-load.js'
import { carriedPercentile, median, round, shown, TOO_FEW_SAMPLES } from './lib/statistics.js'
import type { Suite } from './suite.js'

const SAMPLE_MS = 10_000
const MINUTE_MS = 60_000
/** Caches fill first. */
const WARM_UP_MINUTES = 10
/** Of an engine, whose arenas grow with the first captures of each kind. */
const ENGINE_WARM_UP_MINUTES = 3
/** Below it, a slope says nothing. */
const JUDGED_FROM_MINUTES = 20
const KILL_EVERY_MINUTES = 5
/** In runs too short for that. */
const FEWEST_KILLS = 3
/** The share at the end in which nothing is killed, so that one engine lives long. */
const UNDISTURBED = 0.4
/** More than what a sample moves by itself, and less than what would fill a machine within a month. */
const MOST_MB_PER_HOUR = 16
const MOST_DESCRIPTORS_PER_HOUR = 3
const MINUTES_PER_HOUR = 60
/** A mebibyte in megabytes. */
const MB_PER_MIB = 2 ** 20 / 1e6

interface Sample extends ServiceVitals {
  minute: number
}

interface Minute extends Sample {
  window: Window
  loadAverage: number
}

export const soak: Suite = {
  name: 'soak',
  description: 'an hour of all calls, engines killed: memory, descriptors, latency by minute',
  defaultSeconds: 3600,
  async run({ pack, cpuProfileDir, soakMinutes: minutes, soakRate: rate }) {
    const captures = await takeCaptures()
    const strangers = await takeStrangers()
    const service = await startService({ pack, cpuProfileDir }, captures.verifyImages[0]!)
    const load = new SoakLoad(service, captures, strangers)
    const progress = progressSteps('soak')
    const samples: Sample[] = []
    const byMinute: Minute[] = []
    const killedAt: number[] = []
    const killEvery = Math.min(KILL_EVERY_MINUTES, (minutes * (1 - UNDISTURBED)) / (FEWEST_KILLS + 1))
    const warmUpMinutes = Math.min(WARM_UP_MINUTES, minutes / 6)
    const startedMs = performance.now()
    const elapsedMinutes = () => (performance.now() - startedMs) / MINUTE_MS
    let over = false
    const work = load.run(rate, minutes * 60).finally(() => {
      over = true
    })
    // Its failure is told by the `await` below.
    work.catch(() => {})
    while (!over) {
      await Promise.race([work.catch(() => {}), sleep(SAMPLE_MS)])
      const vitals = await readServiceVitals(service.pid, {
        dataDir: service.dataDir,
        metricsUrl: `${service.admin}/metrics`,
      })
      const sample = { minute: elapsedMinutes(), ...vitals }
      samples.push(sample)
      if (sample.minute >= byMinute.length + 1 || over) {
        byMinute.push({ ...sample, window: load.takeWindow(), loadAverage: loadavg()[0]! })
        progress.update(Math.min(sample.minute, minutes), minutes, `minute ${byMinute.length}`)
      }
      if (sample.minute >= (killedAt.length + 1) * killEvery && sample.minute < minutes * (1 - UNDISTURBED)) {
        for (const engine of childrenOf(service.pid)) process.kill(engine, 'SIGKILL')
        killedAt.push(sample.minute)
      }
    }
    progress.stop()
    await work
    await load.settle()
    await service.stop()
    const { problems, effects } = load.ledger
    const lost = missingEffects(service.dataDir, load.ledger)
    await promisify(execFile)(process.execPath, [packageFile('dist/src/cli/main.js'), 'audit', 'verify'], {
      env: { ...process.env, COUNTERSIGN_DATA_DIR: service.dataDir },
    }).catch((error: Error) => problems.push(`audit verify: ${error.message}`))

    const slopes = slopesOf(samples, warmUpMinutes)
    const isJudged = minutes >= JUDGED_FROM_MINUTES
    const calls = Object.fromEntries(
      CALLS.map((call) => [call, byMinute.flatMap(({ window }) => window.latenciesMs[call])]),
    ) as Record<Call, number[]>
    const refusals: Record<string, number> = {}
    for (const { window } of byMinute)
      for (const [code, count] of Object.entries(window.refusals))
        refusals[code] = (refusals[code] ?? 0) + count
    const answered = Object.values(calls).reduce((sum, { length }) => sum + length, 0)
    return {
      suite: 'soak',
      model: `${pack.manifest.id}@${pack.manifest.version}`,
      seconds: minutes * 60,
      summary: {
        minutes,
        per_s: rate,
        answered,
        refusals,
        skipped: byMinute.reduce((sum, { window }) => sum + window.skipped, 0),
        engine_kills: killedAt.length,
        acknowledged: effects.length,
        lost: lost.length,
        problems: problems.length,
        service_mb_per_hour: slopes.serviceMb,
        engine_mb_per_hour: slopes.engineMb,
        heap_mb_per_hour: slopes.heapMb,
        service_descriptors_per_hour: slopes.serviceDescriptors,
        engine_descriptors_per_hour: slopes.engineDescriptors,
      },
      tables: [
        {
          title: 'By call',
          rows: [
            ['call', 'answers', 'p50, ms', 'p95, ms', 'p99, ms', 'longest, ms'],
            ...CALLS.filter((call) => calls[call].length > 0).map((call) => [
              call,
              String(calls[call].length),
              ...[0.5, 0.95, 0.99].map((share) => shown(carriedPercentile(calls[call], share), 1)),
              Math.max(...calls[call]).toFixed(1),
            ]),
          ],
        },
        { title: 'By minute', rows: minuteRows(byMinute) },
      ],
      picture: drawLinePlots('soak', plotsOf(samples, byMinute)),
      notes: [
        TOO_FEW_SAMPLES,
        `${rate} calls a second arrive at a steady rate, whatever became of those before (unless 15 seconds' worth of them are under way: then they are skipped, and counted), from one client process on the same machine; latency counts from when a call was due. The load average by minute says what else wanted the cores.`,
        `The engine's process was killed ${killedAt.length} times, every ${round(killEvery, 1)} minutes, and then left alone for the last ${(UNDISTURBED * 100).toFixed(0)} % of the time. Refusals are the calls that the service turned away meanwhile, or did not answer within the client's 15 seconds; refused effects were asked for again with their idempotency key.`,
        `Slopes are Theil–Sen estimates over samples every ${SAMPLE_MS / 1000} s: of the service after the first ${round(warmUpMinutes, 1)} minutes, of the engine within the lives of its processes, from ${ENGINE_WARM_UP_MINUTES} minutes of age. ${isJudged ? `More than ${MOST_MB_PER_HOUR} MB or ${MOST_DESCRIPTORS_PER_HOUR} descriptors an hour fails the run.` : `They are not judged below ${JUDGED_FROM_MINUTES} minutes.`}`,
        'After the load, every live enrolment was replayed and every erasure repeated, the stopped database was checked, and each acknowledged effect looked up in the audit log.',
      ],
      details: { killedAt, samples, slopes, byMinute: byMinute.map(withoutSamples), problems, lost },
      failures: [
        ...lost,
        ...problems,
        ...(isJudged ? tooSteep(slopes) : []),
        ...(answered === 0 ? ['no call was answered'] : []),
      ],
    }
  },
}

interface Slopes {
  serviceMb: number | null
  heapMb: number | null
  engineMb: number | null
  serviceDescriptors: number | null
  engineDescriptors: number | null
}

/** Per hour. */
function slopesOf(samples: readonly Sample[], warmUpMinutes: number): Slopes {
  const warm = samples.filter(({ minute }) => minute >= warmUpMinutes)
  const perHour = (lives: Sample[][], value: (sample: Sample) => number) => {
    const slope = robustSlope(
      lives.map((life) => life.map((one) => ({ x: one.minute / MINUTES_PER_HOUR, y: value(one) }))),
    )
    return slope === null ? null : round(slope, 2)
  }
  const pids = new Set(samples.flatMap(({ engine }) => engine?.pid ?? []))
  const engines = [...pids]
    .map((pid) => samples.filter(({ engine }) => engine?.pid === pid))
    .map((life) => life.filter(({ minute }) => minute - life[0]!.minute >= ENGINE_WARM_UP_MINUTES))
  return {
    serviceMb: perHour([warm], ({ service }) => service.residentMib * MB_PER_MIB),
    heapMb: perHour([warm], ({ heapUsedMib }) => heapUsedMib * MB_PER_MIB),
    engineMb: perHour(engines, ({ engine }) => engine!.residentMib * MB_PER_MIB),
    serviceDescriptors: perHour([warm], ({ service }) => service.descriptors),
    engineDescriptors: perHour(engines, ({ engine }) => engine!.descriptors),
  }
}

function tooSteep(slopes: Slopes): string[] {
  const limits: Array<[string, number | null, number, string]> = [
    ["the service's memory", slopes.serviceMb, MOST_MB_PER_HOUR, 'MB'],
    ["the engine's memory", slopes.engineMb, MOST_MB_PER_HOUR, 'MB'],
    ["the service's descriptors", slopes.serviceDescriptors, MOST_DESCRIPTORS_PER_HOUR, ''],
    ["the engine's descriptors", slopes.engineDescriptors, MOST_DESCRIPTORS_PER_HOUR, ''],
  ]
  return limits
    .filter(([, slope, most]) => slope === null || slope > most)
    .map(([what, slope, most, unit]) =>
      slope === null
        ? `${what} could not be judged: no two samples`
        : `${what} grow by ${slope} ${unit} an hour; at most ${most}`,
    )
}

function minuteRows(byMinute: readonly Minute[]): string[][] {
  const p = (samples: number[], share: number) => shown(carriedPercentile(samples, share), 0)
  return [
    [
      'minute',
      'service, MiB',
      'heap, MiB',
      'engine, MiB',
      'descriptors',
      'threads',
      'verify p50, ms',
      'p95, ms',
      'health p95, ms',
      'enroll p95, ms',
      'erase p95, ms',
      'refused',
      'database, MiB',
      'log, MiB',
      'load',
    ],
    ...byMinute.map(({ minute, service, engine, heapUsedMib, window, loadAverage, ...store }) => {
      const { approve, reject, health, enroll, erase } = window.latenciesMs
      return [
        minute.toFixed(1),
        service.residentMib.toFixed(0),
        heapUsedMib.toFixed(0),
        engine?.residentMib.toFixed(0) ?? '–',
        `${service.descriptors} + ${engine?.descriptors ?? 0}`,
        `${service.threads} + ${engine?.threads ?? 0}`,
        p([...approve, ...reject], 0.5),
        p([...approve, ...reject], 0.95),
        p(health, 0.95),
        p(enroll, 0.95),
        p(erase, 0.95),
        String(Object.values(window.refusals).reduce((sum, count) => sum + count, 0)),
        store.databaseMib.toFixed(1),
        store.writeAheadLogMib.toFixed(1),
        loadAverage.toFixed(1),
      ]
    }),
  ]
}

/** Latencies as percentiles: single ones would make the file large. */
function withoutSamples({ window, minute, loadAverage }: Minute) {
  const latencies = CALLS.filter((call) => window.latenciesMs[call].length > 0).map((call) => {
    const samples = window.latenciesMs[call]
    const p95Ms = carriedPercentile(samples, 0.95)
    return [
      call,
      {
        count: samples.length,
        p50_ms: round(median(samples), 2),
        p95_ms: p95Ms === null ? null : round(p95Ms, 2),
      },
    ] as const
  })
  return { minute, loadAverage, refusals: window.refusals, latencies: Object.fromEntries(latencies) }
}

function plotsOf(samples: readonly Sample[], byMinute: readonly Minute[]): LinePlot[] {
  const series = (name: string, value: (sample: Sample) => number | null) =>
    samples.map((sample) => ({ minute: sample.minute, series: name, value: value(sample) }))
  const latency = (call: Call) =>
    byMinute.map(({ minute, window }) => ({
      minute,
      series: call,
      value: carriedPercentile(window.latenciesMs[call], 0.95),
    }))
  return [
    {
      title: 'Memory',
      unit: 'MiB',
      points: [
        ...series('service', ({ service }) => service.residentMib),
        ...series('heap of the service', ({ heapUsedMib }) => heapUsedMib),
        ...series('engine', ({ engine }) => engine?.residentMib ?? null),
      ],
    },
    {
      title: 'Latency by minute, 95th percentile',
      unit: 'ms',
      points: (['approve', 'enroll', 'erase', 'health'] as const).flatMap(latency),
    },
    {
      title: 'Descriptors and threads',
      unit: 'number',
      points: [
        ...series('descriptors of the service', ({ service }) => service.descriptors),
        ...series('descriptors of the engine', ({ engine }) => engine?.descriptors ?? null),
        ...series('threads of the engine', ({ engine }) => engine?.threads ?? null),
      ],
    },
    {
      title: 'Database',
      unit: 'MiB',
      points: [
        ...series('database', ({ databaseMib }) => databaseMib),
        ...series('write-ahead log', ({ writeAheadLogMib }) => writeAheadLogMib),
      ],
    },
  ]
}
