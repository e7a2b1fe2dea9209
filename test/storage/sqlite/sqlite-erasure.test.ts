/** Tests that erased data is left neither in the database file nor in its write-ahead log. */
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js'
import { AT, bytes, insertUser, signingSecret, tenant } from '../../support/records.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const MARK = 'a sealed secret that nobody may find again'

let dir: string
const opened: SqliteStore[] = []
beforeEach(() => {
  dir = temporaryFolder()
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

function open(file: string, options = {}): SqliteStore {
  const store = SqliteStore.open(file, options)
  opened.push(store)
  return store
}
const logOf = (file: string) => `${file}-wal`
const logBytes = (file: string) => statSync(logOf(file), { throwIfNoEntry: false })?.size ?? 0
const holds = (file: string, text: string) =>
  [file, logOf(file)].some((path) => existsSync(path) && readFileSync(path).includes(text))

describe.each([false, true])('the write-ahead log of a serving store: %s', (serving) => {
  it('is cut when a tenant is closed, because it contains its secrets', async () => {
    const file = join(dir, 'countersign.db')
    const store = open(file, { serving })
    await store.transaction('installation', async (tx) => {
      await tx.insertTenant(tenant('a'))
      await tx.insertSigningSecret(signingSecret('sec_a', { sealed: bytes(MARK) }))
    })
    expect(holds(file, MARK)).toBe(true)
    await store.transaction('installation', (tx) => tx.closeTenant('ten_a', AT))
    expect(holds(file, MARK)).toBe(false)
  })

  it('is cut when a database is opened after a crash, because nobody knows what was erased before', async () => {
    const file = join(dir, 'countersign.db')
    const store = open(file)
    await store.transaction('installation', (tx) => tx.insertTenant(tenant('a')))
    await store.transaction('installation', (tx) => insertUser(tx, 'ada'))
    // A crash leaves the log, which no connection has removed by closing.
    const crashed = join(dir, 'crashed.db')
    copyFileSync(file, crashed)
    copyFileSync(logOf(file), logOf(crashed))
    expect(logBytes(crashed)).toBeGreaterThan(0)
    const reopened = open(crashed, { serving })
    expect(logBytes(crashed)).toBe(0)
    expect((await reopened.read.tenants()).map(({ name }) => name)).toEqual(['a'])
  })
})
