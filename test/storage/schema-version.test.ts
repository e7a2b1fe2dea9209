/** Tests that the version of the schema says which schema it is: what the core declares, and the number under which it was last recorded. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SCHEMA } from '../../src/features/postgres/store/postgres-migrations.js'
import { packageFile } from '../../src/lib/package-root.js'
import { TABLES } from '../../src/storage/endings.js'
import { missingOf, POSTGRES, SQLITE } from '../../src/storage/schema.js'
import { SCHEMA_VERSION } from '../../src/storage/sqlite/sqlite-migrations.js'

const RECORD = packageFile('test', 'storage', 'schema-version.json')

/** In no order: two tables that change places are the same schema. */
const digestOf = (statements: string[]) =>
  createHash('sha256').update(statements.toSorted().join('\n')).digest('hex')

it('is another one when what the core declares has changed (UPDATE_DOCS=1 records a new one)', () => {
  const declared = {
    sqlite: { version: SCHEMA_VERSION, sha256: digestOf(missingOf(TABLES, SQLITE, [])) },
    postgres: { version: SCHEMA, sha256: digestOf(missingOf(TABLES, POSTGRES, [])) },
  }
  const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as typeof declared
  const isRaised = (['sqlite', 'postgres'] as const).every(
    (database) =>
      declared[database].sha256 === recorded[database].sha256 ||
      declared[database].version > recorded[database].version,
  )
  expect(isRaised, 'raise SCHEMA_VERSION or SCHEMA: a database of the version before lacks the change').toBe(
    true,
  )
  if (process.env.UPDATE_DOCS === '1') writeFileSync(RECORD, `${JSON.stringify(declared, null, 2)}\n`)
  else expect(declared).toEqual(recorded)
})
