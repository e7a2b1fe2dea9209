/** Runs every photo through the engine once, with all workers busy. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { IMAGE_ERROR_CODES } from '../../src/biometrics/biometric-error.js'
import { Engine } from '../../src/biometrics/engine/engine.js'
import { BiometricError, type EngineOptions } from '../../src/biometrics/types.js'
import type { DataSet } from './data-set.js'
import type { EmbeddingCache, PhotoResult } from './embedding-cache.js'
import { anyone, forEachBusily } from './engine-work.js'
import { yawOf } from './head-pose.js'

export type EmbedProgress = (done: number, total: number, photo: string) => void

/** @returns one result a photo, in the order of the data set */
export async function embedPhotos(
  data: DataSet,
  options: EngineOptions,
  cache: EmbeddingCache,
  onProgress: EmbedProgress,
): Promise<PhotoResult[]> {
  const results = new Array<PhotoResult>(data.photos.length)
  /** The engine, started by the first photo that is not cached yet. */
  let engine: Promise<Engine> | null = null
  let done = 0
  try {
    await forEachBusily(data.photos, options, async ({ path }, index) => {
      const bytes = await readFile(resolve(data.folder, path))
      const key = createHash('sha256').update(bytes).digest('hex')
      let result = cache.get(key)
      if (!result) {
        engine ??= Engine.start(options)
        result = await embed(await engine, bytes)
        await cache.put(key, result)
      }
      results[index] = result
      onProgress(++done, data.photos.length, path)
    })
  } finally {
    await (await (engine as Promise<Engine> | null))?.close()
  }
  return results
}

async function embed(engine: Engine, bytes: Uint8Array): Promise<PhotoResult> {
  const provider = engine.health().provider.active
  try {
    const { embedding, quality, faces, landmarks } = (await engine.verify([bytes], anyone(engine))).sample
    const yawDegrees = landmarks && yawOf(landmarks)
    const { components } = quality
    const face = { yawDegrees, components, isAmbiguous: !faces.isLargestCentral }
    return { embedding, quality: quality.score, face, provider, refusal: null }
  } catch (error) {
    if (!(error instanceof BiometricError) || !PHOTO_TO_BLAME.has(error.code)) throw error
    return { embedding: null, quality: null, face: null, provider, refusal: error.code }
  }
}

/** Returns whether an error says nothing about the photo: such an error is no result. */
const PHOTO_TO_BLAME: ReadonlySet<string> = new Set(
  IMAGE_ERROR_CODES.filter((code) => code !== 'liveness_failed'),
)
