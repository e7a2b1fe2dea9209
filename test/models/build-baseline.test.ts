/** Writing the pack to the disk: always the same bytes, all of them or none. */
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { loadModelPack, verifyModelPack } from '../../models/pack/model-pack.js'
import { buildBaseline } from '../../tools/pack-builders/baseline/build-baseline.js'
import { NETWORK_PINS } from '../../tools/pack-builders/baseline/pins.js'
import type { BuiltFile } from '../../tools/pack-builders/build/build-pack.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { WEIGHTS_DIR } from './reference/quantised-weights.js'

const FILE_NAMES = ['detector.onnx', 'embedder-int8.onnx', 'embedder.onnx', 'landmarks.onnx', 'pack.json']
/** The operator may replace this file, so it is not among the files with known bytes. */
const IN_FOLDER = ['calibration.json', ...FILE_NAMES]
const WEIGHT_FILES =
  /^(tiny_face_detector|face_landmark_68|face_recognition)_model(\.bin|-weights_manifest\.json)$/

let root: string
let outDir: string

/** One build for the tests that only look at its outcome. */
const dir = temporaryFolder()
let built: { dir: string; files: BuiltFile[]; progress: Array<[number, number, string]> }

beforeAll(async () => {
  const progress: Array<[number, number, string]> = []
  const { files } = await buildBaseline({ outDir: dir, onProgress: (...call) => progress.push(call) })
  built = { dir, files, progress }
})

beforeEach(() => {
  root = temporaryFolder()
  outDir = join(root, 'packs', 'baseline')
})

async function hashesOf(dir: string): Promise<Record<string, string>> {
  const entries = await Promise.all(
    FILE_NAMES.map(async (name) => {
      const bytes = await readFile(join(dir, name))
      return [name, createHash('sha256').update(bytes).digest('hex')] as const
    }),
  )
  return Object.fromEntries(entries)
}

/** The source weights, with one byte of one file flipped. */
async function damagedWeights(file: string): Promise<string> {
  const weightsDir = join(root, 'weights')
  await cp(WEIGHTS_DIR, weightsDir, {
    recursive: true,
    filter: (path) => !/\.(bin|json)$/.test(path) || WEIGHT_FILES.test(path.split('/').at(-1)!),
  })
  const bytes = await readFile(join(weightsDir, file))
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(join(weightsDir, file), bytes)
  return weightsDir
}

test('the pack has the pinned bytes', async () => {
  const { dir, files } = built
  expect(await hashesOf(dir)).toEqual(Object.fromEntries(files.map(({ file, sha256 }) => [file, sha256])))
  for (const [file, pin] of Object.entries(NETWORK_PINS)) expect(files).toContainEqual({ file, ...pin })
  for (const { file, bytes } of files) expect((await readFile(join(dir, file))).byteLength).toBe(bytes)
})

test('pack.json names the files in its folder', async () => {
  const { dir } = built
  const pack = JSON.parse(await readFile(join(dir, 'pack.json'), 'utf8'))
  const hashes = await hashesOf(dir)
  for (const role of [pack.detector, pack.landmarks, pack.embedder]) {
    expect(role.sha256).toBe(hashes[role.file])
    expect(role.licence).not.toBe('')
  }
  expect(pack.embedder.quantised.sha256).toBe(hashes['embedder-int8.onnx'])
  expect(pack).toMatchObject({ format: 1, id: 'baseline', version: '1.0.0' })
  expect(pack.embedder.alignment.source).toEqual([45, 42, 36, 39, 33])
  expect(pack.embedder.alignment.target[4]).toEqual(
    [74.01123135679, 87.77975316475].map((v) => expect.closeTo(v, 9)),
  )
  const { points } = pack.calibration
  expect(points.map((point: { fmr: number }) => point.fmr)).toEqual([
    1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5,
  ])
  const thresholds = points.map((point: { threshold: number }) => point.threshold)
  expect(thresholds).toEqual([...thresholds].sort((a, b) => a - b))
})

test('the engine accepts the pack', async () => {
  const pack = await loadModelPack(built.dir)
  expect(pack.modelId).toBe('baseline@1.0.0')
  await verifyModelPack(pack)
})

test('progress counts up to its total', () => {
  const calls = built.progress
  expect(calls.map(([done]) => done)).toEqual([1, 2, 3, 4, 5, 6])
  expect(new Set(calls.map(([, total]) => total))).toEqual(new Set([6]))
  expect(calls.every(([, , label]) => label !== '')).toBe(true)
})

test.each([
  'tiny_face_detector_model.bin',
  'face_landmark_68_model-weights_manifest.json',
  'face_recognition_model.bin',
])('a changed %s is refused, with advice, and leaves nothing behind', async (file) => {
  const weightsDir = await damagedWeights(file)
  await expect(buildBaseline({ outDir, weightsDir })).rejects.toThrow(/npm ci/)
  expect(await readdir(join(root, 'packs'))).toEqual([])
})

test('missing weights are refused with advice', async () => {
  await expect(buildBaseline({ outDir, weightsDir: join(root, 'nothing') })).rejects.toThrow(/npm ci/)
})

test('a complete pack is kept without reading the weights', async () => {
  await cp(built.dir, outDir, { recursive: true })
  const longAgo = new Date('2020-01-01')
  await utimes(join(outDir, 'pack.json'), longAgo, longAgo)
  const { files } = await buildBaseline({ outDir, weightsDir: join(root, 'nothing') })
  expect(files.map(({ file }) => file).sort()).toEqual(FILE_NAMES)
  expect((await stat(join(outDir, 'pack.json'))).mtime).toEqual(longAgo)
})

test('a damaged or unfinished pack is replaced whole', async () => {
  await cp(built.dir, outDir, { recursive: true })
  const expected = await hashesOf(outDir)
  await writeFile(join(outDir, 'detector.onnx'), 'damaged')
  await rm(join(outDir, 'pack.json'))
  await buildBaseline({ outDir })
  expect(await hashesOf(outDir)).toEqual(expected)
  expect(await readdir(join(root, 'packs'))).toEqual(['baseline'])
})

test('a failing build leaves an older pack as it was', async () => {
  await mkdir(outDir, { recursive: true })
  await writeFile(join(outDir, 'pack.json'), '{"version":"0.9.0"}')
  const weightsDir = await damagedWeights('face_recognition_model.bin')
  await expect(buildBaseline({ outDir, weightsDir })).rejects.toThrow()
  expect(await readFile(join(outDir, 'pack.json'), 'utf8')).toBe('{"version":"0.9.0"}')
})

test('every build has the same bytes; what a killed one left behind does no harm, and goes once it is old', async () => {
  const fresh = join(root, 'packs', '.baseline.building-fresh')
  const old = join(root, 'packs', '.baseline.building-old')
  for (const dir of [fresh, old]) {
    await mkdir(dir, { recursive: true })
    await writeFile(join(dir, 'detector.onnx'), 'half')
  }
  await utimes(old, new Date('2020-01-01'), new Date('2020-01-01'))
  const { files } = await buildBaseline({ outDir })
  expect(files).toEqual(built.files)
  expect(await hashesOf(outDir)).toEqual(await hashesOf(built.dir))
  expect((await readdir(outDir)).sort()).toEqual(IN_FOLDER)
  expect((await readdir(join(root, 'packs'))).sort()).toEqual(['.baseline.building-fresh', 'baseline'])
})

test('three builds at once all succeed and leave one pack', async () => {
  const results = await Promise.all([1, 2, 3].map(() => buildBaseline({ outDir })))
  expect(results[1]).toEqual(results[0])
  expect((await readdir(outDir)).sort()).toEqual(IN_FOLDER)
  expect(await readdir(join(root, 'packs'))).toEqual(['baseline'])
})

test('a folder with other files in it is never replaced', async () => {
  await mkdir(outDir, { recursive: true })
  await writeFile(join(outDir, 'thesis.txt'), 'years of work')
  await expect(buildBaseline({ outDir })).rejects.toThrow(/thesis\.txt.*empty or new folder/)
  expect(await readdir(outDir)).toEqual(['thesis.txt'])
})

test('a symbolic link to a folder stays a link', async () => {
  await mkdir(join(root, 'elsewhere'))
  await mkdir(join(root, 'packs'))
  for (const file of Object.keys(NETWORK_PINS)) await cp(join(built.dir, file), join(root, 'elsewhere', file))
  await symlink(join(root, 'elsewhere'), outDir)
  await buildBaseline({ outDir })
  expect((await readdir(join(root, 'elsewhere'))).sort()).toEqual(IN_FOLDER)
})
