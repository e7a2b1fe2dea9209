/**
 * Keeps the two lists of epoch keys in step: the files in the folder and the rows of the table `epoch`. Either can be ahead after a
 * crash, a failover of the database or a change of the folder.
 */
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, MINUTE_MS } from '../../lib/clock.js'
import {
  baseEpochId,
  type EpochBook,
  type EpochRecord,
  isBaseEpoch,
  isUnderWay,
} from '../postgres/exports.js'
import { databaseTag, type EpochFolder } from './epoch-folder.js'
import { epochKeyOf } from './epochs.js'

/** A younger file may belong to a process that is about to announce its key. */
const MIN_ORPHAN_AGE_MS = MINUTE_MS
/** Longer than a network folder may take to show a new key to other machines. */
const MAX_ARRIVAL_MS = 10 * MINUTE_MS

interface EpochRegistryParts {
  epochs: EpochBook
  keys: Pick<ServiceKeys, 'lookup'>
  folder: EpochFolder
  clock: Clock
}

export class EpochRegistry {
  constructor(private readonly parts: EpochRegistryParts) {}

  /**
   * Lists keys in the folder that were made for this database and have no row: their maker died before it announced them, or a failover
   * lost the announcement. Services may have wrapped under such a key until they noticed; as the key of a new epoch it opens those data
   * keys, and is retired and destroyed in the end.
   * @returns ids of the keys
   */
  async orphanedKeys(): Promise<string[]> {
    const { epochs, folder, keys, clock } = this.parts
    const ids = await folder.ids()
    const known = new Set((await epochs.of(ids)).map(({ keyId }) => keyId))
    const unknown = ids.filter((id) => !known.has(id))
    return folder.madeFor(databaseTag(keys), unknown, clock.now() - MIN_ORPHAN_AGE_MS)
  }

  /**
   * Writes key files that are missing from the folder, from this process's memory.
   * @returns ids of the keys that were missing @throws ConfigError where the folder is empty, as below a volume that is not mounted
   */
  async restoreMissing(): Promise<string[]> {
    const { epochs, folder, keys } = this.parts
    const needed = (await epochs.all()).filter(
      ({ keyId, retiredAt }) => retiredAt === null && !isBaseEpoch(keyId),
    )
    const missing: string[] = []
    for (const { keyId } of needed)
      if (await folder.restoreMissing(keyId, databaseTag(keys))) missing.push(keyId)
    return missing
  }

  /** @param isBase whether a new epoch gets no key @returns the epoch in progress, else a new one: an orphaned key comes first */
  async findOrAnnounce(isBase: boolean): Promise<EpochRecord> {
    const { epochs, folder, keys, clock } = this.parts
    for (;;) {
      const inProgress = (await epochs.all()).find(isUnderWay)
      if (inProgress && !(await this.isLost(inProgress))) return inProgress
      if (inProgress) {
        await epochs.withdraw(inProgress.number, clock.now())
        continue
      }
      const [orphaned] = await this.orphanedKeys()
      // The file is written before the row, so that every announced key exists.
      const keyId = orphaned ?? (isBase ? baseEpochId() : await folder.make(databaseTag(keys)))
      await epochs.announce(keyId, clock.now())
      const [announced] = await epochs.of([keyId])
      // Another process announced its key first.
      if (!announced && !orphaned) await folder.destroy(new Set([keyId]))
    }
  }

  /** Whether the epoch's key never appeared, as where it was written below a volume that was not mounted. */
  private async isLost(epoch: EpochRecord): Promise<boolean> {
    const { clock, folder } = this.parts
    if (epoch.activatedAt !== null || epoch.announcedAt + MAX_ARRIVAL_MS > clock.now()) return false
    return (await epochKeyOf(epoch, folder)) === undefined
  }
}
