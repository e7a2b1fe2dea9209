import { expect, it } from 'vitest'
import { waitsForDisk } from '../../../src/storage/open-store.js'
import { createDatabase, overPostgres } from '../../support/postgres.js'

overPostgres(() => {
  it('recognizes a server that runs without fsync, as that of the tests does', async () => {
    const database = await createDatabase()
    try {
      expect(await database.query('SHOW fsync')).toEqual([{ fsync: 'off' }])
      expect(await waitsForDisk({ database: database.url, databasePasswordFile: undefined })).toBe(false)
    } finally {
      await database.drop()
    }
  })
})

it('asks nobody where the database is SQLite', async () => {
  expect(await waitsForDisk({ database: 'sqlite:none.db', databasePasswordFile: undefined })).toBeNull()
})
