import { expect, it } from 'vitest'
import { databaseOf } from '../../../src/app/database.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'

const waitsForDisk = (database: string) =>
  databaseOf({ database, databasePasswordFile: undefined }).waitsForDisk()

overPostgres(() => {
  const database = testDatabase()
  it('recognizes a server that runs without fsync, as that of the tests does', async () => {
    expect(await database.query('SHOW fsync')).toEqual([{ fsync: 'off' }])
    expect(await waitsForDisk(database.url)).toBe(false)
  })
})

it('asks nobody where the database is SQLite', async () => {
  expect(await waitsForDisk('sqlite:none.db')).toBeNull()
})
