import pg from 'pg'
import { beforeEach, expect, it } from 'vitest'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import type { TenantRecord } from '../../../src/storage/records.js'
import type { Store, StoreTransaction } from '../../../src/storage/store.js'
import { poll } from '../../support/command.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'
import { tenant } from '../../support/records.js'

/** Enough tenants that some share a lock partition and some do not. */
const NAMES = Array.from({ length: 24 }, (_, i) => `tenant-${i}`)
const TIMES = 12

const database = testDatabase()
let nodes: Store[]

function countOne(tx: StoreTransaction, { id, ...tenant }: TenantRecord): Promise<void> {
  const { ratePerSecond, burst, fmr, requireLiveness, replaceVerdictMinutes } = tenant
  const contract = { burst, fmr, requireLiveness, replaceVerdictMinutes }
  return tx.setContract(id, { ...contract, ratePerSecond: ratePerSecond + 1 })
}
/** Reads a value and writes what follows from it. */
const count = (store: Store, name: string) =>
  store.transaction({ tenantId: `ten_${name}` }, async (tx) => {
    await countOne(tx, (await tx.tenantById(`ten_${name}`))!)
  })

overPostgres(() => {
  beforeEach(async () => {
    nodes = await Promise.all([1, 2].map(async () => database.closing(await openPostgresStore(database.url))))
    await nodes[0]!.transaction('installation', async (tx) => {
      for (const name of NAMES) await tx.insertTenant(tenant(name, { ratePerSecond: 0 }))
    })
  })
  const rates = async () => (await nodes[0]!.read.tenants()).map(({ ratePerSecond }) => ratePerSecond)

  it('serializes transactions of one tenant, and global ones, over all nodes', async () => {
    const ofAll = (store: Store) =>
      store.transaction('installation', async (tx) => {
        for (const one of await tx.tenants()) await countOne(tx, one)
      })
    await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: TIMES }, async (_, i) => {
          if (i % 4 === 1) await ofAll(node)
          await Promise.all(NAMES.map((name) => count(node, name)))
        }),
      ),
    )
    const once = TIMES * nodes.length
    expect(await rates()).toEqual(NAMES.map(() => once + once / 4))
  })

  it('runs a group without tenants whose lock partition another node has, while a global transaction waits for every partition', async () => {
    const [node, other] = nodes as [Store, Store]
    const holder = new pg.Client(database.url)
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM lane WHERE id % 2 = 0 FOR UPDATE')
    const done = new Set<string>()
    const counting = NAMES.map((name) => count(node, name).then(() => done.add(name)))
    await poll(rates, (all) => all.includes(1))
    const ofAll = other
      .transaction('installation', (tx) => tx.insertTenant(tenant('late')))
      .then(() => done.add('late'))
    const waiting = () =>
      database.query(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
    await poll(waiting, (rows) => rows.length === 2)
    expect(done.has('late')).toBe(false)
    expect(done.size).toBeGreaterThan(0)
    expect(done.size).toBeLessThan(NAMES.length)
    await holder.end()
    await Promise.all([...counting, ofAll])
    expect(await rates()).toEqual([...NAMES, 'late'].map(() => 1))
  })

  it('nodes that write the same tenants all the time do not starve each other, nor global transactions', async () => {
    let isOver = false
    let counted = 0
    const countOn = async (node: Store, name: string) => {
      while (!isOver) {
        await count(node, name)
        counted++
      }
    }
    const counting = nodes.flatMap((node) => NAMES.map((name) => countOn(node, name)))
    for (let i = 0; i < TIMES; i++)
      await nodes[i % nodes.length]!.transaction('installation', (tx) =>
        tx.insertTenant(tenant(`late-${i}`, { ratePerSecond: 0 })),
      )
    isOver = true
    await Promise.all(counting)
    expect((await rates()).reduce((sum, rate) => sum + rate, 0)).toBe(counted)
    expect(counted).toBeGreaterThan(counting.length)
    const deadlocks = 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()'
    expect(await database.query(deadlocks)).toEqual([{ deadlocks: 0 }])
  })

  it('refuses to write once data keys may lie under an epoch, where nothing reads the keys of epochs', async () => {
    const { epochs, requireOwnKeys } = epochsOf(nodes[0]!)!
    await requireOwnKeys()
    await epochs.announce('key', 1)
    const { number } = (await epochs.all())[0]!
    await epochs.activate(number, 2)
    await count(nodes[0]!, NAMES[0]!)
    await epochs.fence(number)
    await expect(count(nodes[0]!, NAMES[0]!)).rejects.toThrow('the working keys were changed')
    await count(nodes[1]!, NAMES[0]!)
  })

  it('refuses to write under an epoch that the database does not know, as after a failover', async () => {
    const shared = epochsOf(nodes[0]!)!
    const { epochs } = shared
    await epochs.announce('key', 1)
    const { number } = (await epochs.all())[0]!
    shared.requireEpoch(number)
    await expect(count(nodes[0]!, NAMES[0]!)).rejects.toThrow('the working keys were changed')
    await expect(nodes[0]!.assertWritable()).rejects.toThrow('the working keys were changed')
    await epochs.activate(number, 2)
    await count(nodes[0]!, NAMES[0]!)
    await nodes[0]!.assertWritable()
  })

  it('reports missing lock partitions instead of waiting for them forever', async () => {
    await database.query('DELETE FROM lane WHERE id > 1')
    await expect(Promise.all(NAMES.map((name) => count(nodes[0]!, name)))).rejects.toThrow(
      'table "lane" is missing rows',
    )
  })
})
