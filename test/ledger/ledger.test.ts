/** Counts the operations of a call. They may rise only in the tables of README.md, where the change is seen. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { cleanUp } from '../../bench/lib/clean-up.js'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { packageFile } from '../../src/lib/package-root.js'
import { onDisk } from '../support/memory-folder.js'
import { createDatabase, isOnPostgres } from '../support/postgres.js'
import {
  ABOUT,
  CALLS_COUNTED,
  type Counts,
  OPERATIONS,
  OPERATIONS_ON_POSTGRES,
  type Operation,
  PLAIN,
  SHOWN_ONLY,
  takeLedger,
  takeLedgerOnPostgres,
} from './ledger.js'

const PAGE = packageFile('test', 'ledger', 'README.md')
/** How much more than in the table may be counted of what differs from run to run: timers and the size of reads have a part in it. */
const SLACK = 1.25

const mark = isOnPostgres() ? 'ledger on postgres' : 'ledger'
const table = new RegExp(`(?<=<!-- ${mark} -->\\n)[\\s\\S]*?(?=\\n<!-- /${mark} -->)`)
const operations: Partial<Record<Operation, string>> = isOnPostgres() ? OPERATIONS_ON_POSTGRES : OPERATIONS
const names = Object.keys(operations) as Operation[]
const calls: readonly string[] = isOnPostgres() ? PLAIN : CALLS_COUNTED

let counted: Record<string, Counts>
beforeAll(async () => {
  const pack = await loadModelPack(join(inject('modelsDir'), 'baseline'))
  if (isOnPostgres()) {
    const database = await createDatabase()
    counted = await takeLedgerOnPostgres(pack, database.url).finally(() => database.drop())
  } else counted = await onDisk(() => takeLedger(pack))
  if (process.env.UPDATE_DOCS === '1')
    writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(table, tableOf(counted)))
}, 300_000)

afterAll(cleanUp)

/** Elsewhere than on Linux the table keeps what the system does not count. */
function tableOf(ledger: Record<string, Counts>): string {
  return markdownTable(
    ['Operation', ...calls],
    names.map((name) => [operations[name]!, ...calls.map((call) => cellOf(ledger, call, name))]),
  )
}

function cellOf(ledger: Record<string, Counts>, call: string, name: Operation): string {
  const isLeft = process.platform !== 'linux' && [...ABOUT, ...SHOWN_ONLY].includes(name)
  return String(Math.ceil(isLeft ? allowed()[call]![name]! : ledger[call]![name]))
}

/** The counts that the page allows, by call and operation. */
function allowed(): Record<string, Record<string, number>> {
  const [, , ...rows] = table.exec(readFileSync(PAGE, 'utf8'))![0].split('\n')
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  expect(cells.map(([title]) => title)).toEqual(Object.values(operations))
  const columns = calls.map((call, i) => [
    call,
    Object.fromEntries(names.map((name, row) => [name, Number(cells[row]![i + 1])])),
  ])
  return Object.fromEntries(columns)
}

describe('the main thread of the service', () => {
  it.each(calls)('does no more for one call of %s than the table says', (call) => {
    const most = allowed()[call]!
    const isMore = (name: Operation) => {
      if (SHOWN_ONLY.includes(name)) return false
      const limit = ABOUT.includes(name) ? Math.ceil(most[name]! * SLACK) + 2 : most[name]!
      return !(counted[call]![name] <= limit)
    }
    const risen = names.filter(isMore)
    expect(
      risen.map((name) => `${operations[name]}: ${counted[call]![name]} instead of ${most[name]}`),
      'Save them, or write the table again (npm run docs) and say in the commit what they buy',
    ).toEqual([])
  })

  it('is counted: a verify makes HMACs, opens boxes, reads and writes', () => {
    const verify = counted.verify!
    const some = isOnPostgres()
      ? (['database_statements', 'database_round_trips', 'database_kib'] as const)
      : (['hmacs', 'ciphers', 'statements_read', 'statements_written', 'log_pages'] as const)
    for (const name of some) expect(verify[name]).toBeGreaterThan(0)
    if (!isOnPostgres()) expect(verify.transactions).toBe(1)
  })
})
