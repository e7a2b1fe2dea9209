/**
 * Tests against a real server that the error about an unusable PostgreSQL names a remedy, in the functions that `serve` and `config check`
 * call, and of what they ask the server.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { databaseOf } from '../../../src/app/database.js'
import { StoreOpenError } from '../../../src/storage/store.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

overPostgres(() => {
  const folder = temporaryFolder()
  const wrong = join(folder, 'wrong.password')
  const empty = join(folder, 'empty.password')
  const absent = join(folder, 'absent.password')
  const made = testDatabase('all tests')
  beforeAll(() => {
    writeFileSync(wrong, 'wrong\n')
    writeFileSync(empty, '\n')
  })

  const cases: Array<[string, Partial<URL>, string | undefined, RegExp]> = [
    [
      'a wrong password',
      {},
      wrong,
      /password authentication failed .*wrong\.password\. ALTER ROLE "postgres" PASSWORD/,
    ],
    [
      'a wrong password in the URL',
      { password: 'hush' },
      undefined,
      /failed .* came from COUNTERSIGN_DATABASE\. ALTER ROLE/,
    ],
    ['an empty password file', {}, empty, /asks for a password, and .*empty\.password is empty\.$/],
    ['a missing password file', {}, absent, /ENOENT.*COUNTERSIGN_DATABASE_PASSWORD_FILE names that file\.$/],
    [
      'a missing password',
      { password: '' },
      undefined,
      /name a file with it in COUNTERSIGN_DATABASE_PASSWORD_FILE\.$/,
    ],
    [
      'a missing database',
      { pathname: '/absent' },
      undefined,
      /"absent" does not exist\. CREATE DATABASE "absent" OWNER "postgres"/,
    ],
    [
      'a port on which nothing listens',
      { port: '1' },
      undefined,
      /ECONNREFUSED 127\.0\.0\.1:1\. Check that PostgreSQL is running/,
    ],
    [
      'a host without an address',
      { hostname: 'absent.invalid' },
      undefined,
      /absent\.invalid.* Check the spelling of the host in COUNTERSIGN_DATABASE\.$/,
    ],
  ]
  it.each(cases)('names a remedy for %s', async (_, change, databasePasswordFile, message) => {
    const url = new URL(made.url)
    Object.assign(url, change)
    url.searchParams.set('sslmode', 'disable')
    const config = { database: url.href, databasePasswordFile }
    const database = databaseOf(config)
    for (const work of [() => database.open({}), () => database.exists()]) {
      const error = await work().then(
        () => null,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(StoreOpenError)
      expect((error as Error).message).toMatch(message)
      expect((error as Error).message).not.toContain('hush')
    }
  })

  it('recognizes a server that runs without fsync, as that of the tests does', async () => {
    expect(await made.query('SHOW fsync')).toEqual([{ fsync: 'off' }])
    const config = { database: made.url, databasePasswordFile: undefined }
    expect(await databaseOf(config).waitsForDisk()).toBe(false)
  })
})

it('asks nobody whether the disk is waited for where the database is SQLite', async () => {
  const config = { database: 'sqlite:none.db', databasePasswordFile: undefined }
  expect(await databaseOf(config).waitsForDisk()).toBeNull()
})
