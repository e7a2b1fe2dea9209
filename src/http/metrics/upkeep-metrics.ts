/** Prometheus metrics of what an operator has to see to in time: certificates, backups, disk. */
import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import { isBaseEpoch } from '../../storage/epoch-book.js'
import type { Store } from '../../storage/store.js'

export interface Upkeep {
  /** Of each group of listeners, in milliseconds since the epoch; null where they show no certificate. */
  expiries(): Array<{ name: string; expiresAt: number | null }>
  store: Pick<Store, 'read' | 'makesBackups' | 'shared'>
  /** When all audit logs were verified last, in milliseconds since the epoch, and which are broken. */
  auditVerification(): Promise<{ completedAt: number | null; broken: readonly unknown[] }>
  /** Where everything is written; not there as long as nothing was, which with PostgreSQL may be for ever. */
  dataDir: string
}

export function watchUpkeep(
  registry: Registry,
  { expiries, store, auditVerification, dataDir }: Upkeep,
): void {
  const registers = [registry]
  new Gauge({
    name: 'countersign_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that is shown expires, or one above it in its chain; +Inf where there is none.',
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
      help: 'When countersign backup last ended well; 0 for never. Not with PostgreSQL, whose own tools make backups.',
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
    help: 'When all audit logs were last verified from their starts; 0 for never. Over all services of a database.',
    registers,
    async collect() {
      const known = await status()
      if (known) this.set((known.completedAt ?? 0) / SECOND_MS)
    },
  })
  new Gauge({
    name: 'countersign_audit_broken_logs',
    help: 'Audit logs that do not fit, as the last walk through all of them found. Over all services of a database.',
    registers,
    async collect() {
      const known = await status()
      if (known) this.set(known.broken.length)
    },
  })
  new Gauge({
    name: 'countersign_epoch_start_timestamp_seconds',
    help: 'When the present epoch of keys began: archives open nobody who was erased before it. 0 where there is none.',
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
    help: 'Free space of the file system with the data folder, for the user who runs the service.',
    registers,
    async collect() {
      const { bavail, bsize } = await statfs(nearestFolder(dataDir))
      this.set(bavail * bsize)
    },
  })
}
