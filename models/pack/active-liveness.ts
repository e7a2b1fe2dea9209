/**
 * When a head counts as moved, for packs whose points are the 68 of face-api's landmark network. Measured on films of rendered
 * heads and of paper, made from photographs: docs/guides/liveness.md has the figures, `npm run test:liveness` makes them.
 */
import type { ActiveLivenessSpec } from './pack-schema.js'

export const ACTIVE_LIVENESS_68: ActiveLivenessSpec = {
  frontalDegrees: 12,
  turnDegrees: 22,
  nodDegrees: 13,
  returnDegrees: 8,
  mostPerStride: { yaw: 28, pitch: 20, centre: 0.4, size: 0.15 },
  leastAspect: 0.7,
}
