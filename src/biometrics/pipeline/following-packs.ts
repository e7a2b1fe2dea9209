/** Packs that follow the one that decides: they add embeddings of the face that was decided about, and refuse nothing. */
import { BiometricError, type Box } from '../types.js'
import type { FaceModel, FindOptions } from './face-model.js'
import type { Scene } from './judge/scene.js'
import { intersectionOverUnion } from './networks/detection.js'

/** The packs that follow in one call. */
export interface Following {
  /** Model ids. */
  models: readonly string[]
  /** Called when a pack failed for another reason than that it finds no such face. */
  onFailure(modelId: string, error: unknown): void
}

/** Embeddings under way by model id; none of the promises rejects. Null where a pack gives no embedding. */
export type ComingEmbeddings = Map<string, Promise<Float32Array | null>>

/**
 * Least overlap, as intersection over union, of the boxes that two detectors draw around one face. Detectors of different
 * packs draw boxes of different shape; boxes of two people hardly overlap.
 */
const LEAST_OVERLAP = 0.3

/**
 * Adds the face to the embedder of each pack that follows. A pack that finds no face, or another one than was decided
 * about, gives null, and so does a pack that fails.
 * @param models by model id
 * @param box the face that was decided about, in pixels of the pyramid's base
 * @throws BiometricError cancelled
 */
export async function embedByFollowers(
  models: ReadonlyMap<string, FaceModel>,
  scene: Scene,
  box: Box,
  options: FindOptions,
  following: Following,
): Promise<ComingEmbeddings> {
  const coming: ComingEmbeddings = new Map()
  for (const modelId of following.models) {
    const failed = (error: unknown) => {
      if (error instanceof BiometricError && error.code === 'cancelled') throw error
      if (!(error instanceof BiometricError)) following.onFailure(modelId, error)
      return null
    }
    const model = models.get(modelId)
    const chip = model ? await sameFace(model, scene, box, options).catch(failed) : null
    const embedding = model && chip ? model.embedder.add(chip, options.clock) : Promise.resolve(null)
    coming.set(modelId, embedding.catch(failed))
  }
  return coming
}

/** Returns the pack's chip of the face, or null where its main face is another one. @throws BiometricError as `find` does */
async function sameFace(
  model: FaceModel,
  scene: Scene,
  box: Box,
  options: FindOptions,
): Promise<Float32Array | null> {
  const found = await model.find(scene, options)
  if (intersectionOverUnion(found.box, box) < LEAST_OVERLAP) return null
  return model.chipOf(scene, found, options.clock)
}
