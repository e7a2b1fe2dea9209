/** Reads the epoch keys that the rows of the table `epoch` name, and takes them over. */

import { type Config, ConfigError } from '../../config/config.js'
import { ownValues } from '../../config/own-settings.js'
import type { EpochKeys } from '../../crypto/epoch-key.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { MINUTE_MS } from '../../lib/clock.js'
import {
  type EpochProgress,
  type EpochRecord,
  type EpochSource,
  epochsOf,
  isBaseEpoch,
} from '../postgres/exports.js'
import { EpochFolder } from './epoch-folder.js'
import { EPOCH_SETTINGS } from './epoch-settings.js'

/** How long a retired key is still loaded, for calls that read a row just before it was rewrapped. */
const RETIRED_KEPT_MS = MINUTE_MS

interface LoadedEpochs {
  epochs: EpochKeys
  progress: EpochProgress
  /** Reason why the key of an announced epoch could not be read yet, or null. */
  awaited: string | null
}

/**
 * @param records epochs, oldest first @param now in milliseconds since the Unix epoch
 * @throws ConfigError where a key is missing under which data keys may be wrapped
 */
async function loadEpochs(
  records: readonly EpochRecord[],
  folder: EpochFolder | null,
  now: number,
): Promise<LoadedEpochs> {
  const retired = records.filter(({ retiredAt }) => retiredAt !== null && retiredAt > now - RETIRED_KEPT_MS)
  const keys: Array<Buffer | null> = []
  let used: EpochRecord | undefined
  let awaited: string | null = null
  const needed = records.filter(({ retiredAt }) => retiredAt === null)
  for (const record of needed) {
    try {
      const key = await epochKeyOf(record, folder)
      if (key === undefined) throw missingKeyError(record, folder)
      keys.push(key)
    } catch (error) {
      // Nothing is wrapped under an epoch that is only announced: its key may not have reached this folder yet.
      if (record.activatedAt !== null) throw error
      awaited = (error as Error).message
      break
    }
    if (record.activatedAt !== null) used = record
  }
  // Nothing is wrapped under retired keys any more, so one that cannot be read is left out.
  const openers = await Promise.all(
    retired.map((record) => epochKeyOf(record, folder).catch(() => undefined)),
  )
  folder?.remember(new Set([...needed, ...retired].map(({ keyId }) => keyId)))
  const current = used === undefined ? null : keys[needed.indexOf(used)]!
  return {
    epochs: { current, others: [...keys, ...openers].filter((key) => !!key && key !== current) as Buffer[] },
    progress: { loaded: needed[keys.length - 1]?.number ?? 0, used: used?.number ?? 0 },
    awaited,
  }
}

/** @returns the key; null for a base epoch, which has none; undefined where the folder lacks the key @throws ConfigError where the folder cannot be read */
export async function epochKeyOf(
  { keyId }: Pick<EpochRecord, 'keyId'>,
  folder: EpochFolder | null,
): Promise<Buffer | null | undefined> {
  if (isBaseEpoch(keyId)) return null
  try {
    return (await folder?.read(keyId)) ?? undefined
  } catch (error) {
    throw new ConfigError(`COUNTERSIGN_EPOCH_KEYS: ${(error as Error).message}`)
  }
}

/** The error for an epoch whose key the folder lacks. */
export function missingKeyError({ number, keyId }: EpochRecord, folder: EpochFolder | null): ConfigError {
  return new ConfigError(
    folder
      ? `COUNTERSIGN_EPOCH_KEYS: ${folder.path} lacks the key ${keyId} of epoch ${number}, under which the database wraps users' keys. ` +
          'Is the folder mounted? If the database was restored to a time before the key was destroyed, run: countersign keys import'
      : `The database wraps users' keys under epoch ${number}: COUNTERSIGN_EPOCH_KEYS must name the folder with its key.`,
  )
}

/** The configured folder of epoch keys, or null. */
export function epochFolder(config: Config): EpochFolder | null {
  const { epochKeys } = ownValues(EPOCH_SETTINGS, config)
  return epochKeys === undefined ? null : new EpochFolder(epochKeys)
}

/**
 * Reads the epoch keys that the database names, and wraps data keys under the current one from now on.
 * @returns why the key of the next epoch could not be read yet, or null
 * @throws ConfigError when a key is missing under which data keys may be wrapped
 */
export async function takeOverEpochs(
  store: EpochSource,
  keys: Pick<ServiceKeys, 'epochs'>,
  folder: EpochFolder | null,
): Promise<string | null> {
  const database = epochsOf(store)
  if (!database) return null
  const records = await database.epochs.all()
  const { epochs, progress, awaited } = await loadEpochs(records, folder, Date.now()).catch((error) => {
    // The progress so far belongs to other epochs than the database names now, as after a failover.
    database.showEpochs({ loaded: 0, used: 0 })
    throw error
  })
  if (!areSame(keys.epochs, epochs)) keys.epochs = epochs
  // Only now: writes from here on are wrapped under the new epoch.
  database.requireEpoch(progress.used)
  database.showEpochs(progress)
  return awaited
}

function areSame(one: EpochKeys, other: EpochKeys): boolean {
  return (
    one.current === other.current &&
    one.others.length === other.others.length &&
    one.others.every((key, index) => key === other.others[index])
  )
}
