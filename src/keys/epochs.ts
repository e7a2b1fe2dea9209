/** Which epoch keys this process has, of those that the database names. */

import { ConfigError } from '../config/config.js'
import type { EpochKeys } from '../crypto/epoch-key.js'
import { MINUTE_MS } from '../lib/clock.js'
import { type EpochProgress, type EpochRecord, isBaseEpoch } from '../storage/epoch-book.js'
import type { EpochFolder } from './epoch-folder.js'

/** For calls that read a row just before it was wrapped anew. */
const RETIRED_KEPT_MS = MINUTE_MS

export interface LoadedEpochs {
  epochs: EpochKeys
  progress: EpochProgress
  /** Why the key of the next epoch could not be read yet; null where there is none, or it was. */
  awaited: string | null
}

/** @throws ConfigError when a key by which data keys may be wrapped is not there */
export async function loadEpochs(
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
      // Nothing is wrapped under one that is announced alone: it may be on its way here, and so may the folder.
      if (record.activatedAt !== null) throw error
      awaited = (error as Error).message
      break
    }
    if (record.activatedAt !== null) used = record
  }
  // Nothing is wrapped under these any more.
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

/** @returns null for an epoch without a key, undefined where its key is not there @throws ConfigError when that cannot be read */
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

export function missingKeyError({ number, keyId }: EpochRecord, folder: EpochFolder | null): ConfigError {
  return new ConfigError(
    folder
      ? `COUNTERSIGN_EPOCH_KEYS: ${folder.path} lacks the key ${keyId} of epoch ${number}, under which the database wraps users' keys. ` +
          'Is the folder mounted? After a restore from before its destruction: countersign keys import'
      : `The database wraps users' keys under epoch ${number}: COUNTERSIGN_EPOCH_KEYS must name the folder with its key.`,
  )
}
