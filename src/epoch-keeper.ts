/** Begins a new epoch when the present one has lasted long enough, and destroys the keys of those that have ended. */
import type { Logger } from 'pino'
import { MINUTE_MS } from './clock.js'
import type { Duty } from './duty.js'
import { EpochRotation, type EpochRotationParts } from './epoch-rotation.js'
import { type EpochBook, type EpochRecord, isUnderWay } from './storage/epoch-book.js'

/** How long services may take to read a key: they look every second. */
const PATIENCE_MS = MINUTE_MS

export interface EpochKeeperParts extends EpochRotationParts {
  duty: Pick<Duty, 'current'>
  log: Logger
  /** 0 for never. */
  intervalMs: number
  /** After an epoch's end. */
  retentionMs: number
}

export class EpochKeeper {
  private timer: NodeJS.Timeout | null = null
  private readonly stopped = new AbortController()
  private running: Promise<void> | null = null
  private readonly epochs: EpochBook
  private readonly rotation: EpochRotation

  /** @throws EpochError no_epochs */
  constructor(private readonly parts: EpochKeeperParts) {
    this.rotation = new EpochRotation(parts)
    this.epochs = parts.store.shared!.epochs
  }

  start(): void {
    this.timer = setInterval(() => void this.run(), MINUTE_MS).unref()
    void this.run()
  }

  /** What is under way stops between two steps, and is taken up by whoever has the duty then. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    this.stopped.abort()
    await this.running
  }

  /** Never rejects. */
  run(): Promise<void> {
    this.running ??= this.keep()
      .catch((err) => {
        if (!this.stopped.signal.aborted) this.parts.log.error({ err }, 'the epoch could not be changed')
      })
      .finally(() => {
        this.running = null
      })
    return this.running
  }

  private async keep(): Promise<void> {
    const { duty, log } = this.parts
    // By a clock that is wrong nothing is destroyed, either.
    const term = duty.current()
    if (!term) return
    if (this.isDue(await this.epochs.all())) {
      const signal = AbortSignal.any([term.signal, this.stopped.signal])
      const { number } = await this.rotation.rotate({ patienceMs: PATIENCE_MS, signal })
      log.info({ epoch: number }, 'all data keys are wrapped under a new epoch')
    }
    const destroyed = destroyRetired(this.parts, await this.epochs.all())
    if (destroyed.length > 0) log.info({ keys: destroyed }, 'the keys of ended epochs were destroyed')
  }

  private isDue(records: readonly EpochRecord[]): boolean {
    const { intervalMs, clock } = this.parts
    if (records.some(isUnderWay)) return true
    const last = records.at(-1)
    return intervalMs > 0 && (last === undefined || last.announcedAt + intervalMs <= clock.now())
  }
}

/** @returns the ids of the keys that were there */
export function destroyRetired(
  { folder, clock, retentionMs }: Pick<EpochKeeperParts, 'folder' | 'clock' | 'retentionMs'>,
  records: readonly EpochRecord[],
): string[] {
  const ended = records.filter(
    ({ retiredAt }) => retiredAt !== null && retiredAt + retentionMs <= clock.now(),
  )
  return folder.destroy(new Set(ended.map(({ keyId }) => keyId)))
}
