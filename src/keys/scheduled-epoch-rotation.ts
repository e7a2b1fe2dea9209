/** Begins a new epoch when the present one has lasted long enough, and destroys the keys of those that have ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { LeaderLease } from '../cluster/leader-lease.js'
import { MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import { type EpochBook, isUnderWay } from '../storage/epoch-book.js'
import { EpochRotation, type EpochRotationParts } from './epoch-rotation.js'

/** How long services may take to read a key: they look every second. */
const PATIENCE_MS = MINUTE_MS
/** A folder that hangs holds up no service that is to end. */
const END_MS = 2 * SECOND_MS

export interface ScheduledEpochRotationParts extends EpochRotationParts {
  leaderLease: Pick<LeaderLease, 'current'>
  log: Logger
  /** 0 for never. */
  intervalMs: number
  /** After an epoch's end. */
  retentionMs: number
}

export class ScheduledEpochRotation {
  private readonly stopped = new AbortController()
  private readonly beat = new PeriodicTask(
    MINUTE_MS,
    () => this.keep(),
    (err) => {
      if (!this.stopped.signal.aborted) this.parts.log.error({ err }, 'the epoch could not be changed')
    },
  )
  private readonly epochs: EpochBook
  private readonly rotation: EpochRotation

  /** @throws EpochError no_epochs */
  constructor(private readonly parts: ScheduledEpochRotationParts) {
    this.rotation = new EpochRotation(parts)
    this.epochs = parts.store.shared!.epochs
  }

  start(): void {
    this.beat.start()
    void this.beat.now()
  }

  /** What is under way stops between two steps, and is taken up by whoever has the duty then. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await Promise.race([this.beat.stop(), sleep(END_MS, undefined, { ref: false })])
  }

  private async keep(): Promise<void> {
    const { leaderLease, log } = this.parts
    // By a clock that is wrong nothing is destroyed, either.
    const term = leaderLease.current()
    if (!term) return
    const missing = await this.rotation.restoreMissing()
    if (missing.length > 0)
      log.error(
        { keys: missing },
        'keys were missing in COUNTERSIGN_EPOCH_KEYS: put back, as they are known here',
      )
    if (await this.isDue()) {
      const signal = AbortSignal.any([term.signal, this.stopped.signal])
      const { number } = await this.rotation.rotate({ patienceMs: PATIENCE_MS, signal })
      log.info({ epoch: number }, 'all data keys are wrapped under a new epoch')
    }
    const destroyed = await destroyRetiredKeys(this.parts)
    if (destroyed.length > 0) log.info({ keys: destroyed }, 'the keys of ended epochs were destroyed')
  }

  private async isDue(): Promise<boolean> {
    const { intervalMs, clock } = this.parts
    const records = await this.epochs.all()
    if (records.some(isUnderWay) || (await this.rotation.orphanedKeys()).length > 0) return true
    const last = records.at(-1)
    return intervalMs > 0 && (last === undefined || last.announcedAt + intervalMs <= clock.now())
  }
}

/** @returns the ids of the keys that were there */
export async function destroyRetiredKeys({
  store,
  folder,
  clock,
  retentionMs,
}: Pick<ScheduledEpochRotationParts, 'store' | 'folder' | 'clock' | 'retentionMs'>): Promise<string[]> {
  const records = await store.shared!.epochs.of(await folder.ids())
  const ended = records.filter(
    ({ retiredAt }) => retiredAt !== null && retiredAt + retentionMs <= clock.now(),
  )
  return folder.destroy(new Set(ended.map(({ keyId }) => keyId)))
}
