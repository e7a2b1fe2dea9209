/**
 * The transactional outbox of webhooks. A delivery for each endpoint is stored in the transaction that made its event true, and sent
 * afterwards. A delivery about a user is sealed under the user's data key, so that an erasure covers it in every copy of the database.
 */

import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, openWithAny, sealFor } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, DAY_MS, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { WebhookEvent, WebhookEventType } from './webhook-events.js'

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

/** Something that happened to a tenant's user or capture session. */
export interface DomainEvent {
  tenantId: string
  environment: Environment
  type: WebhookEventType
  data: Record<string, unknown>
  /** The enrolled user whom the event is about; the delivery is erased with that user. */
  subject?: { blindIndex: Buffer; id: string; dataKey: Buffer }
}

export class Outbox {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'idempotency'>,
    private readonly vault: TemplateVault,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a delivery for every endpoint of the tenant and environment that subscribed to the type of the event.
   * @param endpointsOfTenant where the transaction has read them already
   */
  async put(
    tx: StoreTransaction,
    event: DomainEvent,
    endpointsOfTenant?: WebhookEndpointRecord[],
  ): Promise<void> {
    const { tenantId, environment, type } = event
    const endpoints = (endpointsOfTenant ?? (await tx.webhookEndpoints(tenantId))).filter(
      (endpoint) => endpoint.environment === environment && isSubscribedTo(endpoint, type),
    )
    if (endpoints.length === 0) return
    const message = this.messageOf(event)
    for (const endpoint of endpoints) await this.insertDelivery(tx, endpoint, message, event.subject)
  }

  /** Stores a delivery for one endpoint, even if it did not subscribe to the type. @returns the delivery's id, or null where the endpoint's queue is full */
  async putFor(
    tx: StoreTransaction,
    endpoint: WebhookEndpointRecord,
    event: DomainEvent,
  ): Promise<string | null> {
    return this.insertDelivery(tx, endpoint, this.messageOf(event), event.subject)
  }

  /** @returns the body of a delivery, or null where it was erased or forgotten */
  async body(store: StoreReader, delivery: WebhookDeliveryRecord): Promise<Buffer | null> {
    const { id, sealed, blindIndex, subjectId } = delivery
    if (!sealed) return null
    if (subjectId === null) return openWithAny(this.keys.idempotency, sealed, id)
    const found = await store.subjectWithoutReference(blindIndex!)
    return found?.id === subjectId ? open(this.vault.dataKey(found), sealed, id) : null
  }

  private messageOf({ tenantId, environment, type, data }: DomainEvent): WebhookEvent {
    const now = this.clock.now()
    return {
      id: prefixedId('evt', now),
      type,
      created_at: isoTime(now),
      environment,
      tenant_id: tenantId,
      data,
    }
  }

  private async insertDelivery(
    tx: StoreTransaction,
    endpoint: WebhookEndpointRecord,
    message: WebhookEvent,
    subject: DomainEvent['subject'],
  ): Promise<string | null> {
    if ((await tx.pendingWebhooks(endpoint.id)) >= MAX_PENDING) {
      await tx.countDroppedWebhook(endpoint.id)
      return null
    }
    const now = this.clock.now()
    const id = prefixedId('whd', now)
    const body = Buffer.from(JSON.stringify(message))
    await tx.insertWebhookDelivery({
      id,
      eventId: message.id,
      endpointId: endpoint.id,
      tenantId: endpoint.tenantId,
      type: message.type,
      blindIndex: subject?.blindIndex ?? null,
      subjectId: subject?.id ?? null,
      sealed: sealFor(subject?.dataKey, this.keys.idempotency.current, body, id),
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

export function isSubscribedTo({ events }: WebhookEndpointRecord, type: WebhookEventType): boolean {
  return events === '' || events.split(',').includes(type)
}
