/** Rotates the epoch key on schedule, as the leader: begins an epoch when the present one is old enough, and destroys retired keys. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { LeaderLease } from '../../cluster/leader-lease.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { PeriodicTask } from '../../lib/periodic-task.js'
import { type EpochBook, epochsOf, isUnderWay } from '../postgres/exports.js'
import { EpochRotation, type EpochRotationParts } from './epoch-rotation.js'

/** How long services may take to read a new key: they look every second. */
const PATIENCE_MS = MINUTE_MS
/** How long a service that ends waits for a folder that hangs. */
const END_MS = 2 * SECOND_MS

interface ScheduledEpochRotationParts extends EpochRotationParts {
  leaderLease: Pick<LeaderLease, 'current'>
  log: Logger
  /** Milliseconds from one epoch's announcement to the next; 0 for none on schedule. */
  intervalMs: number
  /** Milliseconds from an epoch's retirement to the destruction of its key. */
  retentionMs: number
}

export class ScheduledEpochRotation {
  private readonly stopped = new AbortController()
  private readonly task = new PeriodicTask(
    MINUTE_MS,
    () => this.rotateIfDue(),
    (err) => {
      if (!this.stopped.signal.aborted) this.parts.log.error({ err }, 'epoch key rotation failed, will retry')
    },
  )
  private readonly epochs: EpochBook
  private readonly rotation: EpochRotation

  /** @throws EpochError no_epochs */
  constructor(private readonly parts: ScheduledEpochRotationParts) {
    this.rotation = new EpochRotation(parts)
    this.epochs = epochsOf(parts.store)!.epochs
  }

  start(): void {
    this.task.start()
    void this.task.now()
  }

  /** Stops a rotation between two steps; the next leader goes on with it. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await Promise.race([this.task.stop(), sleep(END_MS, undefined, { ref: false })])
  }

  private async rotateIfDue(): Promise<void> {
    const { leaderLease, log } = this.parts
    // The leader's clock is right: no key is destroyed by a clock that is ahead.
    const term = leaderLease.current()
    if (!term) return
    const missing = await this.rotation.registry.restoreMissing()
    if (missing.length > 0)
      log.error(
        { keys: missing },
        'epoch key files were missing from COUNTERSIGN_EPOCH_KEYS: restored from memory',
      )
    if (await this.isDue()) {
      const signal = AbortSignal.any([term.signal, this.stopped.signal])
      const { number } = await this.rotation.rotate({ patienceMs: PATIENCE_MS, signal })
      log.info({ epoch: number }, 'rotated the epoch key: all data keys are wrapped under it')
    }
    const destroyed = await destroyRetiredKeys(this.parts)
    if (destroyed.length > 0) log.info({ keys: destroyed }, 'destroyed the keys of retired epochs')
  }

  private async isDue(): Promise<boolean> {
    const { intervalMs, clock } = this.parts
    const records = await this.epochs.all()
    if (records.some(isUnderWay) || (await this.rotation.registry.orphanedKeys()).length > 0) return true
    const last = records.at(-1)
    return intervalMs > 0 && (last === undefined || last.announcedAt + intervalMs <= clock.now())
  }
}

/** Destroys the key files of epochs that were retired longer ago than the retention. @returns ids of the destroyed keys */
export async function destroyRetiredKeys({
  store,
  folder,
  clock,
  retentionMs,
}: Pick<ScheduledEpochRotationParts, 'store' | 'folder' | 'clock' | 'retentionMs'>): Promise<string[]> {
  const records = await epochsOf(store)!.epochs.of(await folder.ids())
  const ended = records.filter(
    ({ retiredAt }) => retiredAt !== null && retiredAt + retentionMs <= clock.now(),
  )
  return folder.destroy(new Set(ended.map(({ keyId }) => keyId)))
}
