/**
 * The peers suite: Countersign against other ways to build the same, in turns, on the same photos. Units:
 * verifications per second with all cores busy, milliseconds for one at a time, FNMR at FMR 1e-3.
 */
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { loadConfig } from '../src/app/configuration.js'
import { engineOptions } from '../src/app/engine-options.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { isInterrupted } from './lib/clean-up.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { cutIntoRounds } from './lib/rounds.js'
import { median, round } from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import { type Contender, engineContender, peerContender, serviceContender } from './peers/contenders.js'
import {
  EMBEDDER,
  FIXED_DETECTOR,
  hasNetworks,
  readLabelledPhotos,
  writeSameNetworksPack,
} from './peers/evaluation-data.js'
import { findPythons, installNodePeers, withoutPaths } from './peers/install.js'
import type { Suite, SuiteOptions } from './suite.js'

/** Maximum number of rounds of each contender; their order changes every time. */
const ROUNDS = 5
/** Share of the measuring time that goes to one verification at a time. */
const SINGLE_SHARE = 0.3
const OWN = 'countersign'

interface Entry {
  contender: Contender
  perSecond: number[]
  singleMs: number[]
  fnmr: number | null
  /** Reason for missing figures; null when there are figures. */
  skipped: string | null
}

export const peers: Suite = {
  name: 'peers',
  description: 'Countersign against face-api, human, OpenCV and a plain Express service',
  measures: SERVICE_ROOMS,
  defaultSeconds: 160,
  async run(options) {
    const { images, contenders, skipped } = await gather(options)
    const entries = contenders.map(
      (contender): Entry => ({ contender, perSecond: [], singleMs: [], fnmr: null, skipped: null }),
    )
    for (const entry of entries) {
      entry.skipped = skipped.get(entry.contender.key) ?? null
      await unlessSkipped(entry, () => entry.contender.start())
    }
    await takeTurns(entries, options.seconds)
    const photos = await readLabelledPhotos()
    if (photos) {
      for (const entry of entries) {
        await unlessSkipped(entry, async () => {
          entry.fnmr = await entry.contender.evaluate(photos)
        })
      }
    }
    return report(entries, options, images, photos !== null)
  },
}

/** All contenders, and why some cannot take part. */
async function gather({ pack }: SuiteOptions) {
  const captures = await takeCaptures()
  const cores = availableParallelism()
  const { limits, executionProviders, workers } = engineOptions(loadConfig({}))
  const settings = { workers, limits, provider: executionProviders[0] ?? 'cpu' }
  const folder = await temporaryDir()
  const save = async (name: string, bytes: Buffer) => {
    await writeFile(`${folder}/${name}`, bytes)
    return `${folder}/${name}`
  }
  const setupFile = `${folder}/setup.json`
  const images = captures.verifyImages
  await writeFile(
    setupFile,
    JSON.stringify({
      images: await Promise.all(images.map((image, i) => save(`verify-${i}.jpg`, image))),
      enrolImage: await save('enrol.jpg', captures.enrolImages[0]!),
      packDir: pack.dir,
      networks: { fixedDetector: FIXED_DETECTOR, embedder: EMBEDDER },
    }),
  )

  const skipped = new Map<string, string>()
  const node = { programs: [{ program: process.execPath }], setupFile, cores }
  const onWasm = `${cores} processes (no threads in Node's WebAssembly backend), SIMD, sharp decodes`
  const contenders = [
    engineContender({ key: OWN, label: 'Countersign, engine' }, pack, settings, captures),
    serviceContender({ key: 'countersign_service', label: 'Countersign, service' }, pack, settings, captures),
    peerContender({
      ...node,
      key: 'express',
      label: 'Express + onnxruntime-node',
      setup: `one process over HTTP with ${4 * cores} callers, inference where the request is handled, ONNX Runtime's own thread setting; ${pack.modelId}, no mirrored second look`,
      script: 'express.mjs',
      scaling: 'http',
    }),
    peerContender({
      ...node,
      key: 'face_api',
      label: '@vladmandic/face-api, wasm',
      setup: `${onWasm}; tiny face detector at 320, 68 landmarks, recognition`,
      script: 'face-api.mjs',
      scaling: 'processes',
    }),
    peerContender({
      ...node,
      key: 'human',
      label: '@vladmandic/human, wasm',
      setup: `${onWasm}; detector with rotation, mesh, description; without liveness, iris, emotion and filters`,
      script: 'human.mjs',
      scaling: 'processes',
    }),
  ]
  await installNodePeers().catch((error: Error) => {
    for (const key of ['express', 'face_api', 'human']) skipped.set(key, `not installed: ${error.message}`)
  })

  const pythons = hasNetworks ? await findPythons() : null
  if (pythons) {
    contenders.push(
      engineContender(
        { key: 'countersign_same_networks', label: "Countersign, engine, OpenCV's networks" },
        await writeSameNetworksPack(),
        // YuNet finds a second face in these pictures; as in opencv.py, the largest is taken.
        { ...settings, limits: { ...limits, secondFaceRatio: Number.POSITIVE_INFINITY } },
        captures,
      ),
    )
  }
  contenders.push(
    peerContender({
      key: 'opencv',
      label: 'OpenCV dnn, YuNet + MobileFaceNet',
      setup: `${cores} Python processes, setNumThreads(1) each; setNumThreads(${cores}) for one at a time`,
      programs: pythons?.pythons ?? [],
      script: 'opencv.py',
      setupFile,
      scaling: 'processes',
      cores,
    }),
  )
  if (!pythons) skipped.set('opencv', 'the networks to compare on are not on this machine')
  else if (pythons.pythons.length === 0) skipped.set('opencv', pythons.reasons.join('; '))
  return { images, contenders, skipped }
}

async function takeTurns(entries: Entry[], seconds: number): Promise<void> {
  const progress = progressSteps('peers')
  const saturated = cutIntoRounds(seconds * (1 - SINGLE_SHARE), entries.length, ROUNDS)
  const single = cutIntoRounds(seconds * SINGLE_SHARE, entries.length, ROUNDS)
  const steps = (saturated.count + single.count) * entries.length
  let step = 0
  const turns = async (what: string, count: number, measure: (entry: Entry) => Promise<void>) => {
    for (let turn = 0; turn < count; turn++) {
      for (const entry of turn % 2 === 0 ? entries : entries.toReversed()) {
        progress.update(step++, steps, `${what}, ${entry.contender.label}`)
        await unlessSkipped(entry, () => measure(entry))
      }
    }
  }
  try {
    await turns('all cores busy', saturated.count, async ({ contender, perSecond }) => {
      perSecond.push(await contender.saturate(saturated.seconds))
    })
    await turns('one at a time', single.count, async ({ contender, singleMs }) => {
      singleMs.push(...(await contender.single(single.seconds)))
    })
    progress.update(steps, steps, 'done')
  } finally {
    progress.stop()
  }
}

/** Leaves out a failing peer from then on; a failure of Countersign fails the run. */
async function unlessSkipped(entry: Entry, work: () => Promise<void>): Promise<void> {
  if (entry.skipped !== null) return
  try {
    await work()
  } catch (error) {
    if (entry.contender.key.startsWith(OWN) || isInterrupted()) throw error
    entry.skipped = withoutPaths((error as Error).message)
  }
}

function report(entries: Entry[], { pack, seconds }: SuiteOptions, images: Buffer[], hasPhotos: boolean) {
  const own = median(entries.find(({ contender }) => contender.key === OWN)!.perSecond)
  const figures = entries.map(({ contender, perSecond, singleMs, fnmr, skipped }) => ({
    contender,
    skipped,
    perSecond: skipped === null ? median(perSecond) : 0,
    singleMs: skipped === null ? median(singleMs) : 0,
    fnmr,
  }))
  const mostRounds = Math.max(...entries.map(({ perSecond }) => perSecond.length))
  const summary = Object.fromEntries(
    figures.map(({ contender, skipped, perSecond, singleMs, fnmr }) => [
      contender.key,
      skipped === null
        ? {
            per_s: round(perSecond, 2),
            single_p50_ms: round(singleMs, 2),
            'fnmr_at_fmr_1e-3': fnmr === null ? null : round(fnmr, 4),
          }
        : { skipped },
    ]),
  )
  return {
    suite: 'peers',
    model: pack.modelId,
    seconds,
    summary,
    tables: [
      {
        title: 'The same photos, in turns',
        rows: [
          ['', 'verifications/s', 'of Countersign', 'one at a time, p50 ms', 'FNMR at FMR 1e-3'],
          ...figures.map(({ contender, skipped, perSecond, singleMs, fnmr }) =>
            skipped === null
              ? [
                  contender.label,
                  perSecond.toFixed(1),
                  `${((100 * perSecond) / own).toFixed(0)} %`,
                  singleMs.toFixed(1),
                  fnmr === null ? '–' : `${(100 * fnmr).toFixed(1)} %`,
                ]
              : [contender.label, 'skipped', '–', '–', '–'],
          ),
        ],
      },
      {
        title: 'Rounds, verifications per second',
        rows: [
          ['', ...Array.from({ length: mostRounds }, (_, i) => String(i + 1))],
          ...entries
            .filter(({ skipped }) => skipped === null)
            .map(({ contender, perSecond }) => [
              contender.label,
              ...perSecond.map((value) => value.toFixed(1)),
            ]),
        ],
      },
    ],
    notes: [
      `Images: ${describeSizes(images)}. A verification decodes, detects, aligns, embeds and matches one of them.`,
      ...figures.map(({ contender: { label, setup, facts }, skipped }) =>
        skipped === null
          ? `${label}${facts.version ? ` ${facts.version}` : ''}: ${setup}.`
          : `${label}: skipped, ${skipped}`,
      ),
      hasPhotos
        ? 'FNMR: 225 genuine and 1000 impostor pairs of 50 LFW photos of five people, largest face, a photo without a face matches nothing. Few people: good for ranking, not for choosing an operating point.'
        : 'The labelled photos are not on this machine: accuracy was not measured.',
      'Networks differ, so speed and accuracy belong together: only rows of the same networks compare code with code.',
    ],
    details: {
      contenders: entries.map(({ contender, perSecond, singleMs, skipped }) => ({
        key: contender.key,
        setup: contender.setup,
        ...contender.facts,
        rounds_per_s: perSecond.map((value) => round(value, 2)),
        single_samples: singleMs.length,
        skipped,
      })),
    },
    failures: [],
  }
}
