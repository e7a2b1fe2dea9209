/** A model pack on disk: reading it, checking it, and looking up the threshold for a false match rate. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Compile } from 'typebox/compile'
import { type Calibration, readCalibration } from './calibration.js'
import { ModelPackError } from './model-pack-error.js'
import { networkFiles, type PackPlace, readNetwork } from './network-files.js'
import { type PackManifest, PackSchema } from './pack-schema.js'
import { assertRunnable } from './runnable-network.js'

export { ModelPackError, type ModelPackErrorCode } from './model-pack-error.js'

/** The name of a pack's manifest in its folder. */
export const PACK_JSON = 'pack.json'

/** A manifest that was checked, and the folder it came from. Cloneable, so that it can travel to a worker. */
export interface ModelPack extends PackPlace {
  manifest: PackManifest
  /** The calibration measured with the pack; it takes precedence over the points in the manifest. */
  calibration?: Calibration
}

const schema = Compile(PackSchema)

/**
 * Turns the parsed JSON of a `pack.json` into a manifest.
 * @throws ModelPackError pack_invalid, naming the field
 */
export function parsePackManifest(value: unknown): PackManifest {
  if (!schema.Check(value)) {
    const issues = schema.Errors(value).slice(0, 5).map(describeIssue)
    throw new ModelPackError('pack_invalid', `pack.json is not valid: ${issues.join('; ')}`)
  }
  const contradiction = findContradiction(value)
  if (contradiction) throw new ModelPackError('pack_invalid', `pack.json is not valid: ${contradiction}`)
  return value
}

/**
 * Reads and checks `<dir>/pack.json`, and `calibration.json` where there is one; the network files are not touched.
 * @throws ModelPackError pack_not_found, pack_malformed, pack_invalid, calibration_invalid, calibration_mismatch
 */
export async function loadModelPack(dir: string): Promise<ModelPack> {
  const manifest = await loadPackManifest(dir)
  const calibration = await readCalibration(dir, manifest)
  return {
    dir,
    manifest,
    modelId: `${manifest.id}@${manifest.version}`,
    ...(calibration ? { calibration } : {}),
  }
}

/** Reason for which an existing file cannot be read, as a clause; empty if it does not exist. */
function reasonOf({ code }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? ''
    : ` (${code}: this user may not read it, or the disk fails)`
}

/**
 * Reads and checks only `<dir>/pack.json`, without the calibration.
 * @throws ModelPackError pack_not_found, pack_malformed, pack_invalid
 */
export async function loadPackManifest(dir: string): Promise<PackManifest> {
  const path = join(dir, PACK_JSON)
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new ModelPackError(
      'pack_not_found',
      `no model pack at ${dir}: cannot read ${path}${reasonOf(cause)}`,
      { cause },
    )
  })
  return readPackManifest(text, path)
}

/**
 * @param origin name of the text's source, for the message
 * @throws ModelPackError pack_malformed, pack_invalid
 */
export function readPackManifest(text: string, origin: string): PackManifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ModelPackError('pack_malformed', `${origin} is not JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  return parsePackManifest(value)
}

/** Files that have passed the check in this process: a start checks its packs when they are made ready, and again for its engine. */
const checked = new Set<string>()

/**
 * Checks the SHA-256 of every file the pack names, and that each is a network that can run here. A file that has not changed since it
 * passed is not read again; a worker hashes what it loads in any case.
 * @throws ModelPackError pack_file_missing, pack_file_mismatch, network_unusable
 */
export async function verifyModelPack(pack: ModelPack): Promise<void> {
  for (const network of networkFiles(pack.manifest)) {
    const path = join(pack.dir, network.file)
    const state = await stat(path, { bigint: true }).catch(() => null)
    // No program can set the time of the last change of a file's content, owner or name.
    const version = state && [network.sha256, state.dev, state.ino, state.size, state.ctimeNs].join()
    if (version && checked.has(version)) continue
    assertRunnable(await readNetwork(pack, network), path)
    if (version) checked.add(version)
  }
}

/** Whether a folder holds a pack that `loadModelPack` and `verifyModelPack` accept. */
export function holdsWholePack(dir: string): Promise<boolean> {
  return loadModelPack(dir)
    .then(verifyModelPack)
    .then(
      () => true,
      () => false,
    )
}

/** Basis of a false match rate: all calibration points behind it were measured, or not. */
export type FmrBasis = 'measured' | 'extrapolated'

export interface DecisionThreshold {
  /** A score at or above it is a match. */
  threshold: number
  /** The attained false match rate: the requested one, or the nearest of the calibration. */
  fmr: number
  /** True if the requested rate lies outside the calibration, and the nearest end was taken. */
  clamped: boolean
  /** `extrapolated` if the threshold rests on at least one point that was not measured. */
  basis: FmrBasis
}

/**
 * The threshold for a false match rate: linear in log10(fmr) between the two calibration points around it, never beyond the
 * last one. A calibration that was measured for the pack comes before the points that its manifest states.
 * @param fmr 0 < fmr <= 1
 */
export function thresholdForFmr(pack: ModelPack, fmr: number): DecisionThreshold {
  if (!(fmr > 0 && fmr <= 1)) throw new TypeError('fmr must be over 0 and at most 1')
  const points = calibrationPoints(pack).sort((a, b) => b.fmr - a.fmr)
  const above = points.findLast((point) => point.fmr >= fmr)
  const below = points.find((point) => point.fmr <= fmr)
  const [from, to] = [above ?? below!, below ?? above!]
  const basis = from.measured && to.measured ? 'measured' : 'extrapolated'
  if (!above || !below) return { threshold: from.threshold, fmr: from.fmr, clamped: true, basis }
  const span = Math.log10(to.fmr) - Math.log10(from.fmr)
  const share = span === 0 ? 0 : (Math.log10(fmr) - Math.log10(from.fmr)) / span
  return {
    threshold: from.threshold + share * (to.threshold - from.threshold),
    fmr,
    clamped: false,
    basis,
  }
}

/** Points in which thresholds are looked up: the calibration's, or those of the manifest. */
export function calibrationPoints({ calibration, manifest }: ModelPack) {
  if (calibration)
    return calibration.points.map((point) => ({ ...point, measured: point.basis !== 'extrapolated' }))
  return manifest.calibration.points.map((point) => ({ ...point, measured: point.measured !== false }))
}

/**
 * Default rate for images of one request. It is milder than a verdict's: another person among the photos should be
 * found without refusing good photos.
 */
const DEFAULT_SAME_PERSON_FMR = 1e-3

/** Lowest score at which the images of one request count as one person's. */
export function samePersonThreshold(pack: ModelPack): number {
  return thresholdForFmr(pack, pack.manifest.embedder.samePersonFmr ?? DEFAULT_SAME_PERSON_FMR).threshold
}

/** Lowest score at which a face that moves for a challenge counts as the one of the frontal look. */
export function movedFaceThreshold(pack: ModelPack): number {
  const { activeLiveness } = pack.manifest
  return activeLiveness?.movedFaceFmr
    ? thresholdForFmr(pack, activeLiveness.movedFaceFmr).threshold
    : samePersonThreshold(pack)
}

const DEFAULT_REPLAY_SCORE = 0.98

/** Lowest score at which two captures of one user count as one that was sent twice. */
export function replayScore(pack: ModelPack): number {
  return pack.manifest.replayScore ?? DEFAULT_REPLAY_SCORE
}

function describeIssue(error: { instancePath: string; message: string; keyword: string; params: object }) {
  const where = error.instancePath.slice(1).replaceAll('/', '.') || 'the document'
  const names = 'additionalProperties' in error.params ? error.params.additionalProperties : undefined
  return Array.isArray(names)
    ? `${where} has unknown fields: ${names.join(', ')}`
    : `${where} ${error.message}`
}

/** Checks rules that a schema cannot express: fields that only make sense together. */
function findContradiction({ detector, landmarks, embedder, calibration }: PackManifest): string | undefined {
  const { source, target } = embedder.alignment
  const pointCount = landmarks ? 68 : 5
  if (detector.decoder === 'tiny-yolov2' && !detector.anchors) {
    return 'detector.anchors is required by the decoder tiny-yolov2'
  }
  if (detector.decoder === 'tiny-yolov2' && !landmarks) {
    return 'landmarks is required: the decoder tiny-yolov2 finds no facial points'
  }
  if (source.length !== target.length) {
    return 'embedder.alignment.source and target must have the same length'
  }
  const outside = source.find((index) => index >= pointCount)
  if (outside !== undefined) {
    return `embedder.alignment.source names point ${outside}, but there are ${pointCount} points`
  }
  const byRate = [...calibration.points].sort((a, b) => b.fmr - a.fmr)
  if (byRate.some((point, i) => i > 0 && point.threshold < byRate[i - 1]!.threshold)) {
    return 'calibration.points: a lower false match rate cannot have a lower threshold'
  }
  return undefined
}
