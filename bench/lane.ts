/**
 * The lane suite: one owner of an accelerator's sessions against sessions in each worker thread on the processor, with
 * the pack under measurement and with one whose embedder is large. Units: images per second with many callers, and
 * milliseconds (p50) for one caller.
 */

import type { ModelPack } from '../models/pack/model-pack.js'
import { loadConfig } from '../src/app/configuration.js'
import { engineOptions } from '../src/app/engine-options.js'
import { Engine } from '../src/biometrics/engine/engine.js'
import { STAND_IN_PROVIDER } from '../src/biometrics/pipeline/networks/accelerators.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { readStat } from './lib/cpu-times.js'
import { makeLargePack } from './lib/large-pack.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { median, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

/** Callers per worker: as many tasks as it holds, and as many that wait. */
const CALLERS_PER_WORKER = 8
/** Share of the measuring time that goes to one caller. */
const SINGLE_SHARE = 0.3
/** Number of turns; in each the contenders run once, in changing order. */
const TURNS = 4
/** Seconds of load before the first turn. */
const SETTLING_SECONDS = 2

interface Contender {
  engine: Engine
  perSecond: number[]
  /** CPU time for an image in milliseconds, of the engine process. */
  cpuMs: number[]
  singleMs: number[]
}

export const lane: Suite = {
  name: 'lane',
  description: "one owner of an accelerator's sessions against sessions in each worker",
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds, provider = STAND_IN_PROVIDER }) {
    const { verifyImages: images } = await takeCaptures()
    const progress = progressSteps('lane')
    const rows: string[][] = []
    const summary: Record<string, number | string> = {}
    const { workers } = engineOptions(loadConfig({}))
    for (const [name, measured] of [
      ['pack', pack],
      ['resnet50', await makeLargePack(pack)],
    ] as const) {
      const contenders = await measure(measured, provider, images, seconds / 2, (share) =>
        progress.update(Math.round(100 * (name === 'pack' ? share / 2 : 0.5 + share / 2)), 100, name),
      )
      for (const [sessions, { perSecond, cpuMs, singleMs }] of contenders) {
        const figures = {
          per_s: round(median(perSecond), 2),
          cpu_ms: round(median(cpuMs), 1),
          p50_ms: round(median(singleMs), 2),
        }
        summary[`${name}_${sessions}_cpu_ms`] = figures.cpu_ms
        summary[`${name}_${sessions}_per_s`] = figures.per_s
        summary[`${name}_${sessions}_p50_ms`] = figures.p50_ms
        const where = sessions === 'lane' ? `one owner, ${provider}` : 'each worker, cpu'
        rows.push([
          measured.modelId,
          where,
          figures.per_s.toFixed(1),
          figures.cpu_ms.toFixed(1),
          figures.p50_ms.toFixed(1),
        ])
      }
    }
    progress.stop()
    return {
      suite: 'lane',
      model: pack.modelId,
      seconds,
      summary: { provider, ...summary },
      tables: [
        {
          title: `Sessions of one owner against sessions in each of ${workers} workers`,
          rows: [
            [
              'pack',
              'sessions',
              `images per second, ${CALLERS_PER_WORKER * workers} callers`,
              'CPU per image, ms',
              'one caller, p50, ms',
            ],
            ...rows,
          ],
        },
      ],
      notes: [
        `Images: ${describeSizes(images)}. Each is decoded, its face found, aligned and embedded by the engine; there is no HTTP. The processor runs 8-bit graphs where the pack has them, an accelerator float32.`,
        `${STAND_IN_PROVIDER} is the processor in the accelerator's part: it shows what the lane costs, not what an accelerator gains.`,
      ],
      details: { provider, workers },
      failures: [],
    }
  },
}

async function measure(
  pack: ModelPack,
  provider: string,
  images: readonly Buffer[],
  seconds: number,
  report: (share: number) => void,
): Promise<Map<'lane' | 'threads', Contender>> {
  const { limits, workers } = engineOptions(loadConfig({}))
  const start = async (executionProviders: string[]): Promise<Contender> => ({
    engine: await Engine.start({
      packDir: pack.dir,
      workers,
      executionProviders,
      limits,
      queueLimit: CALLERS_PER_WORKER * workers,
    }),
    perSecond: [],
    cpuMs: [],
    singleMs: [],
  })
  const contenders = new Map([
    ['threads', await start(['cpu'])],
    ['lane', await start([provider])],
  ] as const)
  const { active, fallbacks } = contenders.get('lane')!.engine.health().provider
  if (active !== provider) throw new Error(`${provider} does not serve: ${fallbacks[0]?.reason}`)
  const callers = CALLERS_PER_WORKER * workers
  for (const { engine } of contenders.values()) await load(engine, images, callers, SETTLING_SECONDS)
  const turnSeconds = seconds / TURNS / contenders.size
  for (let turn = 0; turn < TURNS; turn++) {
    const order = [...contenders.values()]
    for (const contender of turn % 2 === 0 ? order : order.reverse()) {
      const { engine, perSecond, cpuMs, singleMs } = contender
      const busy = await load(engine, images, callers, turnSeconds * (1 - SINGLE_SHARE))
      perSecond.push(busy.perSecond)
      cpuMs.push(busy.cpuMs)
      singleMs.push(...(await load(engine, images, 1, turnSeconds * SINGLE_SHARE)).latenciesMs)
    }
    report((turn + 1) / TURNS)
  }
  for (const { engine } of contenders.values()) await engine.close()
  return contenders
}

/** Has callers ask for one picture after the other. */
async function load(
  engine: Engine,
  images: readonly Buffer[],
  callers: number,
  seconds: number,
): Promise<{ perSecond: number; cpuMs: number; latenciesMs: number[] }> {
  const cpuBefore = readStat(`/proc/${engine.health().processId}/stat`).cpuMs
  const startedAt = performance.now()
  const endAt = startedAt + 1000 * seconds
  const latenciesMs: number[] = []
  const call = async (caller: number) => {
    for (let turn = caller; performance.now() < endAt; turn++) {
      const askedAt = performance.now()
      await engine.enrol([images[turn % images.length]!], { assessOnly: true })
      latenciesMs.push(performance.now() - askedAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  const wallMs = performance.now() - startedAt
  const cpuMs = readStat(`/proc/${engine.health().processId}/stat`).cpuMs - cpuBefore
  const { length: count } = latenciesMs
  return { perSecond: (1000 * count) / wallMs, cpuMs: cpuMs / count, latenciesMs }
}
