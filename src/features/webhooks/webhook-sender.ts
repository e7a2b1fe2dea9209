/**
 * Sends the deliveries of the outbox, one at a time to each endpoint, with retries at growing intervals for about a day. A delivery
 * arrives at least once: where a process ends between the answer and the commit of its outcome, the next sender repeats the delivery.
 */
import type { Logger } from 'pino'
import type { LeaderLease, LeadershipTerm } from '../../cluster/leader-lease.js'
import { SIGNATURE_HEADER } from '../../crypto/response-signature.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { PeriodicTask } from '../../lib/periodic-task.js'
import { VERSION } from '../../lib/version.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../../storage/store.js'
import type { SigningSecrets } from '../../tenants/signing-secrets.js'
import { Outbox, type OutboxParts, RETRY_DELAYS_MS } from './outbox.js'
import type { DeliveryOutcome } from './webhook-metrics.js'
import { signWebhook } from './webhook-signature.js'
import {
  type WebhookDeliveryRecord,
  type WebhookEndpointRecord,
  type WebhookProgress,
  webhookReader,
  webhookWriter,
} from './webhook-tables.js'
import { assertWebhookUrl } from './webhook-url.js'

export const EVENT_ID_HEADER = 'X-Svc-Webhook-Id'

const POLL_MS = SECOND_MS
const TIMEOUT_MS = 10 * SECOND_MS
/** Longer than an attempt takes. A delivery that another process took and did not finish by then is due again. */
const DELIVERY_LEASE_MS = MINUTE_MS
const MAX_IN_FLIGHT = 16
/** Endpoints with due deliveries among which the free slots are distributed: far more than are in use at once. */
const MAX_DUE_ENDPOINTS = 1000

interface SenderParts extends OutboxParts {
  store: Store
  secrets: SigningSecrets
  log: Logger
  /** Called with the outcome of every attempt, for metrics. */
  observe: (outcome: DeliveryOutcome) => void
  /** Only the leader sends: each endpoint gets one delivery at a time, in order, whichever service stored it. */
  leaderLease: Pick<LeaderLease, 'isShared' | 'current'>
}

export class WebhookSender extends PeriodicTask {
  private readonly stopped = new AbortController()
  /** Number of consecutive failed attempts, by endpoint. */
  private readonly failures = new Map<string, number>()
  /** The attempt that is in flight, by endpoint. */
  private readonly inFlight = new Map<string, Promise<void>>()
  /** Sequence number of the endpoint's last delivery; only endpoints that still have something due are in it. */
  private readonly lastTurn = new Map<string, number>()
  private turns = 0
  /** The term at whose beginning deliveries that other services had taken became due again. */
  private releasedIn: LeadershipTerm | null = null

  constructor(private readonly parts: SenderParts) {
    super(
      POLL_MS,
      () => this.takeDue(),
      (err) => parts.log.warn({ err }, 'due webhook deliveries could not be read'),
    )
  }

  /** Aborts the attempts in flight; the next sender repeats them. */
  override async stop(): Promise<void> {
    this.stopped.abort()
    await super.stop()
    await Promise.all(this.inFlight.values())
  }

  private async takeDue(): Promise<void> {
    const { store, clock, leaderLease } = this.parts
    const term = leaderLease.current()
    if (!term) return
    const now = clock.now()
    if (leaderLease.isShared && this.releasedIn !== term) {
      await this.asLeader(term, (tx) => tx.statements(webhookWriter).release(term.id))
      this.releasedIn = term
    }
    // This read is outside the transaction because most often nothing is due.
    const waiting = await store.read.statements(webhookReader).due(now, MAX_DUE_ENDPOINTS)
    if (!waiting.some(this.isFree)) return
    const taken = await this.asLeader(term, (tx) => this.take(tx, now, term))
    // The next leader sends what was taken.
    if (this.stopped.signal.aborted || leaderLease.current() !== term) return
    for (const delivery of taken) this.startSending(delivery, term)
  }

  /** Takes a delivery of each endpoint that has none in flight. Taking counts the attempt, so that one that a crash cut off counts. */
  private async take(
    tx: StoreTransaction,
    now: number,
    term: LeadershipTerm,
  ): Promise<WebhookDeliveryRecord[]> {
    const statements = tx.statements(webhookWriter)
    const due = this.byLastTurn(await statements.due(now, MAX_DUE_ENDPOINTS)).filter(this.isFree)
    const taking = { now, nextAttemptAt: now + DELIVERY_LEASE_MS, takenBy: term.id }
    const taken = await Promise.all(
      due.slice(0, MAX_IN_FLIGHT - this.inFlight.size).map(async (delivery) => {
        const { id, attempts } = delivery
        return (await statements.take({ id, attempts, ...taking }))
          ? [{ ...delivery, attempts: attempts + 1 }]
          : []
      }),
    )
    return taken.flat()
  }

  private readonly isFree = ({ endpointId }: WebhookDeliveryRecord) => !this.inFlight.has(endpointId)

  private startSending(delivery: WebhookDeliveryRecord, term: LeadershipTerm): void {
    const { endpointId } = delivery
    const sending = this.send(delivery, term)
      .catch((err) =>
        this.parts.log.warn({ err, delivery: delivery.id }, 'a webhook delivery could not be attempted'),
      )
      .finally(() => {
        this.inFlight.delete(endpointId)
        if (!this.stopped.signal.aborted) void this.now()
      })
    this.inFlight.set(endpointId, sending)
    this.lastTurn.set(endpointId, ++this.turns)
  }

  /**
   * Runs `work` unless the term is over. Its statements check what they change, so that no tenant's calls wait for it. A batch that the last
   * leader took while its term ended may be committed after the next leader has released its deliveries: they are due again after
   * DELIVERY_LEASE_MS.
   */
  private asLeader<T>(term: LeadershipTerm, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    return this.parts.store.transaction('rows', async (tx) => {
      if (this.parts.leaderLease.current() !== term)
        throw new StoreUnavailableError('another service sends webhooks now')
      return work(tx)
    })
  }

  /**
   * Sorts endpoints that had no turn, or had it longest ago, first: otherwise a few slow receivers with long queues would
   * occupy every slot.
   */
  private byLastTurn(due: WebhookDeliveryRecord[]): WebhookDeliveryRecord[] {
    const endpoints = new Set(due.map(({ endpointId }) => endpointId))
    for (const id of this.lastTurn.keys())
      if (!endpoints.has(id) && !this.inFlight.has(id)) this.lastTurn.delete(id)
    const turnOf = ({ endpointId }: WebhookDeliveryRecord) => this.lastTurn.get(endpointId) ?? 0
    return due.sort((a, b) => turnOf(a) - turnOf(b))
  }

  private async send(delivery: WebhookDeliveryRecord, term: LeadershipTerm): Promise<void> {
    const { read } = this.parts.store
    const endpoint = await read.statements(webhookReader).endpoint(delivery.endpointId)
    const body = await new Outbox(this.parts).body(read, delivery)
    // The endpoint was removed, or the user was erased, since the delivery was taken.
    if (!endpoint || !body) return
    const ended = AbortSignal.any([this.stopped.signal, term.signal])
    const outcome = await this.post(endpoint, delivery, body, ended)
    if (outcome !== null) await this.recordOutcome(delivery, outcome, term)
  }

  /** @returns the HTTP status, or the reason why there was none; null where the sender stopped or lost the lease meanwhile */
  private async post(
    { url, environment }: WebhookEndpointRecord,
    { eventId, tenantId }: WebhookDeliveryRecord,
    body: Buffer,
    ended: AbortSignal,
  ): Promise<number | string | null> {
    const { secrets, store, clock } = this.parts
    const { outgoing, incoming } = await secrets.active(store.read, tenantId)
    const timestamp = Math.floor(clock.now() / SECOND_MS)
    const keys = incoming ? [outgoing, incoming] : [outgoing]
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await fetch(assertWebhookUrl(url), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json; charset=utf-8',
          'User-Agent': `Countersign/${VERSION}`,
          [EVENT_ID_HEADER]: eventId,
          [SIGNATURE_HEADER]: signWebhook({ environment, timestamp, eventId, body }, keys),
        },
        body: new Uint8Array(body),
        // A redirect must not lead an event to another receiver.
        redirect: 'manual',
        signal: AbortSignal.any([timeout, ended]),
      })
      // The body of the response does not matter, and may be endless.
      await response.body?.cancel()
      return response.status
    } catch (error) {
      if (ended.aborted) return null
      return timeout.aborted ? 'no answer in time' : reasonOf(error)
    }
  }

  private async recordOutcome(
    delivery: WebhookDeliveryRecord,
    outcome: number | string,
    term: LeadershipTerm,
  ): Promise<void> {
    const { store, clock, observe } = this.parts
    const now = clock.now()
    const isDelivered = typeof outcome === 'number' && outcome >= 200 && outcome < 300
    const delayMs = RETRY_DELAYS_MS[delivery.attempts - 1]
    const isOver = isDelivered || delayMs === undefined
    const progress: WebhookProgress = {
      status: isDelivered ? 'delivered' : isOver ? 'failed' : 'pending',
      attempts: delivery.attempts,
      nextAttemptAt: isOver ? null : now + delayMs,
      lastOutcome: String(outcome),
      finishedAt: isOver ? now : null,
    }
    const record = async (tx: StoreTransaction) => {
      // A delivery that was erased meanwhile stays erased, and one that another sender took belongs to that sender.
      const statements = tx.statements(webhookWriter)
      const present = await statements.delivery(delivery.id)
      if (present?.status !== 'pending' || present.takenBy !== term.id) return
      await statements.setProgress(delivery.id, progress)
      if (isDelivered) await statements.noteSuccess(now, delivery.endpointId)
      else await statements.noteFailure(now, String(outcome), delivery.endpointId)
      // The body may name an erased user, and no erasure has destroyed the key under which it is sealed.
      if (isDelivered && delivery.subjectId === null) await statements.forgetBody(delivery.id)
    }
    await store.transaction({ tenantId: delivery.tenantId }, record)
    observe(isDelivered ? 'delivered' : isOver ? 'given_up' : 'retried')
    this.logOutcome(delivery, outcome, progress.status)
  }

  /** Logs an endpoint's consecutive failures: the first, tenth, hundredth and so on as a warning, the others at level debug. */
  private logOutcome(
    { id, endpointId, attempts }: WebhookDeliveryRecord,
    outcome: number | string,
    status: WebhookProgress['status'],
  ): void {
    const { log } = this.parts
    const failures = this.failures.get(endpointId) ?? 0
    if (status === 'delivered') {
      if (failures > 0)
        log.info({ endpoint: endpointId, failures }, 'webhook endpoint accepts deliveries again')
      this.failures.delete(endpointId)
      return
    }
    this.failures.set(endpointId, failures + 1)
    const level = Number.isInteger(Math.log10(failures + 1)) ? 'warn' : 'debug'
    log[level](
      { delivery: id, endpoint: endpointId, attempts, outcome, failures: failures + 1 },
      status === 'failed'
        ? 'webhook delivery failed, no attempt is left'
        : 'webhook delivery failed, will retry',
    )
  }
}

/** The error's code, such as ECONNREFUSED. Its message is not used: it may hold the address, and the address a token. */
function reasonOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown }
  return typeof code === 'string' ? code : 'no connection'
}
