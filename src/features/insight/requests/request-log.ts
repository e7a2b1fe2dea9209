/**
 * The request log: the latest requests of both environments and how they ended, without anything biometric. Entries are written seconds
 * after the answer, so that no answer waits for them, and a process that is killed loses the latest ones. Only the audit log keeps entries
 * that must not be lost.
 */
import type { Config, Environment } from '../../../config/config.js'
import { earliestRequestId } from '../../../crypto/identifiers.js'
import { openedBy, seal } from '../../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../../crypto/service-keys.js'
import type { Observation } from '../../../http/observation/observation.js'
import type { Upkeep } from '../../../jobs/retention.js'
import { DAY_MS, SECOND_MS } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreTransaction } from '../../../storage/store.js'
import type { TemplateVault } from '../../../users/template-vault.js'
import type { CalledUser } from '../../../verification/call.js'
import { type RecorderParts, type Rows, TenantRecorder } from '../tenant-recorder.js'
import { type RequestRecord, requestWriter } from './request-table.js'

/** Milliseconds between two saves: a process that is killed loses the entries of at most this time. */
const SAVE_REQUESTS_MS = 2 * SECOND_MS
/** Entries of one commit: few, so that a request waits at most a few milliseconds for it. */
const SAVED_AT_ONCE = 100
/** Entries deleted in one transaction: other writers wait while it runs. */
const DELETED_AT_ONCE = 250
/** Most entries that wait while the database cannot be written, some 5 MB. Later ones are dropped. */
const MAX_WAITING = 10_000
/** After this many new entries of a tenant, the log is cut to its length again. */
const TRIM_EVERY = 500

/** An entry that is not in the database yet. In production the user's id is never written there. */
interface Waiting {
  record: RequestRecord
  user: CalledUser | undefined
}

interface RequestLogParts extends RecorderParts {
  vault: Pick<TemplateVault, 'find'>
  keys: Pick<ServiceKeys, 'idempotency'>
  config: Pick<Config, 'requestLogDays' | 'requestLogEntries'>
}

export class RequestLog extends TenantRecorder<Waiting> {
  /** Number of entries that wait, with those that are being written. */
  private waiting = 0
  private leftOut = 0
  /** Entries written since the last cut, by tenant and environment. */
  private readonly written = new Map<string, number>()

  constructor(private readonly parts: RequestLogParts) {
    super(parts, {
      everyMs: SAVE_REQUESTS_MS,
      failure: 'the latest entries of the request log could not be saved',
      tenantsAtOnce: 1,
      rowsAtOnce: SAVED_AT_ONCE,
    })
  }

  readonly observe = (request: Observation): void => {
    const tenantId = request.tenantId ?? request.keyTenantId
    if (this.parts.config.requestLogDays === 0 || tenantId === undefined || isNoise(request)) return
    if (this.waiting >= MAX_WAITING) {
      this.leftOut++
      return
    }
    this.waiting++
    const { requestId, user } = request
    this.rowOf(tenantId, requestId, () => ({ record: recordOf(request, tenantId), user }))
  }

  /** Deletes the requests that are older than the log keeps them, in batches, so that calls run in between. */
  readonly deleteOld: Upkeep = async (isOn, now) => {
    const before = earliestRequestId(now - this.parts.config.requestLogDays * DAY_MS)
    while (isOn()) {
      const deleted = await this.parts.store.transaction('rows', (tx) =>
        tx.statements(requestWriter).deleteBefore(before, DELETED_AT_ONCE),
      )
      if (deleted < DELETED_AT_ONCE) return
    }
  }

  /** No request is logged twice. */
  protected add(): void {}

  protected override async saveAll(): Promise<void> {
    const { leftOut: entries } = this
    this.leftOut = 0
    if (entries > 0)
      this.parts.log.warn({ entries }, 'the request log left entries out while the database was slow')
    await super.saveAll()
    this.waiting = [...this.unsaved.values()].reduce((sum, { size }) => sum + size, 0)
  }

  protected async write(
    tx: StoreTransaction,
    { id: tenantId }: TenantRecord,
    rows: Rows<Waiting>,
  ): Promise<void> {
    const requests = tx.statements(requestWriter)
    const entries = [...rows.values()]
    for (const { record, user } of entries)
      await requests.insert(user ? { ...record, ...(await this.named(tx, record, user)) } : record)
    for (const environment of new Set(entries.map(({ record }) => record.environment)))
      await this.trim(tx, tenantId, environment, entries.length)
  }

  /** The fields that name a user in the log. A user who is not enrolled in production or was erased meanwhile is not named. */
  private async named(
    tx: StoreTransaction,
    { requestId, environment, subject }: RequestRecord,
    { id, blindIndex }: CalledUser,
  ): Promise<Pick<RequestRecord, 'subject' | 'sandboxUser'>> {
    if (environment === 'production')
      return {
        subject: subject ?? (await this.parts.vault.find(tx, blindIndex, id))?.pseudonym ?? null,
        sandboxUser: null,
      }
    const isErased = await tx.erasure(blindIndex, this.parts.clock.now())
    return isErased
      ? { subject: null, sandboxUser: null }
      : {
          subject: blindIndex.toString('hex'),
          sandboxUser: sealUser(this.parts.keys, requestId, id),
        }
  }

  private async trim(
    tx: StoreTransaction,
    tenantId: string,
    environment: Environment,
    added: number,
  ): Promise<void> {
    const key = `${tenantId}/${environment}`
    const written = (this.written.get(key) ?? 0) + added
    this.written.set(key, written < TRIM_EVERY ? written : 0)
    if (written >= TRIM_EVERY)
      await tx.statements(requestWriter).trim(tenantId, environment, this.parts.config.requestLogEntries)
  }
}

/** Seals a user id of the sandbox: the database holds none in plain text. */
function sealUser(keys: RequestLogParts['keys'], requestId: string, userId: string): string {
  return seal(keys.idempotency.current, Buffer.from(userId), requestId).toString('base64')
}

/** @returns null for an entry without a user id, or one sealed under working keys that were replaced since */
export function openUser(
  keys: RequestLogParts['keys'],
  { requestId, sandboxUser }: Pick<RequestRecord, 'requestId' | 'sandboxUser'>,
): string | null {
  if (sandboxUser === null) return null
  const sealed = Buffer.from(sandboxUser, 'base64')
  return openedBy(keys.idempotency, { id: requestId, sealed })?.toString() ?? null
}

/** Guidance is requested dozens of times for each verdict, and monitoring asks for health all day: both would hide the rest. */
function isNoise({ endpoint, status }: Observation): boolean {
  return endpoint === 'guide' || (endpoint === 'health' && status === 200)
}

function recordOf(request: Observation, tenantId: string): RequestRecord {
  const { requestId, environment, endpoint, status, verdict = null, reason } = request
  return {
    requestId,
    tenantId,
    environment,
    endpoint,
    status,
    code: request.code ?? reason ?? null,
    verdict,
    isReplay: request.isReplay ? 1 : 0,
    durationMs: Math.round(request.durationMs * 10) / 10,
    keyId: request.keyId,
    address: request.address,
    clientRequestId: request.clientRequestId ?? null,
    verificationId: request.verificationId ?? null,
    subject: environment === 'production' ? (request.subject ?? null) : null,
    sandboxUser: null,
  }
}
