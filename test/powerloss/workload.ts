/**
 * Runs the real store and the real operations on a recorded disk: first start, tenants and keys, users enrolled, verified and erased,
 * backups, a new master key, a restart, a restore. Started by `record`.
 */

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { administered } from '../../src/admin/administration.js'
import type { Core } from '../../src/admin/core.js'
import { openCore } from '../../src/app/core.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { restoreDatabase } from '../../src/cli/backup/backup.js'
import { makeBackup } from '../../src/cli/backup/sqlite-backup.js'
import { sqliteFile } from '../../src/config/config.js'
import { keepKeyFile, newMasterKey, replaceKeyFile } from '../../src/crypto/master-key.js'
import { Idempotency } from '../../src/idempotency/idempotency.js'
import { findKeys } from '../../src/keys/find-keys.js'
import { finishMasterKey, prepareMasterKey } from '../../src/keys/master-key-rotation.js'
import { DAY_MS, systemClock } from '../../src/lib/clock.js'
import { createDurably } from '../../src/lib/durable-file.js'
import type { TenantRecord } from '../../src/storage/records.js'
import { Random } from '../hostile/random.js'
import type { Mark } from './marks.js'
import {
  backupsFolder,
  configOf,
  copyFile,
  keysFile,
  PASSWORD,
  passwordFile,
  restoredConfigOf,
  tablesOf,
} from './places.js'

const { POWERLOSS_ROOT: root, POWERLOSS_MARKS: marksFile } = process.env as Record<string, string>
const DIMENSIONS = 64
/** Enough for the log to be copied back (at 1000 pages) and restarted during commits. */
const ROUNDS = 120
const AT_ONCE = 4

const random = new Random(1)
const marks = openSync(marksFile!, 'w')
const mark = (text: Mark) => void writeSync(marks, JSON.stringify(text))

const config = configOf(root!)
const file = sqliteFile(config)
const noteState = () => mark({ kind: 'state', tables: tablesOf(file) })

let core = await open()
mark({ kind: 'acknowledged' })
createDurably(passwordFile(root!), PASSWORD)
mark({ kind: 'password made' })

const tenants: TenantRecord[] = []
for (const name of ['acme', 'globex']) {
  const { tenant } = await administered(core, systemClock).operations.tenants.create(
    name,
    COMMAND_LINE,
    { ratePerSecond: 50 },
    'http://127.0.0.1',
  )
  await core.store.transaction('installation', (tx) => tx.setProductionIssued(tenant.id, Date.now()))
  const issued = (await core.store.read.tenantById(tenant.id))!
  await core.operations.keys.revealProduction(issued, COMMAND_LINE)
  await core.operations.keys.reissue(issued, COMMAND_LINE, 'sandbox', 1000, null)
  tenants.push(issued)
}
const users = ['ada', 'grace', 'mary', 'joan', 'edith', 'hedy']
await atOnce(users, enrol)
await verifyAll(2)
await backUp('first')
await verifyAll(2)
await backUp('second')

mark({ kind: 'backups outdated' })
await atOnce(users.slice(0, 2), erase)
await verifyAll(ROUNDS, users.slice(2))
await atOnce(users.slice(0, 2), enrol)
for (const tenant of tenants) await core.operations.keys.rotateSigning(tenant, COMMAND_LINE, true)
await changeMasterKey()
await core.store.transaction('installation', (tx) => tx.deleteExpired(Date.now() + 2 * DAY_MS))
await atOnce(users.slice(3, 5), erase)
await verifyAll(1, users.slice(0, 2))

await core.store.close()
core = await open()
await verifyAll(1, users.slice(0, 2))
for (const copy of ['third', 'fourth']) {
  await backUp(copy)
  await verifyAll(1, users.slice(0, 2))
}
const restored = restoredConfigOf(root!)
mark({ kind: 'restore begun', copy: 'third' })
await restoreDatabase(restored, copyFile(root!, 'third'), keysFile(root!))
mark({ kind: 'restored', tables: tablesOf(sqliteFile(restored)) })
await core.store.close()

/** Opens the core, and marks every state and every acknowledgement. */
async function open(): Promise<Core> {
  const opened = await openCore(config, systemClock, { serving: true })
  const { store } = opened
  noteState()
  store.observeCommits(noteState)
  const transaction = store.transaction.bind(store)
  store.transaction = async (scope, work, deadlineMs) => {
    const value = await transaction(scope, work, deadlineMs)
    mark({ kind: 'acknowledged' })
    return value
  }
  return opened
}

/** Runs calls in one turn of the event loop, so that they share a commit. */
async function atOnce(names: string[], work: (user: string, tenant: TenantRecord) => Promise<void>) {
  for (let from = 0; from < names.length; from += AT_ONCE)
    await Promise.all(
      tenants.flatMap((tenant) => names.slice(from, from + AT_ONCE).map((name) => work(name, tenant))),
    )
}

async function verifyAll(rounds: number, names = users): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await atOnce(names, verify)
    // The event loop runs between requests, so that the result of the checkpoint thread arrives.
    await new Promise(setImmediate)
  }
}

function embedding(): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5)
}

/** Runs a call as the API does: effect, kept response and audit entry in one transaction. */
async function call(user: string, tenant: TenantRecord, event: 'enroll' | 'verify'): Promise<void> {
  const { store, vault, audit, keys } = core
  const idempotency = new Idempotency(store, vault, keys, systemClock)
  const request = { method: 'POST', path: `/v1/${event}`, key: randomBytes(8).toString('hex') }
  const begun = await idempotency.begin(
    { tenantId: tenant.id, environment: 'production', ...request },
    Buffer.from(user),
  )
  if (!('execution' in begun)) throw new Error('a new key was not new')
  await store.transaction('installation', async (tx) => {
    const blindIndex = vault.blindIndex(tenant.id, 'production', user)
    let subject = await vault.find(tx, blindIndex, user)
    if (!subject) {
      subject = vault.create(tenant.id, 'production', blindIndex, user)
      await tx.insertSubject(subject.record)
    }
    if (event === 'enroll')
      await vault.putReference(tx, subject, 'model@1', {
        embedding: embedding(),
        consent: null,
        photoCount: 1,
        weight: 1,
      })
    else
      await tx.setLockout(subject.record.id, {
        failures: random.below(3),
        lockedUntil: null,
        disabledAt: null,
      })
    const image = Buffer.from(String(random.next()))
    await tx.insertCapture({
      subjectId: subject.record.id,
      digest: vault.captureDigest(subject, createHash('sha256').update(image).digest()),
      sealed: vault.sealCapture(subject, vault.captureOf(subject, embedding()), 'm@1'),
      seenAt: Date.now(),
    })
    await begun.execution.keep(
      tx,
      { status: 200, body: JSON.stringify({ user, event }) },
      { blindIndex, subject: { id: subject.record.id, dataKey: subject.dataKey } },
    )
    await audit.append(tx, tenant.id, {
      event,
      actor: 'key',
      request_id: null,
      subject: subject.pseudonym,
      status: 200,
    })
  })
  begun.execution.release()
}

function enrol(user: string, tenant: TenantRecord): Promise<void> {
  return call(user, tenant, 'enroll')
}

function verify(user: string, tenant: TenantRecord): Promise<void> {
  return call(user, tenant, 'verify')
}

async function erase(userId: string, tenant: TenantRecord): Promise<void> {
  await core.operations.users.erase(tenant, COMMAND_LINE, { environment: 'production', userId })
}

async function backUp(copy: string): Promise<void> {
  const folder = backupsFolder(root!)
  if (mkdirSync(folder, { recursive: true })) syncFolder(root!)
  mark({ kind: 'backup begun', copy })
  const files = { file: copyFile(root!, copy), keysFile: keysFile(root!) }
  await makeBackup(sqliteFile(configOf(root!)), { ...files, tables: core.store.tables })
  mark({ kind: 'backup made', copy })
}

/** Syncs the operator's folder, which Countersign does not make. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Changes the master key as `countersign keys rotate-master` does for a key in a file. */
async function changeMasterKey(): Promise<void> {
  const next = newMasterKey()
  keepKeyFile(config.masterKeyFile, core.masterKey)
  await prepareMasterKey(core.store, core.keys, next)
  replaceKeyFile(config.masterKeyFile, next)
  await finishMasterKey(core.store, (await findKeys(core.store.read, next))!, next)
  await core.store.close()
  core = await open()
}
