/**
 * The transactional outbox of webhooks. A delivery for each endpoint is stored in the transaction that made its event true, and sent
 * afterwards. A delivery about a user is sealed under the user's data key, so that an erasure covers it in every copy of the database.
 */

import { prefixedId } from '../../crypto/identifiers.js'
import { open, openWithAny, sealFor } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { EventType } from '../../events/event-types.js'
import type { Audience, DomainEvent, EventKind, Subscriber } from '../../events/events.js'
import { type Clock, DAY_MS, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { TemplateVault } from '../../users/template-vault.js'
import {
  type WebhookDeliveryRecord,
  type WebhookEndpointRecord,
  webhookReader,
  webhookWriter,
} from './webhook-tables.js'

/** Delays after the first attempt, the second, and so on, about a day in all; the attempt after the last one is final. */
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
/** How long a delivery is listed and can be sent again. */
export const RETENTION_MS = 7 * DAY_MS
/** Pending deliveries of one endpoint. Further ones are counted and not kept: an endpoint that is gone must not fill the disk. */
export const MAX_PENDING = 10_000

/** The type of an event that is sent on demand, to see whether it arrives. */
export const TEST_EVENT = 'webhook.test'

export type WebhookEvent = Omit<DomainEvent, 'type'> & { type: EventType | typeof TEST_EVENT }

interface Message extends Pick<WebhookEvent, 'type' | 'environment'> {
  /** Id of the event, the same at every attempt and redelivery: receivers recognize repeats by it. */
  id: string
  created_at: string
  tenant_id: string
  /** Facts about the event, with `user_id` where it is about a user; never biometric data. */
  data: Record<string, unknown>
}

export interface OutboxParts {
  keys: Pick<ServiceKeys, 'idempotency'>
  vault: TemplateVault
  clock: Clock
}

export class Outbox implements Subscriber {
  constructor(private readonly parts: OutboxParts) {}

  /** The endpoints of the tenant. Telling them stores a delivery for each that subscribed to the type of the event. */
  async audienceOf(read: StoreReader, tenantId: string): Promise<Audience> {
    const endpoints = await read.statements(webhookReader).endpointsOf(tenantId)
    const toldOf = (event: EventKind) =>
      endpoints.filter(
        ({ environment, events }) =>
          environment === event.environment && (events === '' || events.split(',').includes(event.type)),
      )
    return {
      hears: (event) => toldOf(event).length > 0,
      tell: async (tx, event) => {
        const told = toldOf(event)
        if (told.length === 0) return
        const message = this.messageOf(event)
        for (const endpoint of told) await this.insertDelivery(tx, endpoint, message, event.subject)
      },
    }
  }

  /** Deliveries that were held back get the time to be sent. */
  onResume(tx: StoreTransaction, tenantId: string): Promise<void> {
    const until = this.parts.clock.now() + RETENTION_MS
    return tx.statements(webhookWriter).keepPending({ tenantId, until })
  }

  /** Stores a delivery for one endpoint, even if it did not subscribe to the type. @returns the delivery's id, or null where the endpoint's queue is full */
  putFor(tx: StoreTransaction, endpoint: WebhookEndpointRecord, event: WebhookEvent): Promise<string | null> {
    return this.insertDelivery(tx, endpoint, this.messageOf(event), event.subject)
  }

  /** @returns the body of a delivery, or null where it was erased or forgotten */
  async body(store: StoreReader, delivery: WebhookDeliveryRecord): Promise<Buffer | null> {
    const { keys, vault } = this.parts
    const { id, sealed, blindIndex, subjectId } = delivery
    if (!sealed) return null
    if (subjectId === null) return openWithAny(keys.idempotency, sealed, id)
    const found = await store.subjectWithoutReference(blindIndex!)
    return found?.id === subjectId ? open(vault.dataKey(found), sealed, id) : null
  }

  private messageOf({ tenantId, environment, type, data }: WebhookEvent): Message {
    const now = this.parts.clock.now()
    const id = prefixedId('evt', now)
    return { id, type, created_at: isoTime(now), environment, tenant_id: tenantId, data }
  }

  private async insertDelivery(
    tx: StoreTransaction,
    endpoint: WebhookEndpointRecord,
    message: Message,
    subject: DomainEvent['subject'],
  ): Promise<string | null> {
    const { countPending, countDropped, insertDelivery } = tx.statements(webhookWriter)
    if ((await countPending(endpoint.id)) >= MAX_PENDING) {
      await countDropped(endpoint.id)
      return null
    }
    const { keys, clock } = this.parts
    const now = clock.now()
    const id = prefixedId('whd', now)
    const body = Buffer.from(JSON.stringify(message))
    await insertDelivery({
      id,
      eventId: message.id,
      endpointId: endpoint.id,
      tenantId: endpoint.tenantId,
      type: message.type,
      blindIndex: subject?.blindIndex ?? null,
      subjectId: subject?.id ?? null,
      sealed: sealFor(subject?.dataKey, keys.idempotency.current, body, id),
      status: 'pending',
      attempts: 0,
      nextAttemptAt: now,
      lastOutcome: null,
      takenBy: null,
      createdAt: now,
      finishedAt: null,
      expiresAt: now + RETENTION_MS,
    })
    return id
  }
}
