/**
 * The packs suite: the engine with one pack against the engine with a second pack that follows, in turns. Units: milliseconds
 * of a verify (p50, p99) for one caller, verifies per second with all workers busy, and resident memory of the engine process.
 */

import { loadConfig } from '../src/app/configuration.js'
import { engineOptions } from '../src/app/engine-options.js'
import { Engine } from '../src/biometrics/engine/engine.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { readStat } from './lib/cpu-times.js'
import { ENGINE_ROOMS } from './lib/measured-code.js'
import { prepareNamedPack } from './lib/model-pack.js'
import { readProcess } from './lib/process-vitals.js'
import { cutIntoRounds } from './lib/rounds.js'
import { median, percentile, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

/** Maximum number of rounds of each contender: the speed of shared machines drifts. */
const ROUNDS = 16
/** Share of the measuring time that goes to one caller; the rest goes to all workers. */
const SINGLE_SHARE = 0.6
/** Callers per worker: enough that a worker never waits. */
const CALLERS_PER_WORKER = 4
/** Verifies before the first round. */
const WARM_UP = 30
/** A following pack may add at most this many embeddings to the p99 of a verify. */
const MOST_EMBEDS = 2

interface Contender {
  name: string
  engine: Engine
  alsoEmbed: readonly string[]
  verifyMs: number[]
  /** Time of the embedders of each verify. */
  embedMs: number[]
  perSecond: number[]
  /** CPU time of the engine process for one verify, in milliseconds, with all workers busy. */
  cpuMs: number[]
  memoryMib: number
}

export const packs: Suite = {
  name: 'packs',
  description: 'the engine with one pack against one with a second pack that follows',
  measures: ENGINE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const other = await prepareNamedPack(pack.manifest.id === 'baseline' ? 'standard' : 'baseline')
    const options = engineOptions(loadConfig({}))
    const start = async (
      name: string,
      followingPackDirs: string[],
      alsoEmbed: string[],
    ): Promise<Contender> => ({
      name,
      engine: await Engine.start({ ...options, packDir: pack.dir, followingPackDirs }),
      alsoEmbed,
      ...{ verifyMs: [], embedMs: [], perSecond: [], cpuMs: [], memoryMib: 0 },
    })
    const contenders = [
      await start('one pack', [], []),
      await start('two packs, one follows', [other.dir], [other.modelId]),
    ]
    const [one, two] = contenders as [Contender, Contender]
    const { reference } = await one.engine.enrol(enrolImages.slice(0, 1))
    let turn = 0
    const verify = async ({ engine, alsoEmbed }: Contender) => {
      const startedAt = performance.now()
      const { timingsMs } = await engine.verify([images[turn++ % images.length]!], reference, { alsoEmbed })
      return { tookMs: performance.now() - startedAt, embedMs: timingsMs.embed ?? 0 }
    }
    for (const contender of contenders) for (let i = 0; i < WARM_UP; i++) await verify(contender)

    const single = cutIntoRounds(seconds * SINGLE_SHARE, contenders.length, ROUNDS)
    const saturated = cutIntoRounds(seconds * (1 - SINGLE_SHARE), contenders.length, ROUNDS)
    const progress = progressSteps('packs')
    const steps = single.count + saturated.count
    for (let step = 0; step < single.count; step++) {
      progress.update(step, steps, 'one caller')
      for (const contender of inTurns(contenders, step)) {
        const endMs = performance.now() + single.seconds * 1000
        while (performance.now() < endMs) {
          const { tookMs, embedMs } = await verify(contender)
          contender.verifyMs.push(tookMs)
          contender.embedMs.push(embedMs)
        }
      }
    }
    for (let step = 0; step < saturated.count; step++) {
      progress.update(single.count + step, steps, 'all workers busy')
      for (const contender of inTurns(contenders, step)) {
        const stat = `/proc/${contender.engine.health().processId}/stat`
        const cpuBefore = readStat(stat).cpuMs
        const startedAt = performance.now()
        const endMs = startedAt + saturated.seconds * 1000
        let done = 0
        const caller = async () => {
          for (; performance.now() < endMs; done++) await verify(contender)
        }
        await Promise.all(Array.from({ length: CALLERS_PER_WORKER * options.workers }, caller))
        contender.cpuMs.push((readStat(stat).cpuMs - cpuBefore) / done)
        contender.perSecond.push((done * 1000) / (performance.now() - startedAt))
      }
    }
    progress.update(steps, steps, 'done')
    progress.stop()
    for (const contender of contenders) {
      contender.memoryMib = readProcess(contender.engine.health().processId!)?.residentMib ?? 0
      await contender.engine.close()
    }

    const [p50, p99] = [0.5, 0.99].map((share) =>
      contenders.map(({ verifyMs }) => percentile(verifyMs, share)),
    )
    const [embedOne, embedTwo] = contenders.map(({ embedMs }) => median(embedMs)) as [number, number]
    const embedMs = Math.max(embedOne, embedTwo - embedOne)
    const added = { p50: p50![1]! - p50![0]!, p99: p99![1]! - p99![0]! }
    const rate = median(two.perSecond.map((perSecond, i) => perSecond / one.perSecond[i]!))
    return {
      suite: 'packs',
      model: pack.modelId,
      seconds,
      summary: {
        following: other.modelId,
        one_p50_ms: round(p50![0]!, 2),
        two_p50_ms: round(p50![1]!, 2),
        one_p99_ms: round(p99![0]!, 2),
        two_p99_ms: round(p99![1]!, 2),
        embed_ms: round(embedMs, 2),
        added_p50_embeds: round(added.p50 / embedMs, 2),
        added_p99_embeds: round(added.p99 / embedMs, 2),
        throughput_ratio: round(rate, 3),
        one_cpu_ms: round(median(one.cpuMs), 2),
        two_cpu_ms: round(median(two.cpuMs), 2),
        one_memory_mib: round(one.memoryMib, 0),
        two_memory_mib: round(two.memoryMib, 0),
      },
      tables: [
        {
          title: `${pack.modelId}, followed by ${other.modelId}`,
          rows: [
            ['', 'p50 ms', 'p99 ms', 'embedding ms', 'verifies/s', 'CPU ms', 'engine MiB'],
            ...contenders.map(({ name, embedMs, perSecond, cpuMs, memoryMib }, i) => [
              name,
              p50![i]!.toFixed(2),
              p99![i]!.toFixed(2),
              median(embedMs).toFixed(2),
              median(perSecond).toFixed(1),
              median(cpuMs).toFixed(1),
              memoryMib.toFixed(0),
            ]),
          ],
        },
      ],
      notes: [
        `Images, in turn: ${describeSizes(images)}. The engine only, without HTTP and database; ${options.workers} workers.`,
        `Promise: a pack that follows adds at most ${MOST_EMBEDS} embeddings to the p99 of a verify. One embedding is the slower of the two packs' medians.`,
        'CPU ms is the CPU time of the engine process for one verify with all workers busy; other programs hardly change it.',
        'Memory is what the engine process has in RAM after the run (VmRSS).',
      ],
      details: { one: sampled(one), two: sampled(two) },
      failures:
        added.p99 > MOST_EMBEDS * embedMs
          ? [
              `A following pack adds ${round(added.p99 / embedMs, 2)} embeddings to the p99 of a verify; at most ${MOST_EMBEDS} are promised.`,
            ]
          : [],
    }
  },
}

function inTurns(contenders: readonly Contender[], step: number): readonly Contender[] {
  return step % 2 === 0 ? contenders : contenders.toReversed()
}

function sampled({ verifyMs, perSecond }: Contender) {
  return { verifies: verifyMs.length, verifies_per_second: perSecond.map((rate) => round(rate, 2)) }
}
