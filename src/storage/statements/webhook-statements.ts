/** The SQL of webhooks: their endpoints, and the outbox of deliveries. */
import type { Connection } from '../connection.js'
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../records.js'
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../tables/index.js'

interface DeliveryFilter {
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

export type WebhookReader = ReturnType<typeof webhookReader>
export function webhookReader(database: Connection) {
  const endpoint = `SELECT ${WEBHOOK_ENDPOINT.fields} FROM webhook_endpoint`
  const delivery = `SELECT ${WEBHOOK_DELIVERY.fields} FROM webhook_delivery`
  const sql = {
    endpoints: database.prepare<[string], WebhookEndpointRecord>(
      `${endpoint} WHERE tenant_id = ? ORDER BY created_at, id`,
    ),
    endpoint: database.prepare<[string], WebhookEndpointRecord>(`${endpoint} WHERE id = ?`),
    deliveries: database.prepare<
      [{ tenantId: string; limit: number; status: string | null; createdAt: number; id: string }],
      WebhookDeliveryRecord
    >(
      `${delivery} WHERE tenant_id = @tenantId AND (created_at, id) < (@createdAt, @id)
         AND (status = coalesce(@status, status) OR (@status = 'failed' AND status = 'pending' AND last_outcome IS NOT NULL))
         ORDER BY created_at DESC, id DESC LIMIT @limit`,
    ),
    delivery: database.prepare<[string], WebhookDeliveryRecord>(`${delivery} WHERE id = ?`),
    pending: database
      .prepare<[string], number>(
        'SELECT count(*) FROM webhook_delivery WHERE endpoint_id = ? AND next_attempt_at IS NOT NULL',
      )
      .pluck(),
    due: database.prepare<[number, number], WebhookDeliveryRecord>(
      `${delivery} WHERE id IN (
         SELECT (SELECT one.id FROM webhook_delivery AS one WHERE one.endpoint_id = webhook_endpoint.id
           AND one.next_attempt_at <= ? ORDER BY one.next_attempt_at LIMIT 1)
         FROM webhook_endpoint JOIN tenant ON tenant.id = webhook_endpoint.tenant_id WHERE tenant.suspended_at IS NULL)
       ORDER BY next_attempt_at LIMIT ?`,
    ),
  }
  return {
    /** Endpoints of the tenant, oldest first. */
    webhookEndpoints: async (tenantId: string) => sql.endpoints.all(tenantId),
    webhookEndpoint: async (id: string) => sql.endpoint.get(id),
    /** Deliveries before the given one, newest first, optionally of one status. */
    webhookDeliveries: async (
      tenantId: string,
      limit: number,
      { status, before = NEWEST }: DeliveryFilter = {},
    ) =>
      sql.deliveries.all({
        tenantId,
        limit,
        status: status ?? null,
        createdAt: before.createdAt,
        id: before.id,
      }),
    webhookDelivery: async (id: string) => sql.delivery.get(id),
    /** Number of deliveries of an endpoint that wait. */
    pendingWebhooks: async (endpointId: string) => (await sql.pending.get(endpointId))!,
    /** The delivery of each endpoint that has been due longest, the longest due first; none of a suspended tenant. */
    dueWebhooks: async (now: number, limit: number) => sql.due.all(now, limit),
  }
}

export type WebhookWriter = ReturnType<typeof webhookWriter>
export function webhookWriter(database: Connection) {
  const sql = {
    insertEndpoint: database.prepare(WEBHOOK_ENDPOINT.insert),
    deleteEndpoint: database.prepare('DELETE FROM webhook_endpoint WHERE id = ?'),
    countDropped: database.prepare('UPDATE webhook_endpoint SET dropped = dropped + 1 WHERE id = ?'),
    noteSuccess: database.prepare(
      'UPDATE webhook_endpoint SET last_success_at = ?, failures = 0 WHERE id = ?',
    ),
    noteFailure: database.prepare(
      'UPDATE webhook_endpoint SET last_failure_at = ?, last_failure = ?, failures = failures + 1 WHERE id = ?',
    ),
    insertDelivery: database.prepare(WEBHOOK_DELIVERY.insert),
    setProgress: database.prepare<[WebhookProgress & { id: string }]>(
      `UPDATE webhook_delivery SET status = @status, attempts = @attempts, next_attempt_at = @nextAttemptAt,
         last_outcome = @lastOutcome, finished_at = @finishedAt, taken_by = @takenBy WHERE id = @id`,
    ),
    release: database.prepare(
      `UPDATE webhook_delivery SET next_attempt_at = created_at, taken_by = NULL WHERE id IN
         (SELECT id FROM webhook_delivery WHERE taken_by IS NOT NULL AND taken_by <> ? AND next_attempt_at IS NOT NULL
          ${database.skipLocked ?? ''})`,
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
    forgetBody: database.prepare('UPDATE webhook_delivery SET sealed = NULL WHERE id = ?'),
  }
  return {
    insertWebhookEndpoint: async (endpoint: WebhookEndpointRecord) => void sql.insertEndpoint.run(endpoint),
    /** Deletes the endpoint with all its deliveries. */
    deleteWebhookEndpoint: async (id: string) => void sql.deleteEndpoint.run(id),
    /** Counts an event that was dropped because the queue was full. */
    countDroppedWebhook: async (endpointId: string) => void sql.countDropped.run(endpointId),
    /** @param failure why the attempt failed; null when it was accepted */
    noteWebhookTry: async (endpointId: string, at: number, failure: string | null) =>
      void (failure === null
        ? sql.noteSuccess.run(at, endpointId)
        : sql.noteFailure.run(at, failure, endpointId)),
    insertWebhookDelivery: async (delivery: WebhookDeliveryRecord) => void sql.insertDelivery.run(delivery),
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
    releaseWebhooks: async (sender: string) => void sql.release.run(sender),
    /** Extends the life of waiting deliveries that would be deleted before `until`. */
    keepPendingWebhooks: async (tenantId: string, until: number) =>
      void sql.keepPending.run({ tenantId, until }),
    /** Deletes the body of the delivery. */
    forgetWebhookBody: async (id: string) => void sql.forgetBody.run(id),
  }
}
