/**
 * Adds what was counted in shadow to the database a few times a minute, in transactions of its own. Several services add to the same
 * rows.
 */
import type { Logger } from 'pino'
import { type Clock, DAY_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { ShadowRecord } from '../storage/records.js'
import { type Store, StoreUnavailableError } from '../storage/store.js'
import { addShadowCounts, noShadowCounts, type ShadowCounts } from './shadow-counts.js'

/** Milliseconds between two saves: a process that is killed loses the counts of at most this time. */
const SAVE_MS = 15 * SECOND_MS

type RowKey = Omit<ShadowRecord, 'counts'>

interface Unsaved {
  key: RowKey
  counts: ShadowCounts
}

export interface ShadowRecorderParts {
  store: Pick<Store, 'transaction'>
  clock: Clock
  log: Logger
}

export class ShadowRecorder {
  private unsaved = new Map<string, Unsaved>()
  private readonly task = new PeriodicTask(
    SAVE_MS,
    () => this.saveAll(),
    (err) => this.parts.log.warn({ err }, 'the counts of the candidate could not be saved'),
  )

  constructor(private readonly parts: ShadowRecorderParts) {}

  start(): void {
    this.task.start()
  }

  /** Saves what is left. Call it before the store is closed. */
  async stop(): Promise<void> {
    await this.task.stop()
    await this.save()
  }

  /** Saves what is not in the database yet. Never rejects: counts that cannot be written stay for the next save. */
  save(): Promise<void> {
    return this.task.now()
  }

  /** The counts of today, to which the caller adds before it awaits anything. */
  countsOf(row: Omit<RowKey, 'at'>): ShadowCounts {
    const at = Math.floor(this.parts.clock.now() / DAY_MS) * DAY_MS
    return this.unsavedAt({ ...row, at }).counts
  }

  private unsavedAt(key: RowKey): Unsaved {
    const name = [key.tenantId, key.model, key.candidate, key.at].join('\0')
    const known = this.unsaved.get(name) ?? { key, counts: noShadowCounts() }
    this.unsaved.set(name, known)
    return known
  }

  private async saveAll(): Promise<void> {
    const rows = [...this.unsaved.values()]
    this.unsaved = new Map()
    for (const [index, row] of rows.entries()) {
      try {
        await this.saveRow(row)
      } catch (error) {
        // Any other error would come again with each save.
        const isLost = !(error instanceof StoreUnavailableError)
        for (const { key, counts } of rows.slice(isLost ? index + 1 : index))
          addShadowCounts(this.unsavedAt(key).counts, counts)
        throw error
      }
    }
  }

  private async saveRow({ key, counts }: Unsaved): Promise<void> {
    await this.parts.store.transaction({ tenantId: key.tenantId }, async (tx) => {
      // The rows of a deleted tenant are deleted with it.
      if ((await tx.tenantById(key.tenantId))?.deletedAt !== null) return
      const present = await tx.shadowAt(key)
      const sum = addShadowCounts(present ? parseShadowCounts(present.counts) : noShadowCounts(), counts)
      await tx.putShadow({ ...key, counts: JSON.stringify(sum) })
    })
  }
}

export function parseShadowCounts(text: string): ShadowCounts {
  return { ...noShadowCounts(), ...(JSON.parse(text) as Partial<ShadowCounts>) }
}
