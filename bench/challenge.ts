/**
 * The challenge suite: latency of verifies by challenge at the real service (milliseconds, p50 and p99) against the
 * bare kernels' time for one film on one thread; and the latency of ordinary verifies with and without callers of
 * challenges.
 */

import { loadConfig } from '../src/app/configuration.js'
import { engineOptions } from '../src/app/engine-options.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { takeCaptures } from './lib/captures.js'
import { filmFor, filmParts } from './lib/challenge-film.js'
import {
  type ChallengeKernelOrder,
  type ChallengeKernels,
  type ChallengeLoad,
  type ChallengeOrder,
  FRAMES,
} from './lib/challenge-orders.js'
import { HelperProcess } from './lib/helper-process.js'
import { startLoadGenerator } from './lib/load-generator.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { startService } from './lib/service-process.js'
import { carriedPercentile, mean, median, round, shown, TOO_FEW_SAMPLES } from './lib/statistics.js'
import type { Suite } from './suite.js'

/** Maximum of the median verify by challenge for one caller, in milliseconds. */
const MAX_MS = 400
const WARM_UP_SECONDS = 2
/** Shares of the measuring time. */
const SHARES = { oneCaller: 0.4, kernels: 0.1, verifyAlone: 0.1 } as const
/** Numbers of challenge callers that run next to one ordinary caller; they divide the remaining time. */
const CROWDS = [1, 4] as const
/** Number of users: so many that no user's history of captures grows long. */
const USERS = { filmed: 48, photographed: 64 } as const
/**
 * Frames that the bare kernels embed for a film of two movements: the frontal look, one frame of each movement, the
 * look at the end.
 */
const KEY_FRAMES = 4

interface Crowd {
  /** Number of callers of challenges. */
  callers: number
  verifyMs: number[]
  challengeMs: number[]
}

export const challenge: Suite = {
  name: 'challenge',
  description: 'verifies by challenge, and ordinary verifies at the same time',
  measures: SERVICE_ROOMS,
  defaultSeconds: 60,
  async run({ pack, seconds, cpuProfileDir }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const { limits, executionProviders } = engineOptions(loadConfig({}))
    const provider = executionProviders[0] ?? 'cpu'
    const { parts, enrolImage } = await filmParts(pack, provider, limits)
    const frames = filmFor(['frontal', 'turn_left', 'nod_down', 'frontal'], parts).map(({ frame }) => frame)

    const service = await startService({ pack, cpuProfileDir }, enrolImages[0]!)
    const target = { origin: service.production, key: service.key }
    const filmed = HelperProcess.start<ChallengeOrder, ChallengeLoad>(
      new URL('./lib/challenge-process.js', import.meta.url),
    )
    const kernels = HelperProcess.start<ChallengeKernelOrder, ChallengeKernels>(
      new URL('./lib/challenge-kernel-process.js', import.meta.url),
    )
    const load = startLoadGenerator()
    await load.ask({ type: 'enrol', target, users: USERS.photographed, images: enrolImages })
    const askFilmed = (callers: number, share: number, warmUpSeconds = WARM_UP_SECONDS) =>
      filmed.ask({
        target,
        users: USERS.filmed,
        enrolImage,
        parts,
        callers,
        warmUpSeconds,
        seconds: seconds * share,
      })
    const askVerifies = (share: number) =>
      load.ask({
        type: 'verify',
        target,
        users: USERS.photographed,
        images,
        callers: 1,
        warmUpSeconds: WARM_UP_SECONDS,
        seconds: seconds * share,
      })

    const progress = progressSteps('challenge')
    const steps = 3 + CROWDS.length
    const crowdShare = (1 - SHARES.oneCaller - SHARES.kernels - SHARES.verifyAlone) / CROWDS.length
    let floor: ChallengeKernels
    let oneCaller: ChallengeLoad
    const crowds: Crowd[] = []
    try {
      progress.update(0, steps, 'bare kernels')
      floor = await kernels.ask({
        pack,
        provider,
        limits,
        frames,
        embeddings: KEY_FRAMES,
        seconds: seconds * SHARES.kernels,
      })
      progress.update(1, steps, 'one caller')
      oneCaller = await askFilmed(1, SHARES.oneCaller)
      progress.update(2, steps, 'only ordinary verifies')
      const alone = await askVerifies(SHARES.verifyAlone)
      crowds.push({ callers: 0, verifyMs: alone.latenciesMs.verify, challengeMs: [] })
      for (const callers of CROWDS) {
        progress.update(2 + crowds.length, steps, `next to ${callers}`)
        const [challenges, verifies] = await Promise.all([
          askFilmed(callers, crowdShare),
          askVerifies(crowdShare),
        ])
        crowds.push({
          callers,
          verifyMs: verifies.latenciesMs.verify,
          challengeMs: challenges.latenciesMs,
        })
      }
      progress.update(steps, steps, 'done')
    } finally {
      progress.stop()
    }
    await filmed.stop()
    await kernels.stop()
    await load.stop()
    await service.stop()

    const filmMs = floor.decodeMs.map((decodeMs, i) => decodeMs + floor.findMs[i]! + floor.embedMs[i]!)
    const p50 = median(oneCaller.latenciesMs)
    const floorP50 = median(filmMs)
    const ordinary = ({ verifyMs }: Crowd) => round(median(verifyMs), 2)
    return {
      suite: 'challenge',
      model: pack.modelId,
      seconds,
      summary: {
        p50_ms: round(p50, 1),
        p95_ms: roundedOrNull(carriedPercentile(oneCaller.latenciesMs, 0.95)),
        floor_one_thread_p50_ms: round(floorP50, 1),
        over_floor: round(p50 / floorP50, 3),
        verify_alone_p50_ms: ordinary(crowds[0]!),
        ...Object.fromEntries(
          crowds.slice(1).flatMap((crowd) => [
            [`verify_beside_${crowd.callers}_p50_ms`, ordinary(crowd)],
            [`verify_beside_${crowd.callers}_p99_ms`, roundedOrNull(carriedPercentile(crowd.verifyMs, 0.99))],
          ]),
        ),
      },
      tables: [
        {
          title: `One caller: a verify by challenge of ${FRAMES} frames, milliseconds`,
          rows: [
            ['', 'p50', 'p95', 'samples'],
            latencyRow('verify, from the first byte sent to the last byte received', oneCaller.latenciesMs),
            latencyRow('asking for the challenge', oneCaller.askedMs),
            latencyRow(`${FRAMES} frames decoded, bare kernels on one thread`, floor.decodeMs),
            latencyRow(`${FRAMES} faces and their points found, the same`, floor.findMs),
            latencyRow(`${KEY_FRAMES} faces aligned and embedded, the same`, floor.embedMs),
            latencyRow('the three together', filmMs),
          ],
        },
        {
          title: 'Where its time goes, by the service’s own Server-Timing, milliseconds',
          rows: [
            ['stage', 'mean', 'p50'],
            ...Object.keys(oneCaller.stagesMs[0] ?? {}).map((stage) => {
              const ms = oneCaller.stagesMs.map((stages) => stages[stage] ?? 0)
              return [stage, mean(ms).toFixed(1), median(ms).toFixed(1)]
            }),
          ],
        },
        {
          title:
            'An ordinary verify of one caller, while other callers send one challenge after the other, milliseconds',
          rows: [
            ['beside', 'p50', 'p95', 'p99', 'samples', 'challenge p50', 'challenges'],
            ...crowds.map(({ callers, verifyMs, challengeMs }) => [
              callers === 0 ? 'nobody' : String(callers),
              ...[0.5, 0.95, 0.99].map((share) => shown(carriedPercentile(verifyMs, share), 1)),
              String(verifyMs.length),
              challengeMs.length > 0 ? median(challengeMs).toFixed(1) : '–',
              String(challengeMs.length),
            ]),
          ],
        },
      ],
      charts: [
        {
          title: `A verify by challenge of ${FRAMES} frames, p50`,
          unit: 'ms',
          bars: [
            { label: 'service, one caller', value: round(p50, 1) },
            { label: 'bare kernels, one thread', value: round(floorP50, 1), pale: true },
          ],
        },
        {
          title: 'An ordinary verify, p50',
          unit: 'ms',
          bars: crowds.map((crowd) => ({
            label: crowd.callers === 0 ? 'alone' : `with ${crowd.callers} of challenges`,
            value: ordinary(crowd),
          })),
        },
      ],
      notes: [
        `Films are of one rendered head, ${frames.length} JPEG frames of 640×480 and ${kilobytes(frames)} kB together, put together for the steps that each challenge drew. Every one must be approved.`,
        'Stages of a challenge add up over its frames, which are decoded while others are looked at: their sum is more than the time that passes. `queue` is the sum of what frames waited for each other.',
        'The bare kernels take one frame after the other on one thread: on two cores the least would be half of it. They rate no quality and make no base64, JSON or HTTP.',
        TOO_FEW_SAMPLES,
      ],
      details: { workers: service.workers, one_caller: oneCaller, kernels: floor, crowds },
      failures:
        p50 <= MAX_MS
          ? []
          : [`the median verify by challenge takes ${p50.toFixed(0)} ms; our limit is ${MAX_MS} ms`],
    }
  },
}

function latencyRow(label: string, samplesMs: readonly number[]): string[] {
  return [
    label,
    median(samplesMs).toFixed(1),
    shown(carriedPercentile(samplesMs, 0.95), 1),
    String(samplesMs.length),
  ]
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : round(value, 1)
}

function kilobytes(files: readonly Uint8Array[]): string {
  return (files.reduce((sum, { length }) => sum + length, 0) / 1000).toFixed(0)
}
