/** Reading and writing webhook endpoints and deliveries. */
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../records.js'

export interface DeliveryFilter {
  /** `failed` includes deliveries that wait for another attempt after a failed one. */
  status?: WebhookDeliveryRecord['status']
  /** The last delivery of the page before; undefined for the first page. */
  before?: Pick<WebhookDeliveryRecord, 'createdAt' | 'id'>
}

export interface WebhookReader {
  /** Endpoints of the tenant, oldest first. */
  webhookEndpoints(tenantId: string): Promise<WebhookEndpointRecord[]>
  webhookEndpoint(id: string): Promise<WebhookEndpointRecord | undefined>
  /** Deliveries before the given one, newest first, optionally of one status. */
  webhookDeliveries(
    tenantId: string,
    limit: number,
    filter?: DeliveryFilter,
  ): Promise<WebhookDeliveryRecord[]>
  webhookDelivery(id: string): Promise<WebhookDeliveryRecord | undefined>
  /** Number of deliveries of an endpoint that wait. */
  pendingWebhooks(endpointId: string): Promise<number>
  /** The delivery of each endpoint that has been due longest, the longest due first; none of a suspended tenant. */
  dueWebhooks(now: number, limit: number): Promise<WebhookDeliveryRecord[]>
}

export type WebhookProgress = Pick<
  WebhookDeliveryRecord,
  'status' | 'attempts' | 'nextAttemptAt' | 'lastOutcome' | 'finishedAt'
> &
  // Without `takenBy`, no sender has the delivery.
  Partial<Pick<WebhookDeliveryRecord, 'takenBy'>>

export interface WebhookWriter {
  insertWebhookEndpoint(endpoint: WebhookEndpointRecord): Promise<void>
  /** Deletes the endpoint with all its deliveries. */
  deleteWebhookEndpoint(id: string): Promise<void>
  /** Counts an event that was dropped because the queue was full. */
  countDroppedWebhook(endpointId: string): Promise<void>
  /** @param failure why the attempt failed; null when it was accepted */
  noteWebhookTry(endpointId: string, at: number, failure: string | null): Promise<void>
  insertWebhookDelivery(delivery: WebhookDeliveryRecord): Promise<void>
  setWebhookProgress(id: string, progress: WebhookProgress): Promise<void>
  /**
   * Takes a delivery that was due when it was read, and counts the attempt.
   * @returns false where it is no longer due, or another transaction is changing it
   */
  takeWebhook(
    delivery: Pick<WebhookDeliveryRecord, 'id' | 'attempts'>,
    now: number,
    taking: { nextAttemptAt: number; takenBy: string },
  ): Promise<boolean>
  /** Makes deliveries due again that senders other than this one have taken, except those that another transaction is changing. */
  releaseWebhooks(sender: string): Promise<void>
  /** Extends the life of waiting deliveries that would be deleted before `until`. */
  keepPendingWebhooks(tenantId: string, until: number): Promise<void>
  /** Deletes the body of the delivery. */
  forgetWebhookBody(id: string): Promise<void>
}
