/** Packs, engines and faces for the engine's tests. */

import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp, { type Sharp } from 'sharp'
import { inject } from 'vitest'
import type { PackManifest } from '../../models/pack/pack-schema.js'
import { Engine } from '../../src/biometrics/engine/engine.js'
import type { CallOptions, EngineOptions, ImageLimits, PackChoice } from '../../src/biometrics/types.js'
import { FRAME_LIMITS, guidanceOn } from '../../src/features/challenges/film/frame-guidance.js'
import { type FilmedSteps, judgeFilm } from '../../src/features/challenges/film/judge-film.js'
import { ARCFACE_TARGET } from '../../tools/pack-builders/build/arcface-target.js'
import { OnnxGraph } from '../../tools/pack-builders/onnx/onnx-writer.js'
import { temporaryFolder, whenOver } from '../support/temporary-folder.js'

export const defaultLimits: ImageLimits = {
  maxPixels: 25_000_000,
  minSidePx: 64,
  minFacePx: 80,
  secondFaceRatio: 0.5,
}

/** Limits that accept the largest face of any size, among any others. */
export const anyFace: ImageLimits = { ...defaultLimits, minFacePx: 1, secondFaceRatio: 1.01 }

/** Networks and photographs for measuring, which are not part of the project: see `evaluationDataMissing`. */
const evaluationData = fileURLToPath(new URL('../../../shared/data/', import.meta.url))

/** True (with a note on the console) if the evaluation data is not on this machine; such tests are then skipped. */
export function evaluationDataMissing(): boolean {
  const missing = !existsSync(join(evaluationData, 'models'))
  if (missing) console.warn('skipped: the evaluation networks and photographs are not on this machine')
  return missing
}

export function readEvaluationFile(path: string): Buffer {
  return readFileSync(join(evaluationData, path))
}

/** The pack that this run has built. */
export const baselinePack = (): string => join(inject('modelsDir'), 'baseline')

/** A copy of it, which a test may damage. */
export function copyBaselinePack(): string {
  const dir = temporaryFolder()
  cpSync(baselinePack(), dir, { recursive: true })
  return dir
}

/**
 * The baseline pack with a small embedder and no calibration. An engine with it starts in half the time, for tests about the lives of
 * processes, workers and calls. It finds faces as the baseline does; their embeddings differ by picture, and take anybody for anybody.
 * @returns its folder, which has the baseline's name and lies in a models folder of its own
 */
export function writeLightPack(): string {
  const dir = join(temporaryFolder(), 'baseline')
  mkdirSync(dir)
  const baseline = baselinePack()
  const { embedder, ...manifest }: PackManifest = JSON.parse(
    readFileSync(join(baseline, 'pack.json'), 'utf8'),
  )
  for (const { file } of [manifest.detector, manifest.landmarks!])
    copyFileSync(join(baseline, file), join(dir, file))
  const network = meansNetwork(embedder)
  writeFileSync(join(dir, embedder.file), network)
  const sha256 = createHash('sha256').update(network).digest('hex')
  const { quantised: _, ...light } = { ...embedder, sha256, normalize: true }
  writeFileSync(join(dir, 'pack.json'), JSON.stringify({ ...manifest, embedder: light }))
  return dir
}

/** Takes the means of 36 squares of the chip, in each color, as the first 108 numbers of an embedding. */
function meansNetwork({ input: { width, height }, dimensions }: PackManifest['embedder']): Uint8Array {
  const means = 3 * 6 * 6
  const graph = new OnnxGraph('means', 'means of squares')
  const input = graph.input('input', ['n', 3, height, width])
  const square = { ints: [height / 6, width / 6] }
  const squares = graph.node('AveragePool', [input], 'squares', { kernel_shape: square, strides: square })
  const places = Float32Array.from({ length: means * dimensions }, (_, i) =>
    i % dimensions === Math.floor(i / dimensions) ? 1 : 0,
  )
  const spread = graph.floats('places', [means, dimensions], places)
  graph.output(graph.node('MatMul', [graph.node('Flatten', [squares], 'list'), spread], 'embedding'), [
    'n',
    dimensions,
  ])
  return graph.encode()
}

/** YuNet, MobileFaceNet and two MiniFASNets, fed as their model cards say. */
export function writeEvaluationPack(
  detector = 'yunet_n_dynamic.onnx',
  embedder = 'mobilefacenet_dynamic.onnx',
): string {
  const dir = temporaryFolder()
  const take = (file: string) => {
    copyFileSync(join(evaluationData, 'models', file), join(dir, file))
    const sha256 = createHash('sha256')
      .update(readFileSync(join(dir, file)))
      .digest('hex')
    return { file, sha256, licence: 'for measurement', origin: 'evaluation data' }
  }
  const rawBgr = { color: 'bgr' as const, mean: triple(0), scale: triple(1) }
  const patch = { width: 80, height: 80, ...rawBgr }
  const manifest: PackManifest = {
    format: 1,
    id: 'evaluation',
    version: '1',
    description: 'For tests.',
    detector: {
      ...take(detector),
      decoder: 'yunet',
      input: rawBgr,
      sizes: [640],
      scoreThreshold: 0.5,
      nmsIou: 0.3,
    },
    embedder: {
      ...take(embedder),
      input: { width: 112, height: 112, color: 'rgb', mean: triple(127.5), scale: triple(1 / 128) },
      alignment: { source: [0, 1, 2, 3, 4], target: ARCFACE_TARGET },
      dimensions: 128,
      normalize: true,
      flipAverage: true,
      metric: 'cosine',
    },
    liveness: {
      decoder: 'minifasnet',
      networks: [
        { ...take('minifasnet_v2_2.7_80x80.onnx'), input: patch, cropScale: 2.7 },
        { ...take('minifasnet_v1se_4.0_80x80.onnx'), input: patch, cropScale: 4 },
      ],
      liveClass: 1,
      threshold: 0.5,
    },
    calibration: { source: 'one impostor pair in 1000', points: [{ fmr: 1e-3, threshold: 0.3164 }] },
  }
  writeFileSync(join(dir, 'pack.json'), JSON.stringify(manifest))
  return dir
}

function triple(value: number): [number, number, number] {
  return [value, value, value]
}

export function startEngine(packDir: string, options: Partial<EngineOptions> = {}): Promise<Engine> {
  return Engine.start({
    packDir,
    workers: 1,
    executionProviders: ['cpu'],
    limits: defaultLimits,
    queueLimit: 64,
    // One task per worker: a call is either in the worker or waiting; other tests give a worker several tasks.
    tasksPerWorker: 1,
    ...options,
  })
}

/** An engine that closes itself: started inside a test, after that test; outside of tests, after those of the file. */
export async function engineOf(packDir: string, options: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await startEngine(packDir, options)
  whenOver(() => engine.close())
  return engine
}

/** How a call ends: `resolved`, or the code of its error. */
export const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'resolved',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

/** Six people of face-api's sample photographs: squares of 420 px that one face fills by more than half. */
export const people = [
  { photo: 3, left: 1020, top: 230 },
  { photo: 5, left: 1290, top: 350 },
  { photo: 5, left: 250, top: 830 },
  { photo: 6, left: 180, top: 480 },
  { photo: 6, left: 680, top: 310 },
  { photo: 6, left: 1480, top: 250 },
] as const

export function samplePhoto(number: number): Buffer {
  const path = `../../node_modules/@vladmandic/face-api/demo/sample${number}.jpg`
  return readFileSync(new URL(path, import.meta.url))
}

const crops = new Map<(typeof people)[number], Promise<Buffer>>()

/** One person's square, decoded; encode it or change it first. */
export async function faceCrop(person: (typeof people)[number]): Promise<Sharp> {
  const { photo, left, top } = person
  const [width, height] = [420, 420]
  const crop =
    crops.get(person) ?? sharp(samplePhoto(photo)).extract({ left, top, width, height }).raw().toBuffer()
  crops.set(person, crop)
  return sharp(await crop, { raw: { width, height, channels: 3 } })
}

/** A plain picture without a face. */
export function plainPicture(width = 320, height = 240): Sharp {
  return sharp({ create: { width, height, channels: 3, background: { r: 90, g: 130, b: 170 } } })
}

/** Judges the frames of a challenge as a service does. */
export function judgeBy(
  engine: Engine,
  frames: readonly Uint8Array[],
  film: FilmedSteps,
  call: CallOptions & PackChoice = {},
) {
  return engine.series(frames, call, (series) => judgeFilm(series, film))
}

/** Guidance on a frame of a person who looks ahead, as a service gives it. */
export async function guidanceBy(engine: Engine, frame: Uint8Array) {
  return guidanceOn(await engine.glance([frame], { limits: FRAME_LIMITS }), 'frontal')
}
