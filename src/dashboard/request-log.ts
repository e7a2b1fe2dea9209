/**
 * The request log: what callers asked for lately and how it ended, in both environments, without anything biometric. An entry is written
 * beside the request, seconds after its answer: no answer waits for it, and a process that is killed takes the latest entries along.
 * Only the audit log keeps entries that must not be lost.
 */
import type { Logger } from 'pino'
import type { Config, Environment } from '../config/config.js'
import { openedBy, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Observation } from '../http/observation.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { RequestRecord } from '../storage/records.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { CalledUser } from '../verification/call.js'

/** Milliseconds between two saves: a process that is killed loses at most this much. */
export const SAVE_REQUESTS_MS = 2 * SECOND_MS
/** Entries of one commit: few, so that no request waits longer behind it than for a few milliseconds. */
const SAVED_AT_ONCE = 100
/** Entries that wait while the database cannot be written, some 5 MB: later ones are left out. */
const MAX_WAITING = 10_000
/** Entries of a tenant after which the log is cut to its length again. */
const TRIM_EVERY = 500

/** An entry on its way to the database. The user's id never gets there in production. */
interface Waiting {
  record: RequestRecord
  user: CalledUser | undefined
}

export interface RequestLogParts {
  store: Pick<Store, 'transaction'>
  vault: Pick<TemplateVault, 'find'>
  keys: Pick<ServiceKeys, 'idempotency'>
  clock: Clock
  log: Logger
  config: Pick<Config, 'requestLogDays' | 'requestLogEntries'>
}

export class RequestLog {
  private waiting: Waiting[] = []
  private leftOut = 0
  /** Entries written since the last cut, by tenant and environment. */
  private readonly written = new Map<string, number>()
  private readonly beat = new PeriodicTask(
    SAVE_REQUESTS_MS,
    () => this.save(),
    (err) => this.tell(err),
  )

  constructor(private readonly parts: RequestLogParts) {}

  start(): void {
    this.beat.start()
  }

  /** Before the store is closed. */
  async stop(): Promise<void> {
    await this.beat.stop()
    await this.save()
  }

  readonly observe = (request: Observation): void => {
    const tenantId = request.tenantId ?? request.keyTenantId
    if (this.parts.config.requestLogDays === 0 || tenantId === undefined || isNoise(request)) return
    if (this.waiting.length >= MAX_WAITING) {
      this.leftOut++
      return
    }
    this.waiting.push({ record: recordOf(request, tenantId), user: request.user })
  }

  /** Never rejects: what cannot be written is tried again the next time. */
  async save(): Promise<void> {
    const taken = this.waiting
    this.waiting = []
    const { leftOut } = this
    this.leftOut = 0
    if (leftOut > 0)
      this.parts.log.warn(
        { entries: leftOut },
        'the request log left entries out while the database was slow',
      )
    const byTenant = new Map<string, Waiting[]>()
    for (const entry of taken) {
      const { tenantId } = entry.record
      const entries = byTenant.get(tenantId)
      if (entries) entries.push(entry)
      else byTenant.set(tenantId, [entry])
    }
    for (const [tenantId, entries] of byTenant)
      while (entries.length > 0) {
        const some = entries.splice(0, SAVED_AT_ONCE)
        try {
          await this.parts.store.transaction((tx) => this.write(tx, tenantId, some), undefined, { tenantId })
        } catch (err) {
          this.tell(err)
          if (!(err instanceof StoreUnavailableError)) continue
          // The other tenants would wait for the same lock or disk.
          this.waiting = [...some, ...[...byTenant.values()].flat(), ...this.waiting].slice(0, MAX_WAITING)
          return
        }
      }
  }

  private async write(tx: StoreTransaction, tenantId: string, entries: Waiting[]): Promise<void> {
    // Only the audit log is left of a deleted tenant.
    if ((await tx.tenantById(tenantId))?.deletedAt !== null) return
    for (const { record, user } of entries)
      await tx.insertRequest(user ? { ...record, ...(await this.named(tx, record, user)) } : record)
    for (const environment of new Set(entries.map(({ record }) => record.environment)))
      await this.trim(tx, tenantId, environment, entries.length)
  }

  /** How the log names a user. Nobody is named who is not enrolled in production, or who was erased meanwhile. */
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
      await tx.trimRequests(tenantId, environment, this.parts.config.requestLogEntries)
  }

  private tell(err: unknown): void {
    this.parts.log.warn({ err }, 'the latest entries of the request log could not be saved')
  }
}

/** A user id of the sandbox as the database has it, which holds none that can be read. */
function sealUser(keys: RequestLogParts['keys'], requestId: string, userId: string): string {
  return seal(keys.idempotency.current, Buffer.from(userId), requestId).toString('base64')
}

/** @returns null for an entry without one, or under working keys that were replaced since */
export function openUser(
  keys: RequestLogParts['keys'],
  { requestId, sandboxUser }: Pick<RequestRecord, 'requestId' | 'sandboxUser'>,
): string | null {
  if (sandboxUser === null) return null
  const sealed = Buffer.from(sandboxUser, 'base64')
  return openedBy(keys.idempotency, { id: requestId, sealed })?.toString() ?? null
}

/** Guidance comes by the dozen for each verdict, and monitoring asks for health all day: they would hide the rest. */
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
