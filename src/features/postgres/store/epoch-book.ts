/** How services agree on key epochs, whose keys lie outside of the database. Each step is durable when its promise resolves. */
import { randomUUID } from 'node:crypto'
import type { SealedRow } from '../../../storage/records.js'

/**
 * A key epoch. It is announced (services read its key), then activated (data keys are wrapped under it), then settled (all data keys are
 * wrapped under it, and the epochs before it are retired: their keys may be destroyed).
 */
export interface EpochRecord {
  /** Number of the epoch; later epochs have greater numbers. */
  number: number
  /** Id of a key in the folder, or an id for which `isBaseEpoch` is true. */
  keyId: string
  announcedAt: number
  activatedAt: number | null
  completedAt: number | null
  /** When the database stopped holding data keys wrapped under this epoch; null before. */
  retiredAt: number | null
}

const KEYLESS = 'none-'

/** Makes an id for an epoch in which only the working key wraps data keys, as before the first epoch. */
export function baseEpochId(): string {
  return `${KEYLESS}${randomUUID()}`
}

export function isBaseEpoch(keyId: string): boolean {
  return keyId.startsWith(KEYLESS)
}

/** Whether the rotation to this epoch has begun and not ended. */
export function isUnderWay({ completedAt, retiredAt }: EpochRecord): boolean {
  return completedAt === null && retiredAt === null
}

/** How far a service has followed a rotation. */
export interface EpochProgress {
  /** Number of the last epoch whose key the service has read, along with the keys of all epochs that are needed before it. */
  loaded: number
  /** Number of the epoch under which the service wraps data keys; 0 for none. */
  used: number
}

/** A data key with a new wrapping, and the one that it replaces. */
export interface RewrappedRow extends SealedRow {
  before: Buffer
}

export interface EpochBook {
  /** All epochs, oldest first, without those that were retired long ago. */
  all(): Promise<EpochRecord[]>
  /** The epochs of these keys, however long ago they were retired. */
  of(keyIds: readonly string[]): Promise<EpochRecord[]>
  /** Announces an epoch, unless another one is under way. */
  announce(keyId: string, at: number): Promise<void>
  activate(number: number, at: number): Promise<void>
  /** Retires an epoch that was announced but not activated, so that no data key is ever wrapped under it. */
  withdraw(number: number, at: number): Promise<void>
  /** Once it resolves, no service writes that wraps under an earlier epoch. */
  fence(number: number): Promise<void>
  /** Marks the epoch as completed and retires all before it. Does nothing once a later epoch has begun. */
  complete(number: number, at: number): Promise<void>
  /** Names of the live services that have not reached the epoch in this respect. */
  behind(stage: keyof EpochProgress, number: number): Promise<string[]>
  /**
   * Replaces wrapped keys, and skips those that have changed since they were read.
   * @param number of the epoch, after which none may have begun; null for a database that no service uses
   * @returns how many were replaced
   */
  rewrap(rows: readonly RewrappedRow[], number: number | null): Promise<number>
  /**
   * Blind indexes of these subjects. @param options.createdUntil leaves out subjects created later, in milliseconds since the Unix epoch
   */
  blindIndexesOf(subjectIds: readonly string[], options?: { createdUntil: number }): Promise<Buffer[]>
  /** Replaces all epochs of a restored database by one settled epoch with this key. */
  adopt(keyId: string, at: number): Promise<void>
}
