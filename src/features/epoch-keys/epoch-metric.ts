/** Shows when the current key epoch began. */
import type { Registry } from 'prom-client'
import { gaugesOf } from '../../http/metrics/gauges.js'
import { SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import { epochsOf, isBaseEpoch } from '../postgres/exports.js'

export function showEpochStart(registry: Registry, store: Pick<Store, 'shared'>): void {
  gaugesOf(registry)(
    'countersign_key_epoch_start_timestamp_seconds',
    'When the current key epoch began: no older archive can restore a user who was erased before it; 0 without one.',
    async () => {
      // A database that cannot be read is reported by countersign_store_healthy.
      const records = await epochsOf(store)
        ?.epochs.all()
        .catch(() => null)
      if (records === null) return null
      const present = records?.findLast(({ completedAt }) => completedAt !== null)
      return present && !isBaseEpoch(present.keyId) ? present.announcedAt / SECOND_MS : 0
    },
  )
}
