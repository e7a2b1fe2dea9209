/** Base backup and log archive from before an erasure, the master key and the folder of epoch keys: what they open, and what they no longer do. */
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Core } from '../../src/admin/core.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { wrappingOf } from '../../src/crypto/epoch-key.js'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { openWithAny } from '../../src/crypto/sealed-box.js'
import { openKeys } from '../../src/crypto/service-keys.js'
import { EpochFolder } from '../../src/features/epoch-keys/epoch-folder.js'
import { EpochRotation } from '../../src/features/epoch-keys/epoch-rotation.js'
import { takeOverEpochs } from '../../src/features/epoch-keys/epochs.js'
import { destroyRetiredKeys } from '../../src/features/epoch-keys/scheduled-epoch-rotation.js'
import { openPostgresStore } from '../../src/features/postgres/store/postgres-store.js'
import { systemClock } from '../../src/lib/clock.js'
import type { Store } from '../../src/storage/store.js'
import { TemplateVault } from '../../src/users/template-vault.js'
import { dataKeyOf } from '../../src/users/user-keys.js'
import { poll, until, type Workplace, workplace } from '../support/command.js'
import { overPostgres } from '../support/postgres.js'
import { PostgresServer } from '../support/postgres-server.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const EMBEDDING = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i))

overPostgres(() => {
  const masterKey = randomBytes(32)
  let folder: string
  let epochs: string
  let place: Workplace
  const servers: PostgresServer[] = []
  beforeEach(async () => {
    folder = temporaryFolder()
    epochs = join(folder, 'epochs')
    await mkdir(epochs)
    place = await workplace()
    // Its archive is written by the user of the server, who is another.
    chmodSync(folder, 0o755)
    await mkdir(join(folder, 'wal'))
    chmodSync(join(folder, 'wal'), 0o777)
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop()
    await place.dispose()
  })

  const configure = (server: PostgresServer) => ({
    COUNTERSIGN_DATA_DIR: place.dataDir,
    COUNTERSIGN_DATABASE: `${server.url}/postgres`,
    COUNTERSIGN_MASTER_KEY: masterKey.toString('base64'),
    COUNTERSIGN_EPOCH_KEYS: epochs,
    COUNTERSIGN_EPOCH_RETENTION_HOURS: '0',
  })
  const open = (server: PostgresServer) => openCore(loadConfig(configure(server)))

  async function enrol({ store, vault }: Core, tenantId: string, userId: string): Promise<void> {
    const subject = vault.create(
      tenantId,
      'production',
      vault.blindIndex(tenantId, 'production', userId),
      userId,
    )
    await store.transaction('installation', async (tx) => {
      await tx.insertSubject(subject.record)
      const content = { embedding: EMBEDDING, photoCount: 1, weight: 1, consent: null }
      await vault.putReference(tx, subject, 'pack@1', content)
    })
  }

  async function rotate({ store, keys }: Core): Promise<void> {
    const epochFolder = new EpochFolder(epochs)
    const reloadKeys = async () => void (await takeOverEpochs(store, keys, epochFolder))
    const clock = systemClock
    await new EpochRotation({ store, keys, folder: epochFolder, clock, reloadKeys }).rotate({
      patienceMs: 60_000,
    })
    await destroyRetiredKeys({ store, folder: epochFolder, clock, retentionMs: 0 })
  }

  /** Opens a reference with the database, the master key and a folder of epoch keys: every key is tried, regardless of what rows and files say. */
  async function openedReference(
    store: Store,
    tenantId: string,
    userId: string,
    keyFolder: string,
  ): Promise<Float32Array | null> {
    const [keyring] = await store.read.keyrings()
    const keys = openKeys(keyring!.sealed, masterKey, masterKeyId(masterKey))
    const vault = new TemplateVault(keys, systemClock)
    const found = await store.read.subject(vault.blindIndex(tenantId, 'production', userId))
    if (!found) throw new Error(`${userId} is not in this copy`)
    const { id, wrappedKey } = found.subject
    const epochKeys = readdirSync(keyFolder)
      .filter((name) => name.endsWith('.epoch-key'))
      .map((name) => Buffer.from(readFileSync(join(keyFolder, name), 'utf8'), 'base64'))
    const wrapped = [wrappedKey, ...exportedKeys(keyFolder, id)]
    for (const wrapping of [keys.wrapping, ...epochKeys.map((key) => wrappingOf(keys, key))])
      for (const box of wrapped) {
        const opened = attempt(() => openWithAny(wrapping, box, id))
        if (!opened) continue
        const dataKey = dataKeyOf(opened)
        const subject = { record: found.subject, dataKey } as Parameters<TemplateVault['openReference']>[0]
        return vault.openReference(subject, found.reference!).embedding
      }
    return null
  }

  function exportedKeys(keyFolder: string, subjectId: string): Buffer[] {
    const file = join(keyFolder, 'users.keys')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return lines
      .filter((line) => line.startsWith(`${subjectId} `))
      .map((line) => Buffer.from(line.split(' ')[1]!, 'base64'))
  }

  function attempt<T>(work: () => T): T | null {
    try {
      return work()
    } catch {
      return null
    }
  }

  /** While the server runs, by PostgreSQL's own protocol for it. */
  async function baseBackup(client: pg.Client, server: PostgresServer): Promise<string> {
    const backup = join(folder, 'base')
    await client.query("SELECT pg_backup_start('test', fast => true)")
    cpSync(server.dataFolder, backup, {
      recursive: true,
      filter: (path) => !/postmaster\.(pid|opts)$|pg_wal\/./.test(path),
    })
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()')
    writeFileSync(join(backup, 'backup_label'), rows[0].labelfile)
    return backup
  }

  it('archives open enrolled users and no user erased before the last epoch, unless the old key was kept', async () => {
    const archive = join(folder, 'wal')
    const first = await PostgresServer.start({
      archive_mode: 'on',
      archive_command: `cp %p ${archive}/%f`,
    })
    servers.push(first)
    const client = new pg.Client(`${first.url}/postgres`)
    await client.connect()
    const living = await open(first)
    const { tenant } = await living.tenancy.create('acme')
    await rotate(living)
    await enrol(living, tenant.id, 'ada')
    const backup = await baseBackup(client, first)
    // This user is only in the write-ahead log.
    await enrol(living, tenant.id, 'grace')
    await client.query("SELECT pg_create_restore_point('before')")
    const kept = join(folder, 'kept-epochs')
    cpSync(epochs, kept, { recursive: true })

    for (const user of ['ada', 'grace']) await enrol(living, tenant.id, `${user}-who-lives`)
    const blindIndex = (user: string) => living.vault.blindIndex(tenant.id, 'production', user)
    await living.store.transaction('installation', async (tx) => {
      await tx.eraseSubject(blindIndex('ada'))
    })
    await rotate(living)
    const { rows } = await client.query('SELECT pg_walfile_name(pg_switch_wal()) AS last')
    await until(() => existsSync(join(archive, rows[0].last)))
    await client.end()
    await living.store.close()

    writeFileSync(join(backup, 'recovery.signal'), '')
    const restored = await PostgresServer.start(
      {
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_name: 'before',
        recovery_target_action: 'promote',
      },
      { folder: backup, of: first },
    )
    servers.push(restored)
    const url = `${restored.url}/postgres`
    await poll(
      async () => {
        const asking = new pg.Client(url)
        await asking.connect()
        const answer = await asking.query('SELECT pg_is_in_recovery() AS "isIn"')
        await asking.end()
        return answer.rows[0].isIn as boolean
      },
      (isIn) => !isIn,
    )
    const store = await openPostgresStore(url)
    try {
      expect(await openedReference(store, tenant.id, 'ada', epochs)).toBeNull()
      // Only the missing key makes the difference.
      expect(await openedReference(store, tenant.id, 'ada', kept)).not.toBeNull()
      const grace = await openedReference(store, tenant.id, 'grace', epochs)
      expect(Math.max(...grace!.map((value, i) => Math.abs(value - EMBEDDING[i]!)))).toBeLessThan(1e-6)
    } finally {
      await store.close()
    }

    // Restores the database as an operator does.
    await expect(open(restored)).rejects.toThrow(/countersign keys import/)
    const imported = await place.run(['keys', 'import', '--json'], configure(restored))
    expect(imported.json).toMatchObject({ users: 1, users_erased: 1 })
    const again = await open(restored)
    try {
      const find = (user: string) =>
        again.vault.find(again.store.read, again.vault.blindIndex(tenant.id, 'production', user), user)
      expect(await find('ada')).toBeNull()
      const grace = await find('grace')
      expect(again.vault.openReference(grace!, grace!.reference!).photoCount).toBe(1)
      expect((await again.store.read.recentAuditEntries(tenant.id, 1e9, 1))[0]!.entry).toContain(
        'database_restored',
      )
      await rotate(again)
      expect(await find('grace')).not.toBeNull()
    } finally {
      await again.store.close()
    }
  })
})
