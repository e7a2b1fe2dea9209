/** Master key, working keys and the operator's password of several services over one database, and of one that joins them. */
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Core } from '../../src/admin/core.js'
import { openCore } from '../../src/app/core.js'
import { openWithAny } from '../../src/crypto/sealed-box.js'
import { loadOperatorPassword, resetOperatorPassword } from '../../src/dashboard/sign-in/operator-password.js'
import { finishMasterKey, prepareMasterKey } from '../../src/keys/master-key-rotation.js'
import { StoreUnavailableError } from '../../src/storage/store.js'
import { poll, until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { overPostgres } from '../support/postgres.js'
import { type Cluster, makeTenant, startCluster } from './nodes.js'

/** The master key is in its file. */
const BY_FILE = { COUNTERSIGN_MASTER_KEY: '' }

overPostgres(() => {
  let cluster: Cluster
  const ledgers: Core[] = []
  afterEach(async () => {
    for (const core of ledgers.splice(0)) await core.store.close()
    await cluster?.stop()
  })
  /** A core as a command opens it. */
  const core = async (env: Record<string, string> = {}) => {
    const opened = await openCore(await cluster.configure(env))
    ledgers.push(opened)
    return opened
  }
  const ready = async (node: number) => (await fetch(`${cluster.nodes[node]!.adminUrl}/readyz`)).status

  it('services with the new master key take over a change of the keys; the others write nothing and are not ready', async () => {
    cluster = await startCluster(1)
    const next = randomBytes(32)
    const begun = await core()
    await prepareMasterKey(begun.store, begun.keys, next)
    const renewed = { COUNTERSIGN_MASTER_KEY: next.toString('base64') }
    await cluster.start(renewed)
    // The one that was there before has to see the change first.
    const { store: former } = cluster.nodes[0]!.core
    await poll(
      () =>
        former.assertWritable().then(
          () => true,
          () => false,
        ),
      (isWritable) => isWritable,
    )
    const tenant = await makeTenant(cluster)
    const image = base64(await face('ada'))
    const enroll = async (node: number, user: string) =>
      (await tenant.production[node]!.enroll({ user_id: user, image })).status
    // The next keys open already, and nobody seals by them yet.
    expect([await enroll(0, 'a'), await enroll(1, 'b')]).toEqual([201, 201])
    const finishing = await core(renewed)
    let isFinished = false
    const finished = finishMasterKey(finishing.store, finishing.keys, next).then(() => {
      isFinished = true
    })
    const statuses = new Set<number>()
    const enrolled: string[] = []
    for (let i = 0; !isFinished; i++) {
      const status = await enroll(1, `user-${i}`)
      statuses.add(status)
      if (status === 201) enrolled.push(`user-${i}`)
      // A service with the old master key.
      const old = await enroll(0, `old-${i}`)
      if (old === 201) enrolled.push(`old-${i}`)
    }
    await finished
    await until(async () => (await ready(0)) === 503)
    expect(await enroll(0, 'late')).toBe(503)
    await until(async () => (await enroll(1, 'after')) !== 503)
    expect(await ready(1)).toBe(200)
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
    expect(enrolled.length).toBeGreaterThan(0)
    const { store, keys, audit } = cluster.nodes[1]!.core
    expect(keys.phase).toBe('settled')
    for (const { id, sealed } of await store.read.sealedRows('subject', '', 10_000))
      expect(() => openWithAny(keys.wrapping, sealed, id)).not.toThrow()
    expect((await audit.verify(store.read, tenant.id)).brokenAt).toBeNull()
  })

  it('a service with stale keys writes nothing from the change on, and keeps reading', async () => {
    cluster = await startCluster(0)
    const stale = await core()
    const { shared, read } = stale.store
    let told = 0
    shared!.requireKeys(await shared!.keysRevision(), () => told++)
    const write = () => stale.tenancy.create(`tenant-${told}`)
    await write()
    const other = await core()
    await prepareMasterKey(other.store, other.keys, randomBytes(32))
    await expect(write()).rejects.toThrow(StoreUnavailableError)
    expect(told).toBe(1)
    expect(await read.tenants()).toHaveLength(1)
    shared!.requireKeys(await shared!.keysRevision(), () => told++)
    await write()
    expect(await read.tenants()).toHaveLength(2)
  })

  it('two services that start concurrently on an empty database share one set of keys', async () => {
    cluster = await startCluster(0)
    const [one, other] = await Promise.all([core(), core()])
    expect(one.keys.lookup.equals(other.keys.lookup)).toBe(true)
    expect(one.keys.wrapping.current.equals(other.keys.wrapping.current)).toBe(true)
    expect(await one.store.read.keyrings()).toHaveLength(1)
  })

  it('all services share one operator password, and a reset holds for all at once', async () => {
    cluster = await startCluster(0)
    const { store } = await core()
    const load = async () => loadOperatorPassword(await cluster.configure(), store.shared)
    const [one, other] = [await load(), await load()]
    expect([await one.keep(), await other.keep()]).toEqual([true, false])
    for (const node of [one, other, await load()]) {
      expect(await node.matches(one.generated!)).toBe(true)
      expect(await node.matches(other.generated!)).toBe(false)
      expect(await node.fingerprint()).toBe(await one.fingerprint())
    }
    const before = await one.fingerprint()
    const password = await resetOperatorPassword(await cluster.configure(), store.shared)
    for (const node of [one, other]) {
      expect(await node.matches(password)).toBe(true)
      expect(await node.matches(one.generated!)).toBe(false)
      expect(await node.fingerprint()).not.toBe(before)
    }
  })

  it('the operator password of an existing data folder is taken over, and a configured file wins', async () => {
    cluster = await startCluster(0)
    const { store } = await core()
    const config = await cluster.configure()
    writeFileSync(config.operatorPasswordFile, 'from before there was one')
    const adopted = await loadOperatorPassword(config, store.shared)
    expect([adopted.generated, await adopted.matches('from before there was one')]).toEqual([null, true])
    const beside = await loadOperatorPassword(await cluster.configure(), store.shared)
    expect(await beside.matches('from before there was one')).toBe(true)
    const file = `${config.operatorPasswordFile}.named`
    writeFileSync(file, 'of the file that is named')
    const named = await cluster.configure({ COUNTERSIGN_OPERATOR_PASSWORD_FILE: file })
    expect(await (await loadOperatorPassword(named, store.shared)).matches('of the file that is named')).toBe(
      true,
    )
  })

  it('a joining service is refused with another master key, and creates none where it has none', async () => {
    cluster = await startCluster(1)
    const another = { COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64') }
    await expect(cluster.start(another)).rejects.toThrow(/master key does not open this database/)
    const config = await cluster.configure(BY_FILE)
    await expect(openCore(config)).rejects.toThrow(
      `There is no master key at ${config.masterKeyFile}, but there are data in PostgreSQL database `,
    )
    expect(existsSync(config.masterKeyFile)).toBe(false)
    expect(await cluster.nodes[0]!.core.store.read.keyrings()).toHaveLength(1)
  })

  it('two services that share a data folder and start concurrently both serve', async () => {
    cluster = await startCluster(0)
    const { masterKeyFile } = await cluster.configure(BY_FILE)
    const shared = { ...BY_FILE, COUNTERSIGN_DATA_DIR: dirname(masterKeyFile) }
    await Promise.all([cluster.start(shared), cluster.start(shared)])
    const tenant = await makeTenant(cluster)
    for (const client of tenant.sandbox) expect((await client.health()).status).toBe(200)
    await cluster.nodes.shift()!.stop()
    expect((await tenant.sandbox[1]!.health()).status).toBe(200)
  })
})
