/** Copies every record from one kind of database to the other, and compares both afterwards, row by row. */
import { COPIED_TABLES, type CopiedTable, type Row, sameColumns, type Value } from './copied-tables.js'
import {
  type CopyOrigin,
  type CopySource,
  type CopyTarget,
  type KeyTranslation,
  StoreCopyError,
} from './copy-side.js'

/** In memory at once, of each side. */
const ROWS_AT_ONCE = 500

export type CopyStage = 'Copying' | 'Comparing'

export interface CopyWatch {
  onProgress(stage: CopyStage, done: number, total: number, table: string): void
  /** What an interrupted copy holds is not what the source holds by now: it is copied anew. */
  onAnew(): void
}

export interface CopyReport {
  /** By table, as counted while comparing. */
  rows: Record<string, number>
  /** By this run: the others an interrupted one had copied. */
  copied: number
  /** There was a finished copy already. */
  wasFinished: boolean
}

interface Planned {
  table: CopiedTable
  columns: readonly string[]
  rows: number
  /** What of a row is compared. */
  meaning(row: Row): Row
  /** As the target is to have it. */
  asTarget(row: Row): Row
}

/** The two sides differ where they should not. */
class Difference extends Error {
  constructor(readonly table: string) {
    super(`table ${table} differs`)
  }
}

/**
 * Goes on where an interrupted copy has ended. Leaves `target` unfinished; a finished copy of the same it only compares.
 * @throws StoreCopyError
 */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  origin: CopyOrigin,
  watch: CopyWatch,
  translation: KeyTranslation | null,
): Promise<CopyReport> {
  const plan = await planOf(source, target, translation)
  const total = plan.reduce((sum, { rows }) => sum + rows, 0)
  const pass = async (stage: CopyStage): Promise<CopyReport> => {
    const report: CopyReport = { rows: {}, copied: 0, wasFinished: false }
    let done = 0
    for (const planned of plan) {
      const { name } = planned.table
      report.rows[name] = 0
      watch.onProgress(stage, done, total, name)
      report.copied += await walk(source, target, planned, stage === 'Copying', (rows) => {
        report.rows[name]! += rows
        done += rows
        watch.onProgress(stage, done, total, name)
      })
    }
    return report
  }
  const state = await target.state()
  if (state.kind === 'taken')
    return { ...(await comparing(() => pass('Comparing'), notEmpty)), wasFinished: true }
  if (state.kind === 'unfinished' && state.mark !== origin.mark)
    throw new StoreCopyError(
      'target_not_empty',
      'The target holds an unfinished copy of another database: give an empty one.',
    )
  if (state.kind === 'empty') await target.begin(origin)
  const { copied } = await pass('Copying').catch(async (error) => {
    if (!(error instanceof Difference) || state.kind === 'empty') throw error
    watch.onAnew()
    await target.empty()
    return pass('Copying')
  })
  return { ...(await comparing(() => pass('Comparing'), differs)), copied }
}

async function comparing(
  compare: () => Promise<CopyReport>,
  explain: (table: string) => StoreCopyError,
): Promise<CopyReport> {
  try {
    return await compare()
  } catch (error) {
    throw error instanceof Difference ? explain(error.table) : error
  }
}

const notEmpty = (table: string) =>
  new StoreCopyError(
    'target_not_empty',
    `The target holds data of its own (table ${table} differs from the source's), and they stay as they are: give an empty database.`,
  )

const differs = (table: string) =>
  new StoreCopyError(
    'copy_differs',
    `What was read again from table ${table} of the target is not what stands in the source. The target stays unfinished: look for what else writes it, and run the same command again.`,
  )

/** @throws StoreCopyError target_outdated */
async function planOf(
  source: CopySource,
  target: CopyTarget,
  translation: KeyTranslation | null,
): Promise<Planned[]> {
  const plan: Planned[] = []
  for (const table of COPIED_TABLES) {
    const columns = await source.columns(table)
    if (!sameColumns(columns, await target.columns(table)))
      throw new StoreCopyError('target_outdated', `Table ${table.name} has other columns in the target.`)
    const change = (how: keyof KeyTranslation) => (row: Row) =>
      translation && table.name === 'subject'
        ? { ...row, wrapped_key: translation[how](row.id as string, row.wrapped_key as Buffer) }
        : row
    plan.push({
      table,
      columns,
      rows: await source.tables.count(table),
      meaning: change('open'),
      asTarget: change('wrapAnew'),
    })
  }
  return plan
}

/**
 * One table, page by page on both sides: what the target holds has to be what the source's rows begin with.
 * @returns how many rows were missing, and were inserted @throws Difference
 */
async function walk(
  source: CopySource,
  target: CopyTarget,
  { table, columns, meaning, asTarget }: Planned,
  inserts: boolean,
  onRows: (rows: number) => void,
): Promise<number> {
  let after: Row | null = null
  let isTargetRead = false
  for (let inserted = 0; ; ) {
    const wanted: Row[] = await source.tables.page(table, columns, after, ROWS_AT_ONCE)
    const held: Row[] = isTargetRead ? [] : await target.tables.page(table, columns, after, ROWS_AT_ONCE)
    isTargetRead = held.length < ROWS_AT_ONCE
    const isBeginning =
      held.length <= wanted.length &&
      held.every((row, i) => isSame(meaning(row), meaning(wanted[i]!), columns))
    const missing = wanted.slice(held.length)
    if (!isBeginning || (missing.length > 0 && !inserts)) throw new Difference(table.name)
    if (missing.length > 0) await target.insert(table, columns, missing.map(asTarget))
    inserted += missing.length
    onRows(wanted.length)
    if (wanted.length < ROWS_AT_ONCE) return inserted
    after = wanted.at(-1)!
  }
}

function isSame(one: Row, other: Row, columns: readonly string[]): boolean {
  return columns.every((column) => isSameValue(one[column]!, other[column]!))
}

function isSameValue(one: Value, other: Value): boolean {
  return Buffer.isBuffer(one) ? Buffer.isBuffer(other) && one.equals(other) : one === other
}
