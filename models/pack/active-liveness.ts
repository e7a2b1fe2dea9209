/** When a head counts as moved, for packs whose points are the 68 of face-api's landmark network. */
import type { ActiveLivenessSpec } from './pack-schema.js'

export const ACTIVE_LIVENESS_68: ActiveLivenessSpec = {
  frontalDegrees: 12,
  turnDegrees: 15,
  nodDegrees: 10,
  returnDegrees: 8,
  mostPerStride: { yaw: 14, pitch: 12, centre: 0.25, size: 0.15 },
  leastAspect: 0.8,
}
