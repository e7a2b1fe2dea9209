/** Judgements about liveness that need no network. */
import type { LivenessSpec } from '../../../../models/pack/pack-schema.js'
import type { Box, Liveness } from '../../types.js'

/** Result where the pack has no liveness role. */
export const LIVENESS_UNCHECKED: Liveness = { checked: false, score: null, passed: null }

/** Returns whether the image shows as much around the face as the networks need. */
export function hasRoomAround(
  box: Box,
  { width, height }: { width: number; height: number },
  { networks, leastCropShare = 0 }: Pick<LivenessSpec, 'networks' | 'leastCropShare'>,
): boolean {
  return networks.every(
    ({ cropScale }) => scaleWithin(box, cropScale, width, height) >= leastCropShare * cropScale,
  )
}

/** The largest scale up to `cropScale` for which the image has room, with a face at its border moved inside. */
export function scaleWithin(box: Box, cropScale: number, imageWidth: number, imageHeight: number): number {
  const [width, height] = [Math.trunc(box.width), Math.trunc(box.height)]
  return Math.min((imageHeight - 1) / height, (imageWidth - 1) / width, cropScale)
}
