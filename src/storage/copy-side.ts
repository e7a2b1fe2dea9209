/** The two ends of a copy from one kind of database to the other. */
import { CodedError } from '../lib/errors.js'
import type { CopiedTable, Row, TablePages } from './copied-tables.js'
import type { EpochBook } from './epoch-book.js'
import type { SharedStore, StoreReader } from './store.js'

export class StoreCopyError extends CodedError<
  | 'source_missing'
  | 'source_outdated'
  | 'source_in_use'
  | 'source_changed'
  | 'target_in_use'
  | 'target_not_empty'
  | 'target_outdated'
  | 'copy_differs'
> {
  override readonly name = 'StoreCopyError'
}

interface CopySide {
  readonly tables: TablePages
  readonly read: StoreReader
  /** The operator's password, where the database has it; null where that is a file's. */
  readonly password: Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'> | null
  columns(table: CopiedTable): Promise<string[]>
  close(): Promise<void>
}

/** Seen as of one moment, and only read. */
export interface CopySource extends CopySide {
  /** Whose keys wrap data keys beside the working key; null where there are none. */
  readonly epochs: Pick<EpochBook, 'all'> | null
  /** @throws StoreCopyError source_changed, source_in_use: what was copied is not all that there is */
  assertStill(): Promise<void>
}

/** Where both sides wrap the data keys of users differently. */
export interface KeyTranslation {
  /** What is compared: the same for both sides. */
  open(subjectId: string, wrapped: Buffer): Buffer
  /** As the target has it. */
  wrapAnew(subjectId: string, wrapped: Buffer): Buffer
}

/** What was noted when a copy began. */
export interface CopyOrigin {
  /** What the source and all its copies are recognised by. */
  mark: string
  /** That finishes it; without a password. */
  command: string
}

export interface CopyTarget extends CopySide {
  /** `taken` holds what no unfinished copy has put there. */
  state(): Promise<{ kind: 'empty' } | { kind: 'unfinished'; mark: string } | { kind: 'taken' }>
  /** From now on nobody serves from it. Of a database that is empty. */
  begin(origin: CopyOrigin): Promise<void>
  /** All of them or none. */
  insert(table: CopiedTable, columns: readonly string[], rows: readonly Row[]): Promise<void>
  /** Deletes what an unfinished copy holds. */
  empty(): Promise<void>
  /** From now on it can be served from. */
  finish(): Promise<void>
}
