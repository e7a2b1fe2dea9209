/** Serializers: the JSON of webhooks and their deliveries, as the command line and the dashboard show it. */
import { wire } from '../../lib/wire.js'
import type { StoreReader } from '../../storage/store.js'
import { type WebhookDeliveryRecord, type WebhookEndpointRecord, webhookReader } from './webhook-tables.js'

export function webhookView(endpoint: WebhookEndpointRecord) {
  const { events, failures, lastSuccessAt } = endpoint
  const untroubled = lastSuccessAt === null ? ('untried' as const) : ('working' as const)
  return {
    ...wire(endpoint, 'id', 'environment', 'url'),
    /** Types of events that are sent; an empty list stands for all. */
    events: events === '' ? [] : events.split(','),
    ...wire(endpoint, 'createdAt'),
    /** `failing` from a failed attempt until the next delivery. */
    health: failures > 0 ? ('failing' as const) : untroubled,
    /** The failures are attempts since the last success; the last one is an HTTP status, or the reason why there was none. */
    ...wire(endpoint, 'failures', 'lastSuccessAt', 'lastFailureAt', 'lastFailure'),
  }
}

/** The webhooks of a tenant, with the numbers of their deliveries. */
export async function webhookViews(read: StoreReader, tenantId: string) {
  const { endpointsOf, countPending } = read.statements(webhookReader)
  const endpoints = await endpointsOf(tenantId)
  return Promise.all(
    endpoints.map(async (endpoint) => ({
      ...webhookView(endpoint),
      waiting: await countPending(endpoint.id),
      /** How many events were dropped because too many were waiting. */
      dropped: endpoint.dropped,
    })),
  )
}

export function webhookDeliveryView(delivery: WebhookDeliveryRecord) {
  return {
    ...wire(delivery, 'id', 'eventId'),
    webhook: delivery.endpointId,
    /** The outcome is an HTTP status of the last attempt, or the reason why there was none. */
    ...wire(delivery, 'type', 'status', 'attempts', 'lastOutcome'),
    ...wire(delivery, 'createdAt', 'nextAttemptAt', 'finishedAt'),
    replayable: delivery.sealed !== null && delivery.status !== 'pending',
  }
}
