import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.js'
import { type Config, loadConfig } from '../../src/config/config.js'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { openWithAny } from '../../src/crypto/sealed-box.js'
import { openKeys } from '../../src/crypto/service-keys.js'
import { KeyWatch } from '../../src/app/key-watch.js'
import { type Ledger, openLedger } from '../../src/app/core.js'
import { createLog } from '../../src/app/log.js'
import { finish, prepare } from '../../src/keys/master-key-rotation.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { SubjectVault } from '../../src/users/template-vault.js'

let dir: string
let config: Config
let ledger: Ledger
let vault: SubjectVault

const configure = (masterKey: Buffer) =>
  loadConfig({ COUNTERSIGN_DATA_DIR: dir, COUNTERSIGN_MASTER_KEY: masterKey.toString('base64') })
const [oldMaster, newMaster] = [randomBytes(32), randomBytes(32)]

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-rekeying-'))
  config = configure(oldMaster)
  ledger = await openLedger(config)
  vault = new SubjectVault(ledger.keys, systemClock)
})
afterEach(async () => {
  await ledger.store.close()
  rmSync(dir, { recursive: true, force: true })
})

async function enrol(tenantId: string, userId: string): Promise<void> {
  const lookup = vault.lookup(tenantId, 'production', userId)
  const subject = vault.create(tenantId, 'production', lookup, userId)
  await ledger.store.transaction((tx) => tx.insertSubject(subject.record))
}

const wrappedKeys = async (store: SqliteStore) =>
  store.transaction((tx) => tx.sealedRows('subject', '', 1000))

describe('a new master key', () => {
  it('leaves whoever held the old one nothing that opens a later copy', async () => {
    const { tenant } = await ledger.tenancy.create('acme')
    for (const user of ['ada', 'grace']) await enrol(tenant.id, user)
    // The thief's: the old master key, and the working keys that it opened.
    const [keyring] = await ledger.store.read.keyrings()
    const stolen = openKeys(keyring!.sealed, oldMaster, masterKeyId(oldMaster))

    await prepare(ledger.store, ledger.keys, newMaster)
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    await finish(ledger.store, ledger.keys, newMaster)

    await ledger.store.close()
    const copy = join(dir, 'copy.db')
    copyFileSync(join(dir, 'countersign.db'), copy)
    const store = SqliteStore.open(copy)
    try {
      const [later, ...others] = await store.read.keyrings()
      expect(others).toEqual([])
      expect(() => openKeys(later!.sealed, oldMaster, later!.masterKeyId)).toThrow()
      const rows = await wrappedKeys(store)
      expect(rows).toHaveLength(2)
      for (const { id, sealed } of rows) expect(() => openWithAny(stolen.wrapping, sealed, id)).toThrow()
      const [secret] = await store.read.signingSecrets(tenant.id, 0)
      expect(() => openWithAny(stolen.secrets, secret!.sealed, secret!.id)).toThrow()
    } finally {
      await store.close()
    }
    ledger = await openLedger(configure(newMaster))
    vault = new SubjectVault(ledger.keys, systemClock)
    expect(ledger.keys.phase).toBe('settled')
    const lookup = vault.lookup(tenant.id, 'production', 'ada')
    expect(await vault.find(ledger.store.read, lookup, 'ada')).toMatchObject({
      record: { tenantId: tenant.id },
    })
    await expect(ledger.secrets.active(ledger.store.read, tenant.id)).resolves.toBeDefined()
    expect(await ledger.audit.verify(ledger.store.read, tenant.id)).toEqual({ entries: 1, brokenAt: null })
  })

  it('leaves an audit log whole to which nothing was appended while the key changed', async () => {
    const { tenant } = await ledger.tenancy.create('acme')
    await ledger.store.transaction((tx) =>
      ledger.audit.append(tx, tenant.id, { event: 'verify', actor: 'key_a', request_id: null }),
    )
    await prepare(ledger.store, ledger.keys, newMaster)
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    await finish(ledger.store, ledger.keys, newMaster)
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    expect(await ledger.audit.verify(ledger.store.read, tenant.id)).toEqual({ entries: 2, brokenAt: null })
  })

  it('is taken over by a running service, which goes on opening everything and seals as the others do', async () => {
    const { tenant } = await ledger.tenancy.create('acme')
    await enrol(tenant.id, 'ada')
    await prepare(ledger.store, ledger.keys, newMaster)
    // Restarted with the new master key; the change is finished from elsewhere.
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    vault = new SubjectVault(ledger.keys, systemClock)
    const watch = new KeyWatch(ledger, configure(newMaster), createLog({ logLevel: 'silent' } as Config))
    await watch.start()
    const other = await openLedger(configure(newMaster))
    try {
      const finishing = finish(other.store, other.keys, newMaster)
      const lookup = vault.lookup(tenant.id, 'production', 'ada')
      let finished = false
      void finishing.then(() => {
        finished = true
      })
      for (let user = 0; !finished; user++) {
        expect(await vault.find(ledger.store.read, lookup, 'ada')).not.toBeNull()
        await enrol(tenant.id, `user-${user}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await watch.look()
      expect(ledger.keys.phase).toBe('settled')
      for (const { id, sealed } of await ledger.store.transaction((tx) =>
        tx.sealedRows('subject', '', 10_000),
      ))
        expect(() => openWithAny(ledger.keys.wrapping, sealed, id)).not.toThrow()
    } finally {
      watch.stop()
      await other.store.close()
    }
  })

  it('is finished from wherever a crash left it', async () => {
    const { tenant } = await ledger.tenancy.create('acme')
    for (const user of ['ada', 'grace', 'mary']) await enrol(tenant.id, user)
    await prepare(ledger.store, ledger.keys, newMaster)
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    const crash = new Error('killed')
    // Activated, and the first rows are sealed anew.
    await expect(
      finish(ledger.store, ledger.keys, newMaster, (done) => {
        if (done === 1) throw crash
      }),
    ).rejects.toBe(crash)
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    expect(ledger.keys.phase).toBe('activated')
    const generation = (await ledger.store.read.keyrings())[0]!.generation
    await finish(ledger.store, ledger.keys, newMaster)
    expect((await ledger.store.read.keyrings()).map((one) => one.generation)).toEqual([generation])
    await ledger.store.close()
    ledger = await openLedger(configure(newMaster))
    const { wrapping } = ledger.keys
    expect(wrapping.others).toEqual([])
    for (const { id, sealed } of await wrappedKeys(ledger.store as SqliteStore))
      expect(openWithAny(wrapping, sealed, id)).toHaveLength(32)
  })
})
