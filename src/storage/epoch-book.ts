/** How services agree on the epochs of the keys that lie outside of their database. Each step is durable and whole when it resolves. */
import { randomUUID } from 'node:crypto'
import type { SealedRow } from './records.js'

/**
 * Announced (services read its key), activated (data keys are wrapped under it), settled (all of them are, and the epochs before are
 * retired: their keys may be destroyed).
 */
export interface EpochRecord {
  /** Later ones are greater. */
  number: number
  /** Of a key in the folder, or `isKeyless`. */
  keyId: string
  announcedAt: number
  activatedAt: number | null
  completedAt: number | null
  /** Nothing is wrapped under it any more, here. */
  retiredAt: number | null
}

const KEYLESS = 'none-'

/** Names an epoch in which data keys are wrapped by the working key alone, as before the first. */
export function baseEpochId(): string {
  return `${KEYLESS}${randomUUID()}`
}

export function isBaseEpoch(keyId: string): boolean {
  return keyId.startsWith(KEYLESS)
}

/** Begun, and not ended. */
export function isUnderWay({ completedAt, retiredAt }: EpochRecord): boolean {
  return completedAt === null && retiredAt === null
}

/** What a service has come to. */
export interface EpochProgress {
  /** The last epoch whose key it has read, with all that are needed before it. */
  loaded: number
  /** The one under which it wraps; 0 for none. */
  used: number
}

/** One wrapped key in the place of another. */
export interface RewrappedRow extends SealedRow {
  before: Buffer
}

export interface EpochBook {
  /** Oldest first; of those that were retired long ago, nothing. */
  all(): Promise<EpochRecord[]>
  /** Those whose keys these are, however long ago they were retired. */
  of(keyIds: readonly string[]): Promise<EpochRecord[]>
  /** Unless another one is under way. */
  announce(keyId: string, at: number): Promise<void>
  activate(number: number, at: number): Promise<void>
  /** Retires one that was announced alone, so that nothing is wrapped under it, and never will be. */
  withdraw(number: number, at: number): Promise<void>
  /** From when it resolves on, nobody writes who wraps under an earlier one. */
  fence(number: number): Promise<void>
  /** With it, all before it are retired. Not where a later one has begun. */
  complete(number: number, at: number): Promise<void>
  /** Names of the services that are alive and have not come so far. */
  behind(stage: keyof EpochProgress, number: number): Promise<string[]>
  /**
   * Leaves alone what is not as it was before. @param number of the epoch, after which none may have begun; null for a database that
   * no service has @returns how many were replaced
   */
  rewrap(rows: readonly RewrappedRow[], number: number | null): Promise<number>
  /** Under which these subjects are found. @param createdUntil leaves out those that are newer */
  blindIndexesOf(subjectIds: readonly string[], options?: { createdUntil: number }): Promise<Buffer[]>
  /** Of a database that was restored: the epoch of this key in the place of all, settled. */
  adopt(keyId: string, at: number): Promise<void>
}
