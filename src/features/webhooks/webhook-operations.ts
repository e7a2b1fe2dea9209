/** Operations on a tenant's webhook endpoints and their deliveries. */

import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { EVENT_TYPES } from '../../events/event-types.js'
import { CodedError } from '../../lib/errors.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import { Outbox, type OutboxParts, TEST_EVENT } from './outbox.js'
import {
  type WebhookDeliveryRecord,
  type WebhookEndpointRecord,
  webhookReader,
  webhookWriter,
} from './webhook-tables.js'
import { assertWebhookUrl } from './webhook-url.js'

/** Endpoints of one tenant: it needs one for each environment, and further ones while it moves. */
export const MAX_ENDPOINTS = 5

/** HTTP status where the dashboard answers these errors, by code. */
export const WEBHOOK_ERRORS = {
  invalid_events: 400,
  too_many_webhooks: 409,
  webhook_not_found: 404,
  webhook_queue_full: 409,
  delivery_not_found: 404,
  delivery_pending: 409,
  body_gone: 409,
}

export class WebhookOperationError extends CodedError<keyof typeof WEBHOOK_ERRORS> {}

export interface NewWebhook {
  url: string
  environment: Environment
  /** Types of events to send; an empty list stands for all, types of later versions included. */
  events: readonly string[]
}

interface WebhookOperationParts extends OutboxParts, Pick<Core, 'store'> {
  operations: Pick<Operations, 'audited'>
}

export class WebhookOperations {
  constructor(private readonly parts: WebhookOperationParts) {}

  /** @throws WebhookUrlError invalid_webhook_url; WebhookOperationError invalid_events, too_many_webhooks */
  async add({ id: tenantId }: TenantRecord, actor: Actor, webhook: NewWebhook) {
    const { url, environment } = webhook
    const { host } = assertWebhookUrl(url)
    const events = parseEvents(webhook.events)
    return this.parts.operations.audited.run(tenantId, actor, async (tx) => {
      const { endpointsOf, insertEndpoint } = tx.statements(webhookWriter)
      if ((await endpointsOf(tenantId)).length >= MAX_ENDPOINTS)
        throw new WebhookOperationError(
          'too_many_webhooks',
          `The tenant has ${MAX_ENDPOINTS} webhooks, which is the maximum. Remove one first.`,
        )
      const createdAt = this.parts.clock.now()
      const id = prefixedId('whe', createdAt)
      const untried = { dropped: 0, lastSuccessAt: null, lastFailureAt: null, lastFailure: null, failures: 0 }
      const endpoint = { id, tenantId, environment, url, events, createdAt, ...untried }
      await insertEndpoint(endpoint)
      // Only the host is recorded: the rest of an address often contains a token.
      return { result: endpoint, facts: { event: 'webhook_added', endpoint: id, host, environment, events } }
    })
  }

  /** Removes an endpoint with its pending deliveries. @throws WebhookOperationError webhook_not_found */
  remove(tenant: TenantRecord, actor: Actor, endpointId: string): Promise<void> {
    return this.parts.operations.audited.run(tenant.id, actor, async (tx) => {
      const { id, url, environment, events } = await this.endpoint(tx, tenant, endpointId)
      await tx.statements(webhookWriter).deleteEndpoint(id)
      const facts = { endpoint: id, host: new URL(url).host, environment, events }
      return { result: undefined, facts: { event: 'webhook_removed', ...facts } }
    })
  }

  /** Sends an event without data, to try the endpoint. @returns the delivery's id @throws WebhookOperationError webhook_not_found, webhook_queue_full */
  test(tenant: TenantRecord, endpointId: string): Promise<string> {
    const put = async (tx: StoreTransaction) => {
      const endpoint = await this.endpoint(tx, tenant, endpointId)
      const { environment } = endpoint
      const event = { tenantId: tenant.id, environment, type: TEST_EVENT, data: {} } as const
      const delivery = await new Outbox(this.parts).putFor(tx, endpoint, event)
      if (!delivery)
        throw new WebhookOperationError(
          'webhook_queue_full',
          'Too many deliveries are pending for this webhook. Wait until its endpoint has accepted some.',
        )
      return delivery
    }
    return this.parts.store.transaction({ tenantId: tenant.id }, put)
  }

  /**
   * Sends an event once more, with all its attempts.
   * @throws WebhookOperationError delivery_not_found, delivery_pending, body_gone
   */
  redeliver(tenant: TenantRecord, actor: Actor, deliveryId: string): Promise<WebhookDeliveryRecord> {
    return this.parts.operations.audited.run(tenant.id, actor, async (tx) => {
      const statements = tx.statements(webhookWriter)
      const delivery = await statements.delivery(deliveryId)
      if (delivery?.tenantId !== tenant.id)
        throw new WebhookOperationError('delivery_not_found', `There is no delivery ${deliveryId}.`)
      if (delivery.status === 'pending')
        throw new WebhookOperationError(
          'delivery_pending',
          'The delivery is still pending: it will be retried without this.',
        )
      if (!delivery.sealed)
        throw new WebhookOperationError('body_gone', 'The body of this delivery is no longer kept.')
      const fresh = { status: 'pending', attempts: 0, lastOutcome: null, finishedAt: null } as const
      const again = { ...delivery, ...fresh, nextAttemptAt: this.parts.clock.now() }
      await statements.setProgress(delivery.id, again)
      const facts = { delivery: delivery.id, event_id: delivery.eventId }
      return { result: again, facts: { event: 'webhook_redelivered', ...facts } }
    })
  }

  private async endpoint(
    store: StoreReader,
    tenant: TenantRecord,
    endpointId: string,
  ): Promise<WebhookEndpointRecord> {
    const endpoint = await store.statements(webhookReader).endpoint(endpointId)
    if (endpoint?.tenantId !== tenant.id)
      throw new WebhookOperationError('webhook_not_found', `There is no webhook ${endpointId}.`)
    return endpoint
  }
}

/** @throws WebhookOperationError invalid_events */
function parseEvents(events: readonly string[]): string {
  const unknown = events.filter((name) => !(EVENT_TYPES as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new WebhookOperationError(
      'invalid_events',
      `There is no event ${unknown.join(', ')}; there are ${EVENT_TYPES.join(', ')}.`,
    )
  return [...new Set(events)].join(',')
}
