import { expect, it } from 'vitest'
import { databaseOf } from '../../../src/app/database.js'
import { createDatabase, overPostgres } from '../../support/postgres.js'

const waitsForDisk = (database: string) =>
  databaseOf({ database, databasePasswordFile: undefined }).waitsForDisk()

overPostgres(() => {
  it('recognizes a server that runs without fsync, as that of the tests does', async () => {
    const database = await createDatabase()
    try {
      expect(await database.query('SHOW fsync')).toEqual([{ fsync: 'off' }])
      expect(await waitsForDisk(database.url)).toBe(false)
    } finally {
      await database.drop()
    }
  })
})

it('asks nobody where the database is SQLite', async () => {
  expect(await waitsForDisk('sqlite:none.db')).toBeNull()
})
