/**
 * Compares the embedding of one picture with the one that came out where the pack's thresholds were measured. A graph that
 * computes something else on this machine gives no error, only scores that mean nothing.
 */
import { createHash } from 'node:crypto'
import type { Calibration } from '../../../../models/pack/calibration.js'
import type { ModelPack } from '../../../../models/pack/model-pack.js'
import { ModelPackError } from '../../../../models/pack/model-pack-error.js'
import { samplePhoto } from '../../../lib/sample-photo.js'
import { dot } from '../../kernels/vector-math.js'
import { type DecodedImage, decodePixels } from '../decode/decode-pixels.js'
import { vectorFrom, vectorText } from '../judge/vector-text.js'

/** It shows one face. */
const PICTURE = 'sample2.jpg'
const LIMITS = { maxPixels: 4_000_000, minSidePx: 1 }
/** 8-bit graphs gave 0.9999 and another compression of the picture 0.999; a graph made for another processor gave -0.04. */
const LEAST_COSINE = 0.99

/** A picture for the first run of every stage. */
export interface CheckPicture {
  image: DecodedImage
  /** SHA-256 of its file; null for a gray picture, where the installation lacks the photo. */
  sha256: string | null
}

/** It shows no face. Each call makes new pixels, since a scene frees those that it has. */
export function grayPicture(): CheckPicture {
  const [width, height] = [640, 480]
  const data = new Uint8Array(width * height * 3).fill(128)
  return {
    image: { pixels: { data, width, height }, sourceScale: 1, format: 'png', width, height },
    sha256: null,
  }
}

export async function readCheckPicture(): Promise<CheckPicture> {
  const bytes = await samplePhoto(PICTURE).catch(() => null)
  if (bytes === null) return grayPicture()
  return {
    image: await decodePixels(bytes, LIMITS),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

/** Returns what a calibration holds. @param embedding of the picture's face, or null where none was found */
export function checkVectorOf(
  { sha256 }: CheckPicture,
  embedding: Float32Array | null,
): Calibration['check'] | undefined {
  return sha256 !== null && embedding !== null
    ? { picture: sha256, embedding: vectorText(embedding) }
    : undefined
}

/**
 * Compares nothing where the calibration has no vector, or one of another picture.
 * @throws ModelPackError pack_computes_otherwise
 */
export function assertComputesAsMeasured(
  { calibration, modelId }: ModelPack,
  { sha256 }: CheckPicture,
  embedding: Float32Array | null,
): void {
  if (!calibration?.check || calibration.check.picture !== sha256) return
  const cosine = embedding ? cosineOf(vectorFrom(calibration.check.embedding), embedding) : Number.NaN
  if (cosine >= LEAST_COSINE) return
  throw new ModelPackError(
    'pack_computes_otherwise',
    `The networks of ${modelId} compute something else here than where their thresholds were measured: the embedding of the check ` +
      `picture ${embedding ? `has a cosine of ${cosine.toFixed(3)} with the one measured, and has to reach ${LEAST_COSINE}` : 'is missing, since no face was found in it'}. ` +
      'Their scores would mean nothing.',
  )
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}
