/** Whom a key belongs to is remembered until somebody may have changed it: this process, or another one. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RememberedCallers } from '../../../src/storage/sqlite/remembered-callers.js'
import { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, apiKey, signingSecret, tenant } from '../../support/records.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

let dir: string
let service: SqliteStore
let command: SqliteStore

const KEY = apiKey('key_1')
const later = AT + 1000

beforeEach(async () => {
  dir = temporaryFolder()
  const file = join(dir, 'countersign.db')
  service = SqliteStore.open(file, { serving: true })
  await write(service, async (tx) => {
    await tx.insertTenant(tenant())
    await tx.insertApiKey(KEY)
    await tx.insertSigningSecret(signingSecret('sec_1'))
  })
  command = SqliteStore.open(file)
})
afterEach(async () => {
  await command.close()
  await service.close()
})

const write = <T>(store: SqliteStore, work: (tx: StoreTransaction) => Promise<T>) =>
  store.transaction('installation', work)
const caller = async (now = later) => (await service.read.apiKeyByHash(KEY.hash, now))!

it('a caller is read once, and again after a commit of another connection', async () => {
  const path = join(dir, 'plain.db')
  const [own, other] = [new Database(path), new Database(path)]
  own.pragma('journal_mode = WAL')
  own.exec('CREATE TABLE tenant (id TEXT)')
  const found = { key: KEY, tenant: tenant(), secrets: [] }
  const read = vi.fn(async () => found)
  const callers = new RememberedCallers(own, read)
  await callers.find(KEY.hash, later)
  expect(await callers.find(KEY.hash, later)).toEqual(found)
  expect(read).toHaveBeenCalledTimes(1)
  other.exec("INSERT INTO tenant VALUES ('b')")
  await callers.find(KEY.hash, later)
  expect(read).toHaveBeenCalledTimes(2)
  own.close()
  other.close()
})

it('a caller who is changed while being read is not remembered', async () => {
  const own = new Database(join(dir, 'plain.db'))
  own.exec('CREATE TABLE tenant (id TEXT)')
  let answer = () => {}
  const read = vi.fn(
    () =>
      new Promise<{ key: typeof KEY; tenant: ReturnType<typeof tenant>; secrets: [] }>((resolve) => {
        answer = () => resolve({ key: KEY, tenant: tenant(), secrets: [] })
      }),
  )
  const callers = new RememberedCallers(own, read)
  const first = callers.find(KEY.hash, later)
  callers
    .watching(own as never)
    .prepare("UPDATE tenant SET id = 'c'")
    .run()
  answer()
  await first
  const second = callers.find(KEY.hash, later)
  answer()
  await second
  expect(read).toHaveBeenCalledTimes(2)
  own.close()
})

it.each<
  [string, (tx: StoreTransaction) => Promise<unknown>, (found: Awaited<ReturnType<typeof caller>>) => unknown]
>([
  [
    'a suspension',
    (tx) => tx.setSuspended(KEY.tenantId, later),
    ({ tenant: { suspendedAt } }) => suspendedAt,
  ],
  ['a revoked key', (tx) => tx.revokeEveryApiKey(KEY.tenantId, KEY.type, later), ({ key }) => key.revokedAt],
  [
    'the end of a secret',
    (tx) => tx.setSigningSecretEnd('sec_1', later + 1),
    ({ secrets }) => secrets[0]!.validUntil! - 1,
  ],
])('%s holds from the next call on, whichever process writes it', async (_, change, seen) => {
  for (const store of [service, command]) {
    await caller()
    await write(store, change)
    expect(seen(await caller())).toBe(later)
    await write(store, async (tx) => {
      await tx.setSuspended(KEY.tenantId, null)
      await tx.setSigningSecretEnd('sec_1', null as never)
    })
  }
})

it('a change that is rolled back was never true, not even before', async () => {
  await caller()
  const failing = write(service, async (tx) => {
    await tx.setSuspended(KEY.tenantId, later)
    expect((await caller()).tenant.suspendedAt).toBeNull()
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect((await caller()).tenant.suspendedAt).toBeNull()
})

it('a secret is given only while it is valid', async () => {
  await write(service, (tx) => tx.setSigningSecretEnd('sec_1', later + 10))
  expect((await caller()).secrets).toHaveLength(1)
  expect((await caller(later + 10)).secrets).toHaveLength(0)
})
