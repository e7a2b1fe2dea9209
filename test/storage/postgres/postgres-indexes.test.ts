/** Tests of the indexes over the audit log, which services build while others write. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { until } from '../../support/command.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'
import { auditEntry, tenant } from '../../support/records.js'

const NAMES = ['audit_erased', 'audit_verification']
const VALID = `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indisvalid AND relname LIKE 'audit\\_%' ORDER BY relname`
const BUILDING = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND state = 'active'`

const database = testDatabase()
const open = async (options = {}) => database.closing(await openPostgresStore(database.url, options))
const validIndexes = async () =>
  (await database.query(VALID)).map(({ name }) => name as string).filter((name) => NAMES.includes(name))
const entry = (sequence: number) =>
  auditEntry(sequence, {
    entry: JSON.stringify({ event: 'verify', subject: '0a', verification_id: `ver_${sequence}` }),
  })
const connectPlainly = async () => {
  const client = new pg.Client(database.url)
  await client.connect()
  database.closing({ close: () => client.end() })
  return client
}
const append = (sequence: number) =>
  `INSERT INTO audit (tenant_id, sequence, entry, hash)
   VALUES ('ten_a', ${sequence}, '${entry(sequence).entry}', '\\x00')`

/** Turns the database into one that an earlier version wrote, with an entry in its audit log. */
async function age(): Promise<void> {
  const store = await open()
  await store.transaction('installation', async (tx) => {
    await tx.insertTenant(tenant('a'))
    await tx.appendAudit(entry(1))
  })
  await store.close()
  await database.query(`DROP INDEX ${NAMES.join(', ')}`)
}

overPostgres(() => {
  it('a new database has them from the start', async () => {
    await open()
    expect(await validIndexes()).toEqual(NAMES)
  })

  it('a service that meets a database without them builds them, and finds what an earlier version wrote', async () => {
    await age()
    const store = await open({ serving: true })
    expect(await validIndexes()).toEqual(NAMES)
    expect(await store.read.auditedVerification('ten_a', 'ver_1')).toBeDefined()
  })

  it('other services go on writing to the log while one builds them, and several that start at once wait for it', async () => {
    await age()
    const [early, late] = [await connectPlainly(), await connectPlainly()]
    // A transaction that has written: the build waits for its end.
    await early.query(`BEGIN; ${append(2)}`)
    const starting = Promise.all([open({ serving: true }), open({ serving: true })])
    await until(async () => (await database.query(BUILDING)).length === 1)
    await early.query('COMMIT')
    await early.query(`BEGIN; UPDATE tenant SET burst = burst`)
    // An ordinary build would hold up this statement until it has ended.
    await late.query(`SET lock_timeout = 5000; ${append(3)}`)
    await early.query('COMMIT')
    const [store] = await starting
    expect(await validIndexes()).toEqual(NAMES)
    for (const id of ['ver_1', 'ver_2', 'ver_3'])
      expect(await store.read.auditedVerification('ten_a', id), id).toBeDefined()
  })

  it('an index that a build left unfinished is built again', async () => {
    await open()
    await database.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'audit_verification'::regclass`,
    )
    expect(await validIndexes()).toEqual(['audit_erased'])
    await open({ serving: true })
    expect(await validIndexes()).toEqual(NAMES)
  })

  it('a command that only reads or writes builds none', async () => {
    await open()
    await database.query(`DROP INDEX ${NAMES.join(', ')}`)
    await open()
    expect(await validIndexes()).toEqual([])
    await open({ migrating: true })
    expect(await validIndexes()).toEqual(NAMES)
  })
})
