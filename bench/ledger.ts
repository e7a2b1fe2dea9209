/**
 * The ledger suite: what a call costs the service's main thread, in counted operations; how long each stage of that thread takes; and how
 * many verifies per second one main thread serves, with an engine that only waits.
 */
import { progressSteps } from '../src/cli/lib/progress.js'
import { CALLS_COUNTED, OPERATIONS, takeLedger } from '../test/ledger/ledger.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { startLoadGenerator } from './lib/load-generator.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { startService } from './lib/service-process.js'
import { ENGINE_MS_VARIABLE } from './lib/simulated-engine.js'
import { median, ratePerSecond, round } from './lib/statistics.js'
import { mainThreadStages, time, toRows } from './stages.js'
import type { Suite } from './suite.js'

/** Workers of the simulated engine: together they do more than a main thread can feed. */
const WORKERS = 16
/** Callers: no worker waits for the network. */
const CALLERS = 48
const USERS = 2048
const ROUNDS = 5
const SETTLING_SECONDS = 5
const WARM_UP_SECONDS = 0.5
const CAPACITY_SHARE = 0.5

export const ledger: Suite = {
  name: 'ledger',
  description: 'counted operations of a call, and what the main thread can do',
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds, engineMs, cpuProfileDir }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const counts = await takeLedger(pack)
    const workbench = await mainThreadStages(pack, images[0]!)
    const progress = progressSteps('ledger')
    const steps = workbench.length + ROUNDS
    let step = 0
    const announce = (name: string) => progress.update(step++, steps, name)
    const rounds: Array<{ perSecond: number; mainThreadMs: number | null; p50Ms: number }> = []
    const stages = await time(workbench, seconds * (1 - CAPACITY_SHARE), announce)
    try {
      const probe = {
        module: new URL('./lib/simulated-engine.js', import.meta.url),
        env: { [ENGINE_MS_VARIABLE]: String(engineMs) },
      }
      const settings = { COUNTERSIGN_WORKERS: String(WORKERS) }
      const service = await startService({ pack, cpuProfileDir, probe, settings }, enrolImages[0]!)
      const target = { origin: service.production, key: service.key }
      const load = startLoadGenerator()
      await load.ask({ type: 'enrol', target, users: USERS, images: enrolImages })
      const verify = (roundSeconds: number) =>
        load.ask({
          type: 'verify',
          target,
          users: USERS,
          images,
          callers: CALLERS,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds: roundSeconds,
        })
      await verify(SETTLING_SECONDS)
      while (rounds.length < ROUNDS) {
        announce('one main thread')
        const before = service.cpuTimes()
        const { verifiedAtMs, latenciesMs, requests } = await verify((seconds * CAPACITY_SHARE) / ROUNDS)
        const after = service.cpuTimes()
        rounds.push({
          perSecond: ratePerSecond(verifiedAtMs),
          mainThreadMs: before && after && (after.mainThread - before.mainThread) / requests,
          p50Ms: median(latenciesMs.verify),
        })
      }
      await load.stop()
      await service.stop()
      progress.update(steps, steps, 'done')
    } finally {
      progress.stop()
    }
    const known = rounds.flatMap(({ mainThreadMs }) => mainThreadMs ?? [])
    const summary = {
      verify: counts.verify,
      verifies_per_s: round(median(rounds.map(({ perSecond }) => perSecond)), 1),
      verify_p50_ms: round(median(rounds.map(({ p50Ms }) => p50Ms)), 2),
      main_thread_ms: known.length > 0 ? round(median(known), 3) : null,
    }
    const names = Object.keys(OPERATIONS) as Array<keyof typeof OPERATIONS>
    return {
      suite: 'ledger',
      model: pack.modelId,
      seconds,
      summary,
      tables: [
        {
          title: 'Operations of the main thread for one call',
          rows: [
            ['', ...CALLS_COUNTED],
            ...names.map((name) => [
              OPERATIONS[name],
              ...CALLS_COUNTED.map((call) => String(counts[call][name])),
            ]),
          ],
        },
        { title: 'Stages of the main thread, milliseconds', rows: toRows(stages) },
        {
          title: `One process, an engine of ${WORKERS} simulated workers that wait ${engineMs} ms a picture`,
          rows: [
            ['round', 'verifies per second', 'main thread a verify, ms', 'p50, ms'],
            ...rounds.map(({ perSecond, mainThreadMs, p50Ms }, i) => [
              String(i + 1),
              perSecond.toFixed(1),
              mainThreadMs === null ? '–' : mainThreadMs.toFixed(2),
              p50Ms.toFixed(1),
            ]),
          ],
        },
      ],
      charts: [
        {
          title: 'Stages of the main thread, p50',
          unit: 'ms',
          bars: stages.map(({ stage, p50_ms }) => ({ label: stage, value: p50_ms })),
        },
      ],
      notes: [
        `Images: ${describeSizes(images)}. ${CALLERS} callers in a closed loop, ${USERS} users, idempotency keys; the load generator runs on the same cores.`,
        'Of nine calls the least count is shown.',
      ],
      details: { counts, stages, rounds },
      failures: [],
    }
  },
}
