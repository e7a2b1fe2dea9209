/** What webhooks need of a database. */
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from './records.js'

export interface DeliveryFilter {
  /** `failed` includes those that wait for another try after one that was not taken. */
  status?: WebhookDeliveryRecord['status']
  /** Where the last page ended. */
  before?: Pick<WebhookDeliveryRecord, 'createdAt' | 'id'>
}

export interface WebhookReader {
  /** Oldest first. */
  webhookEndpoints(tenantId: string): Promise<WebhookEndpointRecord[]>
  webhookEndpoint(id: string): Promise<WebhookEndpointRecord | undefined>
  /** Newest first, those before the named one in this order; of one status where it is named. */
  webhookDeliveries(
    tenantId: string,
    limit: number,
    filter?: DeliveryFilter,
  ): Promise<WebhookDeliveryRecord[]>
  webhookDelivery(id: string): Promise<WebhookDeliveryRecord | undefined>
  /** Of one endpoint, how many wait to be delivered. */
  pendingWebhooks(endpointId: string): Promise<number>
  /** The delivery of each endpoint that has been due longest, those due longest first; none of a suspended tenant. */
  dueWebhooks(now: number, limit: number): Promise<WebhookDeliveryRecord[]>
}

export type WebhookProgress = Pick<
  WebhookDeliveryRecord,
  'status' | 'attempts' | 'nextAttemptAt' | 'lastOutcome' | 'finishedAt'
> &
  // Nobody is at it unless somebody is named.
  Partial<Pick<WebhookDeliveryRecord, 'takenBy'>>

export interface WebhookWriter {
  insertWebhookEndpoint(endpoint: WebhookEndpointRecord): Promise<void>
  /** With all its deliveries. */
  deleteWebhookEndpoint(id: string): Promise<void>
  /** One more that found the queue full. */
  countDroppedWebhook(endpointId: string): Promise<void>
  /** @param failure why the try was not taken; null where it was */
  noteWebhookTry(endpointId: string, at: number, failure: string | null): Promise<void>
  insertWebhookDelivery(delivery: WebhookDeliveryRecord): Promise<void>
  setWebhookProgress(id: string, progress: WebhookProgress): Promise<void>
  /** Whatever senders but this one were at is due again, as it was when it was new. */
  releaseWebhooks(sender: string): Promise<void>
  /** Of what waits, all that would be forgotten before this time. */
  keepPendingWebhooks(tenantId: string, until: number): Promise<void>
  /** Its body is wanted no longer. */
  forgetWebhookBody(id: string): Promise<void>
}
