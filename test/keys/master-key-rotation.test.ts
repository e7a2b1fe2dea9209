import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Core } from '../../src/admin/core.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { KeyWatch } from '../../src/app/key-watch.js'
import { createLog } from '../../src/app/log.js'
import type { Config } from '../../src/config/config.js'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { openWithAny } from '../../src/crypto/sealed-box.js'
import { openKeys } from '../../src/crypto/service-keys.js'
import { consentTextsOf } from '../../src/features/capture-sessions/consent-texts.js'
import { VERDICT_KEYS } from '../../src/features/public-verdicts/signing-key-table.js'
import { finishMasterKey, prepareMasterKey } from '../../src/keys/master-key-rotation.js'
import { systemClock } from '../../src/lib/clock.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { TemplateVault } from '../../src/users/template-vault.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { verdictKeysOf } from '../support/verdict-keys.js'

let dir: string
let core: Core
let vault: TemplateVault

const configure = (masterKey: Buffer) =>
  loadConfig({ COUNTERSIGN_DATA_DIR: dir, COUNTERSIGN_MASTER_KEY: masterKey.toString('base64') })
const [oldMaster, newMaster] = [randomBytes(32), randomBytes(32)]

beforeEach(async () => {
  dir = temporaryFolder()
  core = await openCore(configure(oldMaster))
  vault = new TemplateVault(core.keys, systemClock)
})
afterEach(() => core.store.close())

async function enrol(tenantId: string, userId: string): Promise<void> {
  const blindIndex = vault.blindIndex(tenantId, 'production', userId)
  const subject = vault.create(tenantId, 'production', blindIndex, userId)
  await core.store.transaction('installation', async (tx) => {
    await tx.insertSubject(subject.record)
    await vault.keepOwnConsent(tx, subject, {
      ...{ sha256: Buffer.from(userId), version: '1', language: 'en', text: `${userId} agrees.` },
      firstAgreedAt: 1,
    })
  })
}

const wrappedKeys = async (store: SqliteStore) =>
  store.transaction('installation', (tx) => tx.sealedRows('subject', '', 1000))

/** Opens the core again, like a service that is restarted with the new master key. */
async function reopen(): Promise<void> {
  await core.store.close()
  core = await openCore(configure(newMaster))
  vault = new TemplateVault(core.keys, systemClock)
}

describe('a new master key', () => {
  it('after a rotation the old master key and working keys open no copy of the database', async () => {
    const { tenant } = await core.tenancy.create('acme')
    for (const user of ['ada', 'grace']) await enrol(tenant.id, user)
    await verdictKeysOf(core, systemClock).rotation.ensure()
    // A thief has the old master key and the working keys that it opened.
    const [keyring] = await core.store.read.keyrings()
    const stolen = openKeys(keyring!.sealed, oldMaster, masterKeyId(oldMaster))

    await prepareMasterKey(core.store, core.keys, newMaster)
    await reopen()
    await finishMasterKey(core.store, core.keys, newMaster)

    await core.store.close()
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
      const verdictKeys = await store.read.statements(VERDICT_KEYS.reader).all()
      expect(verdictKeys).toHaveLength(2)
      for (const { id, sealed } of verdictKeys)
        expect(() => openWithAny(stolen.secrets, sealed, id)).toThrow()
    } finally {
      await store.close()
    }
    await reopen()
    expect(core.keys.phase).toBe('settled')
    const blindIndex = vault.blindIndex(tenant.id, 'production', 'ada')
    expect(await vault.find(core.store.read, blindIndex, 'ada')).toMatchObject({
      record: { tenantId: tenant.id },
    })
    expect(await consentTextsOf(core, tenant.id, Buffer.from('ada'))).toMatchObject([{ text: 'ada agrees.' }])
    await expect(core.secrets.active(core.store.read, tenant.id)).resolves.toBeDefined()
    expect((await verdictKeysOf(core, systemClock).ring()).signer('production').kid).toMatch(/^vky_/)
    expect(await core.audit.verify(core.store.read, tenant.id)).toEqual({ entries: 1, brokenAt: null })
  })

  it('a rotation leaves an audit log intact to which nothing was appended meanwhile', async () => {
    const { tenant } = await core.tenancy.create('acme')
    await core.store.transaction('installation', (tx) =>
      core.audit.append(tx, tenant.id, { event: 'verify', actor: 'key_a', request_id: null }),
    )
    await prepareMasterKey(core.store, core.keys, newMaster)
    await reopen()
    await finishMasterKey(core.store, core.keys, newMaster)
    await reopen()
    expect(await core.audit.verify(core.store.read, tenant.id)).toEqual({ entries: 2, brokenAt: null })
  })

  it('a running service takes over new working keys while it reads and writes', async () => {
    const { tenant } = await core.tenancy.create('acme')
    await enrol(tenant.id, 'ada')
    await prepareMasterKey(core.store, core.keys, newMaster)
    // Restarted with the new master key; the change is finished from elsewhere.
    await reopen()
    const watch = new KeyWatch(core, configure(newMaster), createLog({ logLevel: 'silent' } as Config))
    await watch.start()
    const other = await openCore(configure(newMaster))
    try {
      const finishing = finishMasterKey(other.store, other.keys, newMaster)
      const blindIndex = vault.blindIndex(tenant.id, 'production', 'ada')
      let finished = false
      void finishing.then(() => {
        finished = true
      })
      for (let user = 0; !finished; user++) {
        expect(await vault.find(core.store.read, blindIndex, 'ada')).not.toBeNull()
        await enrol(tenant.id, `user-${user}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await watch.look()
      expect(core.keys.phase).toBe('settled')
      for (const { id, sealed } of await core.store.transaction('installation', (tx) =>
        tx.sealedRows('subject', '', 10_000),
      ))
        expect(() => openWithAny(core.keys.wrapping, sealed, id)).not.toThrow()
    } finally {
      watch.stop()
      await other.store.close()
    }
  })

  it('a rotation that crashed after the activation is finished by the next call', async () => {
    const { tenant } = await core.tenancy.create('acme')
    for (const user of ['ada', 'grace', 'mary']) await enrol(tenant.id, user)
    await prepareMasterKey(core.store, core.keys, newMaster)
    await reopen()
    const crash = new Error('killed')
    // The crash comes after the activation, when the first rows are sealed again.
    await expect(
      finishMasterKey(core.store, core.keys, newMaster, (done) => {
        if (done === 1) throw crash
      }),
    ).rejects.toBe(crash)
    await reopen()
    expect(core.keys.phase).toBe('activated')
    const generation = (await core.store.read.keyrings())[0]!.generation
    await finishMasterKey(core.store, core.keys, newMaster)
    expect((await core.store.read.keyrings()).map((one) => one.generation)).toEqual([generation])
    await reopen()
    const { wrapping } = core.keys
    expect(wrapping.others).toEqual([])
    for (const { id, sealed } of await wrappedKeys(core.store as SqliteStore))
      expect(openWithAny(wrapping, sealed, id)).toHaveLength(112)
  })
})
