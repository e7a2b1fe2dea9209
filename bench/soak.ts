/**
 * The soak: a steady mixture of all calls over an hour, while the engine is killed now and then. Reports growth of
 * memory and descriptors per hour, latency by minute in milliseconds, and lost effects.
 */
import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { progressSteps } from '../src/cli/lib/progress.js'
import { packageFile } from '../src/lib/package-root.js'
import { takeCaptures, takeStrangers } from './lib/captures.js'
import { drawLinePlots } from './lib/line-plots.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { childrenOf, readServiceVitals } from './lib/process-vitals.js'
import { startService } from './lib/service-process.js'
import {
  JUDGED_FROM_MINUTES,
  MAX_DESCRIPTORS_PER_HOUR,
  MAX_MB_PER_HOUR,
  type Sample,
  slopesOf,
  tooSteep,
  warmUpOf,
} from './lib/soak-growth.js'
import { missingEffects } from './lib/soak-ledger.js'
import { CALLS, type SoakCall, SoakLoad } from './lib/soak-load.js'
import { type Minute, minuteRows, plotsOf, withoutSamples } from './lib/soak-report.js'
import { carriedPercentile, round, shown, TOO_FEW_SAMPLES } from './lib/statistics.js'
import type { Suite } from './suite.js'

const SAMPLE_MS = 10_000
const MINUTE_MS = 60_000
const KILL_EVERY_MINUTES = 5
/** Minimum number of kills, in runs too short for the interval. */
const MIN_KILLS = 3
/** Share of the time at the end without a kill, so that one engine process lives long. */
const UNDISTURBED = 0.4
/** Call rate as a share of the machine's capacity, if none is requested. */
const SHARE_OF_CAPACITY = 0.7
const CAPACITY_SECONDS = 30
/** Calls at once per worker: as many as a worker holds, since fewer would leave it waiting. */
const UNDER_WAY_PER_WORKER = 4

export const soak: Suite = {
  name: 'soak',
  description: 'an hour of all calls, engines killed: memory, descriptors, latency by minute',
  measures: SERVICE_ROOMS,
  defaultSeconds: 3600,
  async run({ pack, cpuProfileDir, soakMinutes: minutes, soakRate, keepPartial }) {
    const captures = await takeCaptures()
    const strangers = await takeStrangers()
    const service = await startService({ pack, cpuProfileDir }, captures.verifyImages[0]!)
    const load = new SoakLoad(service, captures, strangers)
    const progress = progressSteps('soak')
    progress.update(0, minutes, soakRate ? 'starting' : 'measuring the capacity')
    const capacity = soakRate
      ? null
      : await load.measureCapacity(service.workers * UNDER_WAY_PER_WORKER, CAPACITY_SECONDS)
    const rate = soakRate ?? round(SHARE_OF_CAPACITY * capacity!, 1)
    const samples: Sample[] = []
    const byMinute: Minute[] = []
    const killedAt: number[] = []
    const killEvery = Math.min(KILL_EVERY_MINUTES, (minutes * (1 - UNDISTURBED)) / (MIN_KILLS + 1))
    const warmUpMinutes = warmUpOf(minutes)
    const startedMs = performance.now()
    const elapsedMinutes = () => (performance.now() - startedMs) / MINUTE_MS
    let over = false
    const work = load.run(rate, minutes * 60).finally(() => {
      over = true
    })
    // The `await` below reports its failure.
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
        progress.update(Math.min(byMinute.length, minutes), minutes, 'minutes')
        keepPartial({ rate, killedAt, samples, byMinute: byMinute.map(withoutSamples) })
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
    const { problems, effects } = load.core
    const lost = missingEffects(service.dataDir, load.core)
    await promisify(execFile)(process.execPath, [packageFile('dist/src/cli/main.js'), 'audit', 'verify'], {
      env: { ...process.env, COUNTERSIGN_DATA_DIR: service.dataDir },
    }).catch((error: Error) => problems.push(`audit verify: ${error.message}`))

    const slopes = slopesOf(samples, warmUpMinutes)
    const isJudged = minutes >= JUDGED_FROM_MINUTES
    const calls = Object.fromEntries(
      CALLS.map((call) => [call, byMinute.flatMap(({ window }) => window.latenciesMs[call])]),
    ) as Record<SoakCall, number[]>
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
        capacity_per_s: capacity === null ? null : round(capacity, 1),
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
        ...(capacity === null
          ? []
          : [
              `The rate is ${SHARE_OF_CAPACITY * 100} % of the ${capacity.toFixed(1)} calls of this mixture that were answered in a second before, with ${UNDER_WAY_PER_WORKER} a worker always under way.`,
            ]),
        TOO_FEW_SAMPLES,
        `${rate} calls a second arrive at a steady rate, whether or not earlier ones are answered (at most 15 seconds' worth of them run at once: further ones are skipped, and counted), from one client process on the same machine; latency counts from when a call was due. The load average by minute says what else wanted the cores.`,
        `The engine's process was killed ${killedAt.length} times, every ${round(killEvery, 1)} minutes, and then left undisturbed for the last ${(UNDISTURBED * 100).toFixed(0)} % of the time. Refusals are the calls that the service turned away meanwhile, or did not answer within the client's 15 seconds; refused effects were asked for again with their idempotency key.`,
        'Memory is what a process has filled itself (RssAnon). The pages of files that it has mapped, 50 to 75 MiB of programs and libraries, are left out: the kernel drops and reads them as it sees fit. The details hold the whole (VmRSS) as well.',
        'Descriptors are files, pipes and the like. Sockets stand apart, and are not judged: they come and go with the load generator.',
        `Slopes are Theil–Sen estimates over samples every ${SAMPLE_MS / 1000} s: of the service after the first ${round(warmUpMinutes.service, 1)} minutes, of the engine within the lives of its processes, from ${round(warmUpMinutes.engine, 1)} minutes of age. ${isJudged ? `More than ${MAX_MB_PER_HOUR} MB or ${MAX_DESCRIPTORS_PER_HOUR} descriptors an hour fails the run.` : `They are not judged below ${JUDGED_FROM_MINUTES} minutes.`}`,
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
