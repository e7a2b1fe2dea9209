/**
 * A standby takes over in the middle of a change of the epoch key, without what it had not received: everything from one moment on. It is
 * made by PostgreSQL's own recovery to that moment, from a base backup and the log, which is what an asynchronous standby comes to.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import { takeOverEpochs } from '../../../src/features/epoch-keys/epochs.js'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import type { EpochBook } from '../../../src/features/postgres/store/epoch-book.js'
import { HOUR_MS, SECOND_MS, systemClock } from '../../../src/lib/clock.js'
import type { SharedStore } from '../../../src/storage/store.js'
import { TemplateVault } from '../../../src/users/template-vault.js'
import { poll, type Workplace, workplace } from '../../support/command.js'
import { overPostgres } from '../../support/postgres.js'
import { PostgresServer } from '../../support/postgres-server.js'
import { assertAllUnder, destroyEnded, enrol, keyFiles, opens, rotate } from './epoch-parts.js'

/** The last step of the rotation that the standby received from the primary before it was promoted. */
const MOMENTS = ['before', 'announced', 'activated', 'fenced', 'one batch', 'wrapped', 'completed'] as const
type Moment = (typeof MOMENTS)[number]
const USERS = ['ada', 'grace', 'edith']

overPostgres(() => {
  const masterKey = randomBytes(32)
  let base: string
  let place: Workplace
  let primary: PostgresServer
  let client: pg.Client
  let backup: string
  let tenantId: string
  /** The core of a service that was connected to the dead primary. */
  let living: Core
  let epochs: string
  const servers: PostgresServer[] = []
  const ledgers: Core[] = []

  const configure = (server: PostgresServer, folder: string) => ({
    COUNTERSIGN_DATA_DIR: place.dataDir,
    COUNTERSIGN_DATABASE: `${server.url}/postgres`,
    COUNTERSIGN_MASTER_KEY: masterKey.toString('base64'),
    COUNTERSIGN_EPOCH_KEYS: folder,
    COUNTERSIGN_EPOCH_RETENTION_HOURS: '0',
  })
  const open = async (server: PostgresServer, folder: string) => {
    const core = await openCore(loadConfig(configure(server, folder)))
    ledgers.push(core)
    return core
  }
  /** Sets a restore point: the standby receives everything before it. */
  const mark = async (moment: Moment) =>
    void (await client.query(`SELECT pg_create_restore_point('${moment}')`))
  /** The same epoch book, which sets a restore point after each step. */
  const marked = (book: EpochBook): EpochBook => {
    let batches = 0
    return {
      ...book,
      announce: (keyId, at) => book.announce(keyId, at).then(() => mark('announced')),
      activate: (number, at) => book.activate(number, at).then(() => mark('activated')),
      fence: (number) => book.fence(number).then(() => mark('fenced')),
      complete: async (number, at) => {
        await mark('wrapped')
        await book.complete(number, at)
        await mark('completed')
      },
      rewrap: async (rows, number) => {
        // Stands for a batch that ended after the first user.
        const done = await book.rewrap(rows.slice(0, 1), number)
        if (batches++ === 0) await mark('one batch')
        return done + (await book.rewrap(rows.slice(1), number))
      },
    }
  }

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'countersign-epoch-failover-'))
    // The server, which runs as another user, writes the archive.
    chmodSync(base, 0o755)
    const archive = join(base, 'wal')
    mkdirSync(archive)
    chmodSync(archive, 0o777)
    epochs = join(base, 'epochs')
    mkdirSync(epochs)
    place = await workplace()
    primary = await PostgresServer.start({ archive_mode: 'on', archive_command: `cp %p ${archive}/%f` })
    servers.push(primary)
    client = new pg.Client(`${primary.url}/postgres`)
    await client.connect()
    living = await open(primary, epochs)
    tenantId = (await living.tenancy.create('acme')).tenant.id
    const folder = new EpochFolder(epochs)
    await rotate(living, folder)
    for (const user of USERS) await enrol(living, living, tenantId, user)
    await client.query("SELECT pg_backup_start('test', fast => true)")
    backup = join(base, 'base')
    cpSync(primary.dataFolder, backup, {
      recursive: true,
      filter: (path) => !/postmaster\.(pid|opts)$|pg_wal\/./.test(path),
    })
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()')
    writeFileSync(join(backup, 'backup_label'), rows[0].labelfile)
    writeFileSync(join(backup, 'recovery.signal'), '')
    await mark('before')
    const shared = Object.create(living.store.shared) as SharedStore
    Object.defineProperty(shared, 'epochs', { value: marked(epochsOf(living.store)!.epochs) })
    const { read, coordinator } = living.store
    await rotate({ ...living, store: { read, coordinator, shared } as Core['store'] }, folder)
    const switched = await client.query('SELECT pg_walfile_name(pg_switch_wal()) AS last')
    await poll(
      async () => existsSync(join(archive, switched.rows[0].last)),
      (isThere) => isThere,
    )
  })
  afterAll(async () => {
    for (const { store } of ledgers) await store.close()
    await client?.end()
    for (const server of servers) await server.stop()
    await place?.dispose()
    await rm(base, { recursive: true, force: true })
  })

  const promoted = async (moment: Moment) => {
    const server = await PostgresServer.start(
      {
        restore_command: `cp ${join(base, 'wal')}/%f %p`,
        recovery_target_name: moment,
        recovery_target_action: 'promote',
      },
      { folder: backup, of: primary },
    )
    servers.push(server)
    await poll(
      async () => {
        const asking = new pg.Client(`${server.url}/postgres`)
        await asking.connect()
        const { rows } = await asking.query('SELECT pg_is_in_recovery() AS "isIn"')
        await asking.end()
        return rows[0].isIn as boolean
      },
      (isIn) => !isIn,
    )
    return server
  }
  /** A copy of the folder whose files are an hour old, so that a key without a row counts as orphaned. */
  const folderOf = (name: string) => {
    const path = join(base, name)
    cpSync(epochs, path, { recursive: true })
    const then = (Date.now() - HOUR_MS) / SECOND_MS
    for (const file of readdirSync(path)) utimesSync(join(path, file), then, then)
    return path
  }

  describe.each(MOMENTS)('a standby that received a change of the epoch up to: %s', (moment) => {
    it('a promoted standby opens all users, those enrolled before services noticed too, and a rotation completes', async () => {
      const path = folderOf(`promoted-${moment}`)
      const server = await promoted(moment)
      const after = await open(server, path)
      // Wraps by the keys that the primary had last.
      await enrol(after, living, tenantId, 'late')
      // A service that was connected to the primary takes over what the standby knows.
      const folder = new EpochFolder(path)
      const keys = { ...living.keys }
      expect(await takeOverEpochs(after.store, keys, folder)).toBeNull()
      const vault = new TemplateVault(keys, systemClock)
      await enrol(after, { vault }, tenantId, 'later')
      for (const user of [...USERS, 'later']) {
        expect(await opens(after, tenantId, user)).toBe(true)
        expect(await opens({ ...after, vault }, tenantId, user)).toBe(true)
      }
      const { keyId } = await rotate(after, folder)
      await destroyEnded(after, folder)
      // Neither earlier keys are left, nor one that only the primary knew.
      expect(keyFiles(path)).toEqual([`${keyId}.epoch-key`])
      const reopened = await open(server, path)
      await assertAllUnder(reopened, folder, keyId)
      for (const user of [...USERS, 'late', 'later']) expect(await opens(reopened, tenantId, user)).toBe(true)
    })
  })

  it('a standby that is further behind than the retention serves after `keys import`, and no user is lost', async () => {
    const path = folderOf('behind')
    await destroyEnded(living, new EpochFolder(path))
    expect(keyFiles(path)).toHaveLength(1)
    const server = await promoted('fenced')
    await expect(open(server, path)).rejects.toThrow(/lacks the key .* countersign keys import/)
    // A running service uses none of the epochs that it knew, and does not report that it has loaded them.
    const told: unknown[] = []
    const config = loadConfig(configure(server, path))
    const unsure = await openCore(config, undefined, { withoutDataKeys: true })
    ledgers.push(unsure)
    const shared = {
      ...epochsOf(unsure.store)!,
      showEpochs: (progress: unknown) => void told.push(progress),
    }
    await expect(takeOverEpochs({ shared }, unsure.keys, new EpochFolder(path))).rejects.toThrow(
      /lacks the key/,
    )
    expect(told).toEqual([{ loaded: 0, used: 0 }])
    // Enrolls after the file was written, before the service noticed the failover.
    const clock = { ...systemClock, now: () => Date.now() + HOUR_MS }
    await enrol(unsure, { vault: new TemplateVault(living.keys, clock) }, tenantId, 'late')
    const imported = await place.run(['keys', 'import', '--json'], configure(server, path))
    expect(imported.json).toMatchObject({ users: USERS.length + 1, users_erased: 0 })
    const after = await open(server, path)
    for (const user of [...USERS, 'late']) expect(await opens(after, tenantId, user)).toBe(true)
    const { keyId } = await rotate(after, new EpochFolder(path))
    await assertAllUnder(after, new EpochFolder(path), keyId)
  })
})
