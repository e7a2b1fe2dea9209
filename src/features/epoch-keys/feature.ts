/** Rotates the epoch key on schedule and destroys retired ones, so that an erased user can be read in no backup. */
import { HOUR_MS } from '../../lib/clock.js'
import type { Feature } from '../feature.js'

export const epochKeys: Feature = {
  async attach(host) {
    const { config, epochFolder: folder } = host
    if (!folder) return {}
    const { ScheduledEpochRotation } = await import('./scheduled-epoch-rotation.js')
    const rotation = new ScheduledEpochRotation({
      ...host,
      folder,
      intervalMs: config.epochHours * HOUR_MS,
      retentionMs: config.epochRetentionHours * HOUR_MS,
    })
    return { jobs: { drained: [rotation] } }
  },
}
