/** Prometheus metrics that remind an operator of maintenance: certificates, backups, verified audit logs, disk, system clock. */
import { statfs } from 'node:fs/promises'
import { Counter, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import type { Store } from '../../storage/store.js'
import { gaugesOf } from './gauges.js'

export interface Upkeep {
  /** Expiry of the certificate of each group of listeners, in milliseconds since the epoch; null where they have none. */
  expiries(): Array<{ name: string; expiresAt: number | null }>
  store: Pick<Store, 'read' | 'makesBackups'>
  /** When all audit logs were last verified, in milliseconds since the epoch, and which of them are broken. */
  auditVerification(): Promise<{ completedAt: number | null; broken: readonly unknown[] }>
  /** The data folder. It does not exist until something is written there, which with PostgreSQL may be never. */
  dataDir: string
}

/** A database that cannot be read is reported by countersign_store_healthy: what is read from it stays as it was. */
const UNREADABLE = () => null

export function watchUpkeep(
  registry: Registry,
  { expiries, store, auditVerification, dataDir }: Upkeep,
): void {
  const gauge = gaugesOf(registry)
  gauge(
    'countersign_tls_certificate_expiry_timestamp_seconds',
    'Earliest expiry in the certificate chain of the listeners; +Inf where they have no certificate.',
    () =>
      expiries().map(({ name, expiresAt }) => [
        { listeners: name },
        (expiresAt ?? Number.POSITIVE_INFINITY) / SECOND_MS,
      ]),
    ['listeners'],
  )
  if (store.makesBackups)
    gauge(
      'countersign_last_backup_timestamp_seconds',
      'When countersign backup last succeeded; 0 for never. Absent with PostgreSQL, whose own tools make backups.',
      async () => {
        const at = await store.read.lastBackupAt().catch(UNREADABLE)
        return at && at / SECOND_MS
      },
    )
  gauge(
    'countersign_audit_verified_timestamp_seconds',
    'When all audit logs were last verified, by any service of the database; 0 for never.',
    async () => {
      const known = await auditVerification().catch(UNREADABLE)
      return known && (known.completedAt ?? 0) / SECOND_MS
    },
  )
  gauge(
    'countersign_audit_broken_logs',
    'Broken audit logs that the last verification found.',
    async () => (await auditVerification().catch(UNREADABLE))?.broken.length ?? null,
  )
  gauge(
    'countersign_disk_free_bytes',
    'Free space for the data folder, for the user who runs the service.',
    async () => {
      const { bavail, bsize } = await statfs(nearestFolder(dataDir))
      return bavail * bsize
    },
  )
}

interface ClockSources {
  /** Number of jumps of the clock since the start, by direction. */
  jumps: Readonly<Record<'forward' | 'back', number>>
  /** Milliseconds that this machine's clock is ahead of the database's; null where the database is on this machine. */
  aheadMs(): number | null
}

export function watchClock(registry: Registry, { jumps, aheadMs }: ClockSources): void {
  const gauge = gaugesOf(registry)
  new Counter({
    name: 'countersign_clock_jumps_total',
    help: 'Times that the system clock moved by more than a second at once: it was set, or the machine was suspended.',
    labelNames: ['direction'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [direction, count] of Object.entries(jumps)) this.inc({ direction }, count)
    },
  })
  gauge(
    'countersign_clock_offset_seconds',
    "How far this machine's clock is ahead of the database's; negative where it is behind, 0 with SQLite.",
    () => (aheadMs() ?? 0) / SECOND_MS,
  )
}
