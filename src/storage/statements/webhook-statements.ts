/** The SQL of webhooks: their endpoints, and the outbox of deliveries. */
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { WebhookDeliveryRecord } from '../records.js'
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../tables/index.js'

export interface DeliveryFilter {
  /** `failed` includes deliveries that wait for another attempt after a failed one. */
  status?: WebhookDeliveryRecord['status']
  /** The last delivery of the page before; undefined for the first page. */
  before?: Pick<WebhookDeliveryRecord, 'createdAt' | 'id'>
}

export type WebhookProgress = Pick<
  WebhookDeliveryRecord,
  'status' | 'attempts' | 'nextAttemptAt' | 'lastOutcome' | 'finishedAt'
> &
  // Without `takenBy`, no sender has the delivery.
  Partial<Pick<WebhookDeliveryRecord, 'takenBy'>>

/** A position after all deliveries. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }

export function webhookReader(database: ReadConnection) {
  const { count, from } = reading(database)
  const endpoints = from(WEBHOOK_ENDPOINT)
  const deliveries = from(WEBHOOK_DELIVERY)
  const page = deliveries.rows<
    [{ tenantId: string; limit: number; status: string | null; createdAt: number; id: string }]
  >(
    `WHERE tenant_id = @tenantId AND (created_at, id) < (@createdAt, @id)
       AND (status = coalesce(@status, status) OR (@status = 'failed' AND status = 'pending' AND last_outcome IS NOT NULL))
       ORDER BY created_at DESC, id DESC LIMIT @limit`,
  )
  return {
    /** Endpoints of the tenant, oldest first. */
    webhookEndpoints: endpoints.rows<[tenantId: string]>('WHERE tenant_id = ? ORDER BY created_at, id'),
    webhookEndpoint: endpoints.row<[id: string]>('WHERE id = ?'),
    /** Deliveries before the given one, newest first, optionally of one status. */
    webhookDeliveries: async (
      tenantId: string,
      limit: number,
      { status, before = NEWEST }: DeliveryFilter = {},
    ) => page({ tenantId, limit, status: status ?? null, createdAt: before.createdAt, id: before.id }),
    webhookDelivery: deliveries.row<[id: string]>('WHERE id = ?'),
    /** Number of deliveries of an endpoint that wait. */
    pendingWebhooks: count<[endpointId: string]>(
      'FROM webhook_delivery WHERE endpoint_id = ? AND next_attempt_at IS NOT NULL',
    ),
    /**
     * The delivery of each endpoint that has been due longest, of several that were due at once the first made; the longest due first, and
     * none of a suspended tenant.
     */
    dueWebhooks: deliveries.rows<[now: number, limit: number]>(
      `WHERE id IN (
         SELECT (SELECT one.id FROM webhook_delivery AS one WHERE one.endpoint_id = webhook_endpoint.id
           AND one.next_attempt_at <= ? ORDER BY one.next_attempt_at, one.id LIMIT 1)
         FROM webhook_endpoint JOIN tenant ON tenant.id = webhook_endpoint.tenant_id WHERE tenant.suspended_at IS NULL)
       ORDER BY next_attempt_at LIMIT ?`,
    ),
  }
}

export function webhookWriter(database: Connection) {
  const { insert, run } = writing(database)
  const sql = {
    noteSuccess: database.prepare(
      'UPDATE webhook_endpoint SET last_success_at = ?, failures = 0 WHERE id = ?',
    ),
    noteFailure: database.prepare(
      'UPDATE webhook_endpoint SET last_failure_at = ?, last_failure = ?, failures = failures + 1 WHERE id = ?',
    ),
    setProgress: database.prepare<[WebhookProgress & { id: string }]>(
      `UPDATE webhook_delivery SET status = @status, attempts = @attempts, next_attempt_at = @nextAttemptAt,
         last_outcome = @lastOutcome, finished_at = @finishedAt, taken_by = @takenBy WHERE id = @id`,
    ),
    take: database.prepare<
      [{ id: string; attempts: number; now: number; nextAttemptAt: number; takenBy: string }]
    >(
      `UPDATE webhook_delivery SET attempts = attempts + 1, next_attempt_at = @nextAttemptAt, taken_by = @takenBy WHERE id =
         (SELECT id FROM webhook_delivery WHERE id = @id AND attempts = @attempts AND next_attempt_at <= @now
          ${database.skipLocked ?? ''})`,
    ),
    keepPending: database.prepare(
      `UPDATE webhook_delivery SET expires_at = @until
       WHERE tenant_id = @tenantId AND next_attempt_at IS NOT NULL AND expires_at < @until`,
    ),
  }
  return {
    insertWebhookEndpoint: insert(WEBHOOK_ENDPOINT),
    /** Deletes the endpoint with all its deliveries. */
    deleteWebhookEndpoint: run<[id: string]>('DELETE FROM webhook_endpoint WHERE id = ?'),
    /** Counts an event that was dropped because the queue was full. */
    countDroppedWebhook: run<[endpointId: string]>(
      'UPDATE webhook_endpoint SET dropped = dropped + 1 WHERE id = ?',
    ),
    /** @param failure why the attempt failed; null when it was accepted */
    noteWebhookTry: async (endpointId: string, at: number, failure: string | null) =>
      void (failure === null
        ? sql.noteSuccess.run(at, endpointId)
        : sql.noteFailure.run(at, failure, endpointId)),
    insertWebhookDelivery: insert(WEBHOOK_DELIVERY),
    setWebhookProgress: async (id: string, progress: WebhookProgress) =>
      void sql.setProgress.run({ takenBy: null, ...progress, id }),
    /**
     * Takes a delivery that was due when it was read, and counts the attempt.
     * @returns false where it is no longer due, or another transaction is changing it
     */
    takeWebhook: async (
      { id, attempts }: Pick<WebhookDeliveryRecord, 'id' | 'attempts'>,
      now: number,
      { nextAttemptAt, takenBy }: { nextAttemptAt: number; takenBy: string },
    ) => (await sql.take.run({ id, attempts, now, nextAttemptAt, takenBy })).changes === 1,
    /** Makes deliveries due again that senders other than this one have taken, except those that another transaction is changing. */
    releaseWebhooks: run<[sender: string]>(
      `UPDATE webhook_delivery SET next_attempt_at = created_at, taken_by = NULL WHERE id IN
         (SELECT id FROM webhook_delivery WHERE taken_by IS NOT NULL AND taken_by <> ? AND next_attempt_at IS NOT NULL
          ${database.skipLocked ?? ''})`,
    ),
    /** Extends the life of waiting deliveries that would be deleted before `until`. */
    keepPendingWebhooks: async (tenantId: string, until: number) =>
      void sql.keepPending.run({ tenantId, until }),
    /** Deletes the body of the delivery. */
    forgetWebhookBody: run<[id: string]>('UPDATE webhook_delivery SET sealed = NULL WHERE id = ?'),
  }
}
