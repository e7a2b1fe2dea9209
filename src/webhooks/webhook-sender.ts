/**
 * Sends what the outbox holds: each endpoint one delivery at a time, tried again with growing waits for about a day. At least
 * once: a process that ends between the answer and the note of it has it sent again.
 */
import type { Logger } from 'pino'
import { SIGNATURE_HEADER } from '../crypto/response-signature.js'
import { signWebhook } from '../crypto/webhook-signature.js'
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import { VERSION } from '../lib/version.js'
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../storage/records.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
import type { WebhookProgress } from '../storage/webhook-store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Outbox } from './outbox.js'
import { assertWebhookUrl } from './webhook-url.js'

/** Waits after the first try, the second, and so on; after the last one it is given up. About a day in all. */
export const RETRY_DELAYS_MS = [
  10 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
]
export const EVENT_ID_HEADER = 'X-Svc-Webhook-Id'

const POLL_MS = SECOND_MS
const TIMEOUT_MS = 10 * SECOND_MS
/** Longer than a try takes: what another process has taken, and not done by then, is taken from it. */
const LEASE_MS = MINUTE_MS
const MAX_AT_ONCE = 16
/** Endpoints that are looked at when places are given away: more than are in use anywhere near at once. */
const MAX_LOOKED_AT = 1000

export const DELIVERY_OUTCOMES = ['delivered', 'retried', 'given_up'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

interface SenderParts {
  store: Store
  outbox: Outbox
  secrets: SigningSecrets
  clock: Clock
  log: Logger
  observe: (outcome: DeliveryOutcome) => void
  leaderLease: SendingDuty
}

/** Of several services one sends: so each endpoint has one delivery at a time, in order, whoever stored it. */
export interface SendingDuty {
  /** Others may have had it before, and ended in the middle of a delivery: it is sent again. */
  readonly isShared: boolean
  /** Null while another service sends. */
  current(): { id: string; signal: AbortSignal } | null
}
type LeadershipTerm = NonNullable<ReturnType<SendingDuty['current']>>

export class WebhookSender {
  private readonly beat = new PeriodicTask(
    POLL_MS,
    () => this.takeDue(),
    (err) => this.parts.log.warn({ err }, 'webhooks could not be looked for'),
  )
  private readonly stopped = new AbortController()
  /** In a row, by endpoint. */
  private readonly failures = new Map<string, number>()
  /** By endpoint. */
  private readonly underWay = new Map<string, Promise<void>>()
  /** Those that had their turn and still have something due, by endpoint. */
  private readonly lastTurn = new Map<string, number>()
  private turns = 0
  /** In which what others were at was released. */
  private released: LeadershipTerm | null = null

  constructor(private readonly parts: SenderParts) {}

  start(): void {
    this.beat.start()
  }

  /** A try under way is given up, and made again by the next process. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await this.beat.stop()
    await Promise.all(this.underWay.values())
  }

  private async takeDue(): Promise<void> {
    const { store, clock, leaderLease } = this.parts
    const term = leaderLease.current()
    if (!term) return
    const now = clock.now()
    const isFree = ({ endpointId }: WebhookDeliveryRecord) => !this.underWay.has(endpointId)
    if (leaderLease.isShared && this.released !== term) {
      await this.inTerm(term, (tx) => tx.releaseWebhooks(term.id))
      this.released = term
    }
    // Outside a transaction: most often there is nothing to take.
    if (!(await store.read.dueWebhooks(now, MAX_LOOKED_AT)).some(isFree)) return
    const taken = await this.inTerm(term, async (tx) => {
      const due = this.inTurn(await tx.dueWebhooks(now, MAX_LOOKED_AT)).filter(isFree)
      const taken = due.slice(0, MAX_AT_ONCE - this.underWay.size)
      for (const delivery of taken)
        await tx.setWebhookProgress(delivery.id, {
          ...delivery,
          attempts: ++delivery.attempts,
          nextAttemptAt: now + LEASE_MS,
          takenBy: term.id,
        })
      return taken
    })
    // Whoever has the duty now sends it.
    if (this.stopped.signal.aborted || leaderLease.current() !== term) return
    for (const delivery of taken) {
      const sending = this.send(delivery, term)
        .catch((err) => this.parts.log.warn({ err, delivery: delivery.id }, 'a webhook could not be sent'))
        .finally(() => {
          this.underWay.delete(delivery.endpointId)
          if (!this.stopped.signal.aborted) void this.beat.now()
        })
      this.underWay.set(delivery.endpointId, sending)
      this.lastTurn.set(delivery.endpointId, ++this.turns)
    }
  }

  /** Writing is done by one service at a time: whoever takes the duty over sees what was written by the one before. */
  private inTerm<T>(term: LeadershipTerm, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    return this.parts.store.transaction(async (tx) => {
      if (this.parts.leaderLease.current() !== term)
        throw new StoreUnavailableError('another service sends webhooks now')
      return work(tx)
    })
  }

  /**
   * Those whose endpoint had no turn, or had it longest ago, first: some receivers that answer slowly and have much waiting would
   * else have every place for as long as that lasts.
   */
  private inTurn(due: WebhookDeliveryRecord[]): WebhookDeliveryRecord[] {
    const endpoints = new Set(due.map(({ endpointId }) => endpointId))
    for (const id of this.lastTurn.keys())
      if (!endpoints.has(id) && !this.underWay.has(id)) this.lastTurn.delete(id)
    const turnOf = ({ endpointId }: WebhookDeliveryRecord) => this.lastTurn.get(endpointId) ?? 0
    return due.sort((a, b) => turnOf(a) - turnOf(b))
  }

  private async send(delivery: WebhookDeliveryRecord, term: LeadershipTerm): Promise<void> {
    const { store, outbox } = this.parts
    const endpoint = await store.read.webhookEndpoint(delivery.endpointId)
    const body = await outbox.body(store.read, delivery)
    // Removed, or erased, since it was taken.
    if (!endpoint || !body) return
    const ended = AbortSignal.any([this.stopped.signal, term.signal])
    const outcome = await this.post(endpoint, delivery, body, ended)
    if (outcome !== null) await this.settle(delivery, outcome, term)
  }

  /** An HTTP status, or why there was none; null where sending ended meanwhile. */
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
        // An event must not follow whoever redirects it.
        redirect: 'manual',
        signal: AbortSignal.any([timeout, ended]),
      })
      // What it says does not matter, and may be endless.
      await response.body?.cancel()
      return response.status
    } catch (error) {
      if (ended.aborted) return null
      return timeout.aborted ? 'no answer in time' : reasonOf(error)
    }
  }

  private async settle(
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
    const settled = async (tx: StoreTransaction) => {
      // Erased while it was under way: it stays so. What another sender is at is that one's.
      const present = await tx.webhookDelivery(delivery.id)
      if (present?.status !== 'pending' || present.takenBy !== term.id) return
      await tx.setWebhookProgress(delivery.id, progress)
      await tx.noteWebhookTry(delivery.endpointId, now, isDelivered ? null : String(outcome))
      // It names somebody who is erased, under a key that is not theirs.
      if (isDelivered && delivery.subjectId === null) await tx.forgetWebhookBody(delivery.id)
    }
    await store.transaction(settled, undefined, { tenantId: delivery.tenantId })
    observe(isDelivered ? 'delivered' : isOver ? 'given_up' : 'retried')
    this.logOutcome(delivery, outcome, { isDelivered, isOver })
  }

  /** Logs the first, tenth, hundredth and so on of an endpoint's consecutive failures as a warning, and the others for debugging. */
  private logOutcome(
    { id, endpointId, attempts }: Pick<WebhookDeliveryRecord, 'id' | 'endpointId' | 'attempts'>,
    outcome: number | string,
    { isDelivered, isOver }: { isDelivered: boolean; isOver: boolean },
  ): void {
    const { log } = this.parts
    const failures = this.failures.get(endpointId) ?? 0
    if (isDelivered) {
      if (failures > 0) log.info({ endpoint: endpointId, failures }, 'webhooks are taken again')
      this.failures.delete(endpointId)
      return
    }
    this.failures.set(endpointId, failures + 1)
    const level = Number.isInteger(Math.log10(failures + 1)) ? 'warn' : 'debug'
    log[level](
      { delivery: id, endpoint: endpointId, attempts, outcome, failures: failures + 1 },
      isOver ? 'a webhook was given up' : 'a webhook was not taken',
    )
  }
}

/** The network's own word for it, such as ECONNREFUSED: its sentence may hold the address, and that a token. */
function reasonOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown }
  return typeof code === 'string' ? code : 'no connection'
}
