/**
 * Copies every record from one kind of database to the other. The target is written in one transaction, which also reads everything
 * again and compares it with the source: a copy that fails or is killed leaves the target as it was.
 */
import { CodedError } from '../../../lib/errors.js'
import type { Connection } from '../../../storage/connection.js'
import type { SharedStore, StoreReader } from '../../../storage/store.js'
import type { Table } from '../../../storage/table.js'
import type { SharedEpochs } from '../store/postgres-shared-store.js'

/** Rows in memory at once, of each side. */
const PAGE_ROWS = 500

export type CopiedTable = Pick<Table, 'name' | 'key'>

type Value = string | number | Buffer | null
/** A row's values by the name of their column. */
type Row = Record<string, Value>

export class StoreCopyError extends CodedError<
  | 'source_missing'
  | 'source_outdated'
  | 'source_in_use'
  | 'source_changed'
  | 'target_in_use'
  | 'target_not_empty'
  | 'target_outdated'
  | 'copy_differs'
> {}

interface CopySide {
  readonly connection: Connection
  readonly read: StoreReader
  /** The operator's password in the database; null for SQLite, which leaves it to a file. */
  readonly password: Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'> | null
  /** Names of the columns that can be written; none where the table is missing. */
  columns(table: CopiedTable): Promise<string[]>
  close(): Promise<void>
}

/** A database that is only read, as of the moment at which it was opened. */
export interface CopySource extends CopySide {
  /** The key epochs; null for SQLite, which has none. */
  readonly shared: SharedEpochs | null
  /** @throws StoreCopyError source_changed, source_in_use when records may have been written since the source was opened */
  assertUnchanged(): Promise<void>
}

/** An empty database with an open transaction: `close` without `commit` leaves it as it was. */
export interface CopyTarget extends CopySide {
  insert(table: CopiedTable, columns: readonly string[], rows: readonly Row[]): Promise<void>
  commit(): Promise<void>
}

/** How the data keys of users get from one wrapping to the other. */
export interface KeyTranslation {
  /** The data key, by which both sides are compared; `wrapped` itself where it does not open. */
  open(subjectId: string, wrapped: Buffer): Buffer
  /** The data key wrapped for the target. */
  rewrap(subjectId: string, wrapped: Buffer): Buffer
}

/**
 * Copies all tables, then compares both sides row by row. Does not commit.
 * @param translation null where both sides wrap data keys alike
 * @param tables in an order in which each comes after those that it refers to
 * @param onProgress gets the rows done and the rows in all
 * @returns the number of rows by table, as counted by the comparison
 * @throws StoreCopyError source_outdated, target_outdated, copy_differs
 */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  translation: KeyTranslation | null,
  tables: readonly CopiedTable[],
  onProgress: (stage: 'Copying' | 'Comparing', done: number, total: number, table: string) => void,
): Promise<Record<string, number>> {
  for (const table of tables) await assertSameColumns(source, target, table)
  let total = 0
  for (const { name } of tables) {
    const counting = source.connection.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${name}`)
    total += (await counting.get())!.count
  }
  let done = 0
  for (const table of tables) {
    const columns = await source.columns(table)
    for await (const rows of pagesOf(source.connection, table, columns)) {
      onProgress('Copying', done, total, table.name)
      await target.insert(table, columns, translated(table, rows, translation?.rewrap))
      done += rows.length
    }
  }
  const compared: Record<string, number> = {}
  done = 0
  for (const table of tables) {
    compared[table.name] = 0
    const columns = await source.columns(table)
    const copies = pagesOf(target.connection, table, columns)
    for await (const rows of pagesOf(source.connection, table, columns)) {
      onProgress('Comparing', done, total, table.name)
      const copied: Row[] = (await copies.next()).value ?? []
      const [wanted, held] = [rows, copied].map((page) => translated(table, page, translation?.open))
      if (held!.length !== wanted!.length || !held!.every((row, i) => isSame(row, wanted![i]!, columns)))
        throw new StoreCopyError(
          'copy_differs',
          `What was read again from table ${table.name} of the target differs from the source. The target stays as it was: look for what else writes it, and run the same command again.`,
        )
      compared[table.name]! += rows.length
      done += rows.length
    }
  }
  return compared
}

/**
 * Tables of features have no number in the schema: a source that this version has never opened may lack some, or columns of them.
 * @throws StoreCopyError source_outdated, target_outdated
 */
async function assertSameColumns(source: CopySide, target: CopySide, table: CopiedTable): Promise<void> {
  const [held, wanted] = await Promise.all([source.columns(table), target.columns(table)])
  if (wanted.some((column) => !held.includes(column)))
    throw new StoreCopyError(
      'source_outdated',
      `The source lacks the table ${table.name}, or columns of it: bring it up to date with \`countersign migrate\` first.`,
    )
  if (held.length > wanted.length)
    throw new StoreCopyError('target_outdated', `Table ${table.name} has other columns in the target.`)
}

/** @param name the database's, at the start of a sentence @throws StoreCopyError */
export function assertVersion(
  version: number,
  own: number,
  code: 'source_outdated' | 'target_outdated',
  name: string,
): void {
  if (version !== own)
    throw new StoreCopyError(
      code,
      `${name} has schema ${version}, this Countersign schema ${own}: bring it up to date with \`countersign migrate\` first.`,
    )
}

/** @throws StoreCopyError target_not_empty */
export async function assertEmpty(connection: Connection, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables)
    if (await connection.prepare(`SELECT 1 AS one FROM ${table.name} LIMIT 1`).get())
      throw new StoreCopyError(
        'target_not_empty',
        `The target holds data already (table ${table.name}), and stays as it is: give an empty database. A run that was interrupted has copied nothing, one that was not has copied everything.`,
      )
}

function translated({ name }: CopiedTable, rows: Row[], change: KeyTranslation['open'] | undefined): Row[] {
  if (name !== 'subject' || !change) return rows
  return rows.map((row) => ({ ...row, wrapped_key: change(row.id as string, row.wrapped_key as Buffer) }))
}

function isSame(one: Row, other: Row, columns: readonly string[]): boolean {
  return columns.every((column) => isSameValue(one[column]!, other[column]!))
}

function isSameValue(one: Value, other: Value): boolean {
  return Buffer.isBuffer(one) ? Buffer.isBuffer(other) && one.equals(other) : one === other
}

/** All rows in the order of the key, page by page; the last page has fewer rows than the others, or none. */
async function* pagesOf(
  connection: Connection,
  { name, key }: CopiedTable,
  columns: readonly string[],
): AsyncGenerator<Row[], undefined> {
  const order = key.join(', ')
  const select = (where: string) =>
    connection.prepare<unknown[], Row>(
      `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${order} LIMIT ${PAGE_ROWS}`,
    )
  let rows: Row[] = await select('').all()
  yield rows
  const next = select(`WHERE (${order}) > (${key.map(() => '?').join(', ')})`)
  while (rows.length === PAGE_ROWS) {
    const last: Row = rows.at(-1)!
    rows = await next.all(...key.map((column) => last[column]))
    yield rows
  }
  return undefined
}
