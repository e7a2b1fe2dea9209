/**
 * Keys outside of the database, under which users' data keys are wrapped too. It rotates them on schedule and destroys retired ones, so
 * that an erased user can be read in no backup.
 */
import { ownValues } from '../../config/own-settings.js'
import { HOUR_MS } from '../../lib/clock.js'
import type { Feature } from '../feature.js'
import { showEpochStart } from './epoch-metric.js'
import { EPOCH_SETTINGS } from './epoch-settings.js'

export const epochKeys: Feature = {
  async attach(host) {
    const { config, store, log } = host
    const values = ownValues(EPOCH_SETTINGS, config)
    showEpochStart(host.metrics.registry, store)
    const clusterSettings = {
      COUNTERSIGN_EPOCH_KEYS: values.epochKeys === undefined ? 'none' : 'given',
      COUNTERSIGN_EPOCH_HOURS: String(values.epochHours),
      COUNTERSIGN_EPOCH_RETENTION_HOURS: String(values.epochRetentionHours),
    }
    if (!store.shared) return { clusterSettings }
    const { epochFolder, takeOverEpochs } = await import('./epochs.js')
    // It remembers the keys that were read.
    const folder = epochFolder(config)
    let toldAwaited: string | null = null
    const takeOverKeys = async () => {
      const awaited = await takeOverEpochs(store, host.keys, folder)
      if (awaited !== null && awaited !== toldAwaited)
        log.warn(
          { reason: awaited },
          'the key of the next epoch cannot be read yet; the epoch begins when it can',
        )
      toldAwaited = awaited
    }
    if (!folder) return { clusterSettings, takeOverKeys }
    const { ScheduledEpochRotation } = await import('./scheduled-epoch-rotation.js')
    const rotation = new ScheduledEpochRotation({
      ...host,
      folder,
      intervalMs: values.epochHours * HOUR_MS,
      retentionMs: values.epochRetentionHours * HOUR_MS,
    })
    return { clusterSettings, takeOverKeys, jobs: { drained: [rotation] } }
  },
}
