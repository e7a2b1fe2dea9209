/**
 * Every table of the core, and the statements that delete what is at its end: with its user, with its tenant, or in time. They follow from the
 * declarations of tables.
 */
import type { Connection } from './connection.js'
import { NOTHING_ERASED, type Table } from './table.js'
import * as core from './tables/index.js'

/** Each comes after those that it refers to. A copy to the other kind of database goes by this order, and a deletion by the reverse. */
export const TABLES: readonly Table[] = inOrder(Object.values<Table>(core))

/** The tables of the core, then those of features. */
export function tablesWith(own: readonly Table[]): Table[] {
  return [...TABLES, ...own]
}

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  const add = (table: Table) => {
    if (ordered.includes(table)) return
    for (const other of tables) if (refersTo(table, other)) add(other)
    ordered.push(table)
  }
  tables.forEach(add)
  return ordered
}

function refersTo({ declared }: Table, { name }: Table): boolean {
  return Object.values(declared.columns).some(({ rest }) => rest.includes(`REFERENCES ${name} (`))
}

/** Rows of a table deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
const ENDED_AT_ONCE = 250

/**
 * Deletes what is at its end: a row before the one that it refers to.
 * @param onErase called when a user's key was deleted
 */
export function endingWriter(database: Connection, onErase: () => void, all: readonly Table[]) {
  const tables = all.toReversed()
  /** Deletes a batch in the order of an index: otherwise PostgreSQL would start each by reading the dead rows of those before. */
  const deleteSome = <Given extends unknown[]>({ name, key }: Table, condition: string, order: string) =>
    database.prepare<Given>(
      `WITH ended AS (SELECT ${key.join(', ')} FROM ${name} WHERE ${condition} ORDER BY ${order}
         LIMIT ${ENDED_AT_ONCE} ${database.skipLocked ?? ''})
       DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT * FROM ended)`,
    )
  const ofUser = tables.flatMap((table) =>
    erasureOf(table).map((sql) => ({
      table,
      statement: database.prepare<[{ lookup: Buffer; hex: string }]>(sql),
    })),
  )
  const ofTenant = [
    'UPDATE tenant SET deleted_at = @at, capture_page = NULL, passkeys = NULL, models = NULL WHERE id = @id',
    'UPDATE api_key SET revoked_at = @at WHERE tenant_id = @id AND revoked_at IS NULL',
    ...tables.flatMap((table) =>
      rowsOf(table, '@id').map((where) => `DELETE FROM ${table.name} WHERE ${where}`),
    ),
  ].map((sql) => database.prepare<[{ id: string; at: number }]>(sql))
  const expired = tables.flatMap((table) =>
    table.expires.map(({ at, keptMs = 0, when = 'true' }) => ({
      keptMs,
      statement: deleteSome<[number]>(table, `${at} <= ? AND ${when}`, at),
    })),
  )
  // Every version knows the tables of the core.
  const leftByTenants = tables
    .filter((table) => !TABLES.includes(table) && !table.declared.leavesToTime)
    .flatMap((table) =>
      rowsOf(table, 'SELECT id FROM tenant WHERE deleted_at IS NOT NULL').map((where) =>
        deleteSome<[]>(table, where, table.columnOf.tenantId ?? table.key.join(', ')),
      ),
    )
  return {
    /**
     * Deletes the subject with its key, reference, captures, own consent texts, kept responses and sign-ins, and what features keep about
     * it.
     * @returns how many rows were deleted, for the receipt
     */
    eraseSubject: async (blindIndex: Buffer) => {
      const user = { lookup: blindIndex, hex: blindIndex.toString('hex') }
      const done = await Promise.all(
        ofUser.map(async ({ table, statement }) => ({ table, changes: (await statement.run(user)).changes })),
      )
      const erased = { ...NOTHING_ERASED }
      for (const { table, changes } of done) {
        const { countedAs } = table.declared
        if (countedAs) erased[countedAs] += changes
        if (table === core.SUBJECT && changes > 0) onErase()
      }
      return erased
    },
    /** Marks the tenant as deleted, ends its keys, and deletes its signing secrets, login links and sessions. */
    closeTenant: async (id: string, at: number) => {
      for (const statement of ofTenant) statement.run({ id, at })
      onErase()
    },
    /**
     * Deletes rows that time ends. Limits the number of rows, because other writers wait meanwhile, and leaves out rows that another
     * transaction holds.
     * @returns whether more rows may have expired
     */
    deleteExpired: async (now: number) => {
      const deleted = await Promise.all(expired.map(({ keptMs, statement }) => statement.run(now - keptMs)))
      return deleted.some(({ changes }) => changes === ENDED_AT_ONCE)
    },
    /**
     * Deletes rows of features that deleted tenants have left, because a version without the feature has deleted the tenant. Deletes from one
     * table at a time, because others may refer to the next, and limits the number of rows as `deleteExpired` does.
     * @returns whether more rows may be left
     */
    deleteLeftByTenants: async () => {
      for (const statement of leftByTenants) if ((await statement.run()).changes > 0) return true
      return false
    },
  }
}

/** @returns the statement that deletes or changes the rows of a user, or none, as where a foreign key does */
function erasureOf({ name, columnOf, declared: { atErasure } }: Table): string[] {
  if (typeof atErasure === 'object') return [`UPDATE ${name} SET ${atErasure.set} WHERE ${atErasure.where}`]
  if (atErasure !== 'deleted') return []
  const { blindIndex, subjectId, referenceId } = columnOf
  const subject = '(SELECT id FROM subject WHERE lookup = @lookup)'
  if (blindIndex) return [`DELETE FROM ${name} WHERE ${blindIndex} = @lookup`]
  if (subjectId) return [`DELETE FROM ${name} WHERE ${subjectId} = ${subject}`]
  const references = `(SELECT id FROM reference WHERE subject_id = ${subject})`
  return [`DELETE FROM ${name} WHERE ${referenceId} IN ${references}`]
}

/** @returns the condition of the rows that are deleted with these tenants, or none */
function rowsOf({ columnOf, declared: { atTenantEnd } }: Table, tenants: string): string[] {
  if (typeof atTenantEnd === 'object') return [atTenantEnd.where.replaceAll('@tenants', tenants)]
  return atTenantEnd === 'deleted' ? [`${columnOf.tenantId} IN (${tenants})`] : []
}
