import { expect, it } from 'vitest'
import { databaseKinds, databaseOf } from '../../src/app/database.js'
import { ConfigError } from '../../src/config/config.js'

const postgres = { database: 'postgres://ada:hush@db.example.com/books', databasePasswordFile: undefined }

it('a database is named without its password', () => {
  expect(databaseOf(postgres).describe()).toBe('PostgreSQL database books on db.example.com:5432')
})

it('a database whose feature is not there is refused with the forms that are expected, and without its password', async () => {
  const database = databaseOf(postgres, [])
  for (const asked of [async () => database.describe(), database.exists, database.inspect]) {
    const error = await asked().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).toMatch(/^COUNTERSIGN_DATABASE is not supported: expected sqlite:<file>/)
    expect((error as Error).message).not.toContain('hush')
  }
})

it('each kind of database knows the schema version of this code', async () => {
  const kinds = databaseKinds()
  expect(kinds.map(({ name }) => name)).toEqual(['SQLite', 'PostgreSQL'])
  for (const { schema } of kinds) expect(await schema()).toBeGreaterThan(0)
})
