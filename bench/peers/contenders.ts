/** The contenders: Countersign's engine, its service, and processes with other libraries, behind one interface. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import { packageFile } from '../../src/lib/package-root.js'
import { errorRates } from '../../tools/evaluation/error-rates.js'
import type { Captures } from '../lib/captures.js'
import { HelperProcess } from '../lib/helper-process.js'
import { ENGINE_BATCH, type KernelOrder, type KernelResult } from '../lib/kernel-orders.js'
import { type LoadGenerator, startLoadGenerator } from '../lib/load-generator.js'
import type { Target } from '../lib/load-orders.js'
import { startService } from '../lib/service-process.js'
import { mean, ratePerSecond } from '../lib/statistics.js'
import type { LabelledPhotos } from './evaluation-data.js'
import { type LoopAnswer, PeerRunner } from './runner.js'

/** Seconds at the start of each round in which caches, clock rates and queues settle. */
const WARM_UP_SECONDS = 0.5
/** Callers per core: enough that a worker never waits for the network. */
const CALLERS_PER_CORE = 4
const USERS = 64
const FMR = 1e-3

export interface Contender {
  /** Name in the summary. */
  key: string
  label: string
  /** How the contender uses the cores, and other facts that a reader needs. */
  setup: string
  /** Facts that the contender reports, such as versions. */
  facts: Record<string, unknown>
  start(): Promise<void>
  /** @returns verifications per second, all cores busy */
  saturate(seconds: number): Promise<number>
  /** @returns milliseconds of each of several verifications, one at a time */
  single(seconds: number): Promise<number[]>
  /** @returns FNMR at FMR 1e-3; null if it is measured elsewhere */
  evaluate(photos: LabelledPhotos): Promise<number | null>
}

export interface EngineSettings {
  workers: number
  provider: string
  limits: ImageLimits
}

/** The engine's own pipeline in as many threads as the service has workers. */
export function engineContender(
  about: Pick<Contender, 'key' | 'label'>,
  pack: ModelPack,
  { workers, provider, limits }: EngineSettings,
  { enrolImages, verifyImages }: Captures,
): Contender {
  let kernel: HelperProcess<KernelOrder, KernelResult>
  const loop = (threads: number, picturesAtOnce: number, seconds: number) =>
    kernel.ask({ type: 'loop', threads, picturesAtOnce, warmUpSeconds: WARM_UP_SECONDS, seconds })
  return {
    ...about,
    setup: `one process, ${workers} worker threads, one inference thread each; ${pack.modelId}`,
    facts: { model: pack.modelId },
    async start() {
      kernel = HelperProcess.start(new URL('../lib/kernel-process.js', import.meta.url))
      await kernel.ask({
        type: 'load',
        threads: workers,
        pack,
        provider,
        limits,
        enrolImage: enrolImages[0]!,
        images: verifyImages,
      })
    },
    saturate: async (seconds) => ratePerSecond((await loop(workers, ENGINE_BATCH, seconds)).doneAtMs),
    single: async (seconds) => (await loop(1, 1, seconds)).latenciesMs,
    evaluate: ({ csv }) => evaluateCountersign(pack, csv),
  }
}

/** The whole service over HTTP: authentication, replay check, database and signature included. */
export function serviceContender(
  about: Pick<Contender, 'key' | 'label'>,
  pack: ModelPack,
  { workers }: EngineSettings,
  { enrolImages, verifyImages: images }: Captures,
): Contender {
  let load: LoadGenerator
  let target: Target
  const verify = (callers: number, seconds: number) =>
    load.ask({
      type: 'verify',
      target,
      users: USERS,
      images,
      callers,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds,
    })
  return {
    ...about,
    setup: `one process, ${workers} worker threads, over HTTP with ${CALLERS_PER_CORE * workers} callers; ${pack.modelId}`,
    facts: { model: pack.modelId },
    async start() {
      const service = await startService({ pack }, enrolImages[0]!)
      target = { origin: service.production, key: service.key }
      load = startLoadGenerator()
      await load.ask({ type: 'enrol', target, users: USERS, images: enrolImages })
    },
    saturate: async (seconds) =>
      ratePerSecond((await verify(CALLERS_PER_CORE * workers, seconds)).verifiedAtMs),
    single: async (seconds) => (await verify(1, seconds)).latenciesMs.verify,
    // This is the same engine and the same pack as above.
    evaluate: async () => null,
  }
}

export interface PeerOptions extends Pick<Contender, 'key' | 'label' | 'setup'> {
  /** Interpreters that can run the peer, best first: the first one that starts is measured. */
  programs: Array<{ program: string; origin?: string }>
  script: string
  setupFile: string
  /** One process a core, each with one verification at a time; or one process that takes requests over HTTP. */
  scaling: 'processes' | 'http'
  cores: number
}

export function peerContender(options: PeerOptions): Contender {
  const { key, label, setup, programs, script, setupFile, scaling, cores } = options
  const runners: PeerRunner[] = []
  const loop = (runner: PeerRunner, seconds: number, order: { threads: number; callers: number }, i = 0) =>
    runner.ask({ type: 'loop', warmUpSeconds: WARM_UP_SECONDS, seconds, firstTurn: i, ...order })
  const contender: Contender = {
    key,
    label,
    setup,
    facts: {},
    async start() {
      const failures: string[] = []
      for (const { program, origin } of programs) {
        try {
          const first = await PeerRunner.start(program, script, setupFile)
          runners.push(first)
          contender.facts = { ...first.facts, ...(origin && { origin }) }
          while (scaling === 'processes' && runners.length < cores) {
            runners.push(await PeerRunner.start(program, script, setupFile))
          }
          if (failures.length > 0) contender.facts.passed_over = failures
          return
        } catch (error) {
          failures.push(`${origin ? `${origin}: ` : ''}${(error as Error).message}`)
          for (const runner of runners.splice(0)) await runner.stop()
        }
      }
      throw new Error(failures.join('; '))
    },
    async saturate(seconds) {
      if (scaling === 'http') {
        const [runner] = runners
        const { doneAtMs } = await loop(runner!, seconds, { threads: 1, callers: CALLERS_PER_CORE * cores })
        return ratePerSecond(doneAtMs)
      }
      const answers: LoopAnswer[] = await Promise.all(
        runners.map((runner, i) => loop(runner, seconds, { threads: 1, callers: 1 }, i)),
      )
      return rateOfLoops(
        answers.map(({ latenciesMs }) => latenciesMs),
        1,
      )
    },
    single: async (seconds) => (await loop(runners[0]!, seconds, { threads: cores, callers: 1 })).latenciesMs,
    async evaluate({ photos, pairs, genuine }) {
      const { scores, missed } = await runners[0]!.ask({ type: 'evaluate', photos, pairs })
      contender.facts.photos_without_a_face = missed
      return fnmrOf(scores.map((score, i) => ({ score, genuine: genuine[i]! })))
    },
  }
  return contender
}

/**
 * Throughput of closed loops by Little's law: each starts its next verification when the last is done. Counting
 * completions in a window would round to whole ones, which are few if a verification takes long.
 * @param loopsEach number of loops behind each list of times
 */
function rateOfLoops(latenciesMs: number[][], loopsEach: number): number {
  return latenciesMs.reduce((sum, times) => sum + (loopsEach * 1000) / mean(times), 0)
}

function fnmrOf(pairs: Parameters<typeof errorRates>[0]): number | null {
  return errorRates(pairs, [FMR]).points[0]?.fnmr ?? null
}

async function evaluateCountersign(pack: ModelPack, csv: string): Promise<number | null> {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'))),
    COUNTERSIGN_MODEL_PACK: pack.dir,
    COUNTERSIGN_REPLAY_POLICY: 'report',
  }
  const main = packageFile('dist', 'src', 'cli', 'main.js')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'evaluate', csv, '--largest-face', '--json'],
    { env },
  )
  const { points } = JSON.parse(stdout) as { points: Array<{ fmr: number; fnmr: number }> }
  return points.find(({ fmr }) => fmr === FMR)?.fnmr ?? null
}
