/** Prometheus metrics that remind an operator of maintenance: certificates, backups, verified audit logs, key epochs, disk. */
import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import { isBaseEpoch } from '../../storage/epoch-book.js'
import type { Store } from '../../storage/store.js'

export interface Upkeep {
  /** Expiry of the certificate of each group of listeners, in milliseconds since the epoch; null where they have none. */
  expiries(): Array<{ name: string; expiresAt: number | null }>
  store: Pick<Store, 'read' | 'makesBackups' | 'shared'>
  /** When all audit logs were last verified, in milliseconds since the epoch, and which of them are broken. */
  auditVerification(): Promise<{ completedAt: number | null; broken: readonly unknown[] }>
  /** The data folder. It does not exist until something is written there, which with PostgreSQL may be never. */
  dataDir: string
}

export function watchUpkeep(
  registry: Registry,
  { expiries, store, auditVerification, dataDir }: Upkeep,
): void {
  const registers = [registry]
  new Gauge({
    name: 'countersign_tls_certificate_expiry_timestamp_seconds',
    help: 'Earliest expiry in the certificate chain of the listeners; +Inf where they have no certificate.',
    labelNames: ['listeners'],
    registers,
    collect() {
      for (const { name, expiresAt } of expiries())
        this.set({ listeners: name }, (expiresAt ?? Number.POSITIVE_INFINITY) / SECOND_MS)
    },
  })
  if (store.makesBackups)
    new Gauge({
      name: 'countersign_last_backup_timestamp_seconds',
      help: 'When countersign backup last succeeded; 0 for never. Absent with PostgreSQL, whose own tools make backups.',
      registers,
      async collect() {
        // A database that cannot be read is reported by countersign_store_healthy.
        const at = await store.read.lastBackupAt().catch(() => null)
        if (at !== null) this.set(at / SECOND_MS)
      },
    })
  // A database that cannot be read is reported by countersign_store_healthy.
  const status = () => auditVerification().catch(() => null)
  new Gauge({
    name: 'countersign_audit_verified_timestamp_seconds',
    help: 'When all audit logs were last verified, by any service of the database; 0 for never.',
    registers,
    async collect() {
      const known = await status()
      if (known) this.set((known.completedAt ?? 0) / SECOND_MS)
    },
  })
  new Gauge({
    name: 'countersign_audit_broken_logs',
    help: 'Broken audit logs that the last verification found.',
    registers,
    async collect() {
      const known = await status()
      if (known) this.set(known.broken.length)
    },
  })
  new Gauge({
    name: 'countersign_key_epoch_start_timestamp_seconds',
    help: 'When the current key epoch began: no older archive can restore a user who was erased before it; 0 without one.',
    registers,
    async collect() {
      const records = await store.shared?.epochs.all().catch(() => null)
      if (records === null) return
      const present = records?.findLast(({ completedAt }) => completedAt !== null)
      this.set(present && !isBaseEpoch(present.keyId) ? present.announcedAt / SECOND_MS : 0)
    },
  })
  new Gauge({
    name: 'countersign_disk_free_bytes',
    help: 'Free space for the data folder, for the user who runs the service.',
    registers,
    async collect() {
      const { bavail, bsize } = await statfs(nearestFolder(dataDir))
      this.set(bavail * bsize)
    },
  })
}
