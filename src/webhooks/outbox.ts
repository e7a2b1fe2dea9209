/**
 * The outbox: what webhooks have to tell is stored in the transaction that made it true, one delivery an endpoint, and sent
 * afterwards. A delivery about a user is sealed under the user's data key, so that an erasure takes it along in every copy.
 */

import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, DAY_MS, isoTime } from '../lib/clock.js'
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { WebhookEvent, WebhookEventType } from './webhook-events.js'

/** How long a delivery can be looked at and sent again. */
export const RETENTION_MS = 7 * DAY_MS
/** Of one endpoint. What comes beyond it is counted and not kept: an endpoint that is gone must not fill the disk. */
export const MAX_PENDING = 10_000

/** Something that happened, for whoever wants to be told. */
export interface Occurrence {
  tenantId: string
  environment: Environment
  type: WebhookEventType
  data: Record<string, unknown>
  /** The user it is about, who is still there: erased with them. */
  subject?: { blindIndex: Buffer; id: string; dataKey: Buffer }
}

export class Outbox {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'idempotency'>,
    private readonly vault: TemplateVault,
    private readonly clock: Clock,
  ) {}

  /**
   * To every endpoint of tenant and environment that asked for such events.
   * @param all endpoints of the tenant, where the transaction has read them
   */
  async put(tx: StoreTransaction, occurrence: Occurrence, all?: WebhookEndpointRecord[]): Promise<void> {
    const { tenantId, environment, type } = occurrence
    const endpoints = (all ?? (await tx.webhookEndpoints(tenantId))).filter(
      (endpoint) => endpoint.environment === environment && wants(endpoint, type),
    )
    if (endpoints.length === 0) return
    const event = this.event(occurrence)
    for (const endpoint of endpoints) await this.deliver(tx, endpoint, event, occurrence.subject)
  }

  /** To one endpoint, whatever it asked for. Null where its queue is full. */
  async putFor(
    tx: StoreTransaction,
    endpoint: WebhookEndpointRecord,
    occurrence: Occurrence,
  ): Promise<string | null> {
    return this.deliver(tx, endpoint, this.event(occurrence), occurrence.subject)
  }

  /** The body of a delivery; null where it is gone. */
  async body(store: StoreReader, delivery: WebhookDeliveryRecord): Promise<Buffer | null> {
    const { id, sealed, blindIndex, subjectId } = delivery
    if (!sealed) return null
    if (subjectId === null) return openWithAny(this.keys.idempotency, sealed, id)
    const found = await store.subjectWithoutReference(blindIndex!)
    return found?.id === subjectId ? open(this.vault.dataKey(found), sealed, id) : null
  }

  private event({ tenantId, environment, type, data }: Occurrence): WebhookEvent {
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

  private async deliver(
    tx: StoreTransaction,
    endpoint: WebhookEndpointRecord,
    event: WebhookEvent,
    subject: Occurrence['subject'],
  ): Promise<string | null> {
    if ((await tx.pendingWebhooks(endpoint.id)) >= MAX_PENDING) {
      await tx.countDroppedWebhook(endpoint.id)
      return null
    }
    const now = this.clock.now()
    const id = prefixedId('whd', now)
    const body = Buffer.from(JSON.stringify(event))
    await tx.insertWebhookDelivery({
      id,
      eventId: event.id,
      endpointId: endpoint.id,
      tenantId: endpoint.tenantId,
      type: event.type,
      blindIndex: subject?.blindIndex ?? null,
      subjectId: subject?.id ?? null,
      sealed: seal(subject?.dataKey ?? this.keys.idempotency.current, body, id),
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

function wants({ events }: WebhookEndpointRecord, type: WebhookEventType): boolean {
  return events === '' || events.split(',').includes(type)
}
