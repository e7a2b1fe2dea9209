/** Tests that work which recurs on every node waits neither for another node's transaction nor holds all nodes up. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { AuditLog } from '../../../src/audit/audit-log.js'
import { newKeys } from '../../../src/crypto/service-keys.js'
import { Events } from '../../../src/events/events.js'
import { CaptureSessionEvents } from '../../../src/features/capture-sessions/capture-session-events.js'
import {
  captureSessionReader,
  captureSessionWriter,
} from '../../../src/features/capture-sessions/capture-tables.js'
import { challengeReader, challengeWriter } from '../../../src/features/challenges/table/exports.js'
import { tablesOf } from '../../../src/features/index.js'
import { RequestLog } from '../../../src/features/insight/requests/request-log.js'
import { requestReader, requestWriter } from '../../../src/features/insight/requests/request-table.js'
import { Traffic } from '../../../src/features/insight/traffic/traffic.js'
import { trafficReader } from '../../../src/features/insight/traffic/traffic-table.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { Outbox } from '../../../src/features/webhooks/outbox.js'
import { WebhookSender } from '../../../src/features/webhooks/webhook-sender.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import type { Observation } from '../../../src/http/observation/observation.js'
import { AuditVerification } from '../../../src/jobs/audit-verification.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { DAY_MS, ManualClock } from '../../../src/lib/clock.js'
import type { Store } from '../../../src/storage/store.js'
import { SigningSecrets } from '../../../src/tenants/signing-secrets.js'
import { TemplateVault } from '../../../src/users/template-vault.js'
import { until } from '../../support/command.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'
import {
  AT,
  bytes,
  captureSession,
  challenge,
  delivery,
  endpoint,
  keptResponse,
  subject,
  tenant,
} from '../../support/records.js'

const NOW = AT + 10 * DAY_MS
const OLD_REQUEST = '01a00000-0000-7000-8000-000000000001'
const NEW_REQUEST = '01a20000-0000-7000-8000-000000000001'

const database = testDatabase()
let holder: Store
let node: Store

/** Everything that jobs delete, send or report, for a tenant. */
async function fill(name: string): Promise<void> {
  const tenantId = `ten_${name}`
  await holder.transaction('installation', async (tx) => {
    await tx.insertTenant(tenant(name))
    await tx.statements(webhookWriter).insertEndpoint(endpoint(`end_${name}`, { tenantId }))
    const expiresAt = NOW + DAY_MS
    await tx
      .statements(webhookWriter)
      .insertDelivery(delivery(`del_${name}`, `end_${name}`, { tenantId, expiresAt, sealed: null }))
    await tx.statements(challengeWriter).insert(challenge(`cha_${name}`, { tenantId, expiresAt: AT }))
    await tx.insertIdempotencyRecord(keptResponse(`scope ${name}`, { subjectId: null, expiresAt: AT }))
  })
}

/**
 * Begins a transaction of `ten_held` on the other node, which has changed rows that jobs want.
 * @returns a function that commits it
 */
async function holdTenant(): Promise<() => Promise<void>> {
  let isReleased = false
  let done = Promise.resolve()
  await new Promise<void>((entered, failed) => {
    done = holder.transaction({ tenantId: 'ten_held' }, async (tx) => {
      await tx.statements(challengeWriter).use('cha_held', AT)
      const { status, lastOutcome, finishedAt } = delivery('del_held', 'end_held')
      const nextAttemptAt = AT
      await tx
        .statements(webhookWriter)
        .setProgress('del_held', { status, lastOutcome, finishedAt, attempts: 0, nextAttemptAt })
      entered()
      // The server ends a transaction of a node that says nothing.
      while (!isReleased) await Promise.all([tx.tenantById('ten_held'), sleep(20)])
    })
    done.catch(failed)
  })
  return () => {
    isReleased = true
    return done
  }
}

overPostgres(() => {
  beforeEach(async () => {
    holder = database.closing(await openPostgresStore(database.url, { tables: tablesOf() }))
    node = database.closing(await openPostgresStore(database.url, { tables: tablesOf() }))
    for (const name of ['held', 'a']) await fill(name)
    await holder.transaction('installation', async (tx) => {
      await tx.insertSubject(subject('grace', { environment: 'sandbox' }))
      await tx.noteSandboxUse({ blindIndex: bytes('grace'), tenantId: 'ten_a', at: AT, unlessSince: 0 })
      await tx.statements(captureSessionWriter).put(captureSession('ada', { expiresAt: AT }))
      await tx.statements(requestWriter).insert({
        ...{ requestId: OLD_REQUEST, tenantId: 'ten_a', environment: 'production', endpoint: 'verify' },
        ...{
          status: 200,
          code: null,
          verdict: 'approved',
          isReplay: 0,
          durationMs: 1,
          keyId: null,
          address: null,
        },
        ...{ clientRequestId: null, verificationId: null, subject: null, sandboxUser: null },
      })
    })
  })

  it('every recurring job of a node ends while another node holds a tenant, and none locks the table of lock partitions', async () => {
    const clock = new ManualClock(NOW)
    const keys = newKeys()
    const log = pino({ level: 'silent' })
    const term = { id: 'term of this node', signal: new AbortController().signal }
    const leaderLease = { isShared: true, current: () => term }
    const vault = new TemplateVault(keys, clock)
    const outbox = new Outbox({ keys, vault, clock })
    const parts = { store: node, clock, log, leaderLease, vault, events: new Events([outbox]), keys }
    const events = new CaptureSessionEvents(parts, 0)
    const sender = new WebhookSender({
      ...parts,
      secrets: new SigningSecrets(keys, clock),
      observe: () => {},
    })
    const verification = new AuditVerification({ ...parts, audit: new AuditLog(keys, clock) }, 0)
    const config = { requestLogDays: 1, requestLogEntries: 100 }
    const requestLog = new RequestLog({ ...parts, config })
    const retention = new RetentionJob(node, clock, log, leaderLease, {
      sandboxRetentionMs: DAY_MS,
      beforeExpiry: [(isOn) => events.reportExpired(isOn)],
      afterExpiry: [requestLog.deleteOld],
    })
    const traffic = new Traffic({ store: node, clock, log })
    const request = {
      ...{
        requestId: NEW_REQUEST,
        environment: 'production',
        endpoint: 'verify',
        status: 200,
        durationMs: 1,
      },
      ...{ timings: {}, keyId: null, address: null, tenantId: 'ten_a' },
    } as unknown as Observation
    traffic.observe(request)
    requestLog.observe(request)

    const release = await holdTenant()
    const modes = new Set<unknown>()
    let isOver = false
    const watch = async () => {
      while (!isOver) {
        const locks = await database.query(`SELECT mode FROM pg_locks WHERE relation = 'lane'::regclass`)
        for (const { mode } of locks) modes.add(mode)
      }
    }
    const watching = watch()
    try {
      sender.start()
      await retention.run()
      await Promise.all([traffic.save(), requestLog.save(), verification.now(), node.assertWritable()])
      const { read } = node
      const sent = () => read.statements(webhookReader).delivery('del_a')
      await until(async () => (await sent())?.takenBy === term.id)
      expect(await read.statements(challengeReader).find('cha_a')).toBeUndefined()
      expect(await read.idempotencyRecord(keptResponse('scope held').scope, 0)).toBeUndefined()
      expect(await read.subject(bytes('grace'))).toBeUndefined()
      expect((await read.statements(captureSessionReader).one('cap_ada'))?.expiryReportedAt).not.toBeNull()
      expect(await read.statements(trafficReader).since('ten_a', 'minute', 0)).toHaveLength(1)
      const requests = read.statements(requestReader)
      expect((await requests.named('ten_a', OLD_REQUEST, 10)).length).toBe(0)
      expect((await requests.named('ten_a', NEW_REQUEST, 10)).length).toBe(1)
      expect(await read.auditVerification()).toBeDefined()
      // The rows of the other node's transaction were left out.
      expect(await read.statements(challengeReader).find('cha_held')).toBeDefined()
      expect((await read.statements(webhookReader).delivery('del_held'))?.takenBy).toBeNull()
    } finally {
      isOver = true
      await watching
      await sender.stop()
      await release()
    }
    expect(modes).toContain('RowShareLock')
    expect(modes).not.toContain('ExclusiveLock')
    await retention.run()
    expect(await node.read.statements(challengeReader).find('cha_held')).toBeUndefined()
  })

  it('a transaction under the scope of rows takes any lock partition that is free, and reports that all are taken', async () => {
    const other = new pg.Client(database.url)
    await other.connect()
    await other.query('BEGIN')
    await other.query('SELECT FROM lane WHERE id <> 77 FOR UPDATE')
    await Promise.all(
      Array.from({ length: 20 }, () => node.transaction('rows', (tx) => tx.setLastBackup(AT))),
    )
    expect(await node.read.lastBackupAt()).toBe(AT)
    await other.query('SELECT FROM lane FOR UPDATE')
    const late = node.transaction('rows', (tx) => tx.setLastBackup(AT + 1), performance.now() + 200)
    await expect(late).rejects.toThrow('timed out waiting for PostgreSQL')
    const patient = node.transaction('rows', (tx) => tx.setLastBackup(AT + 2))
    await other.end()
    await patient
    expect(await node.read.lastBackupAt()).toBe(AT + 2)
  })
})
