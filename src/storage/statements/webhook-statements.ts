/** The SQL of webhooks: their endpoints, and the outbox of deliveries. */
import type { Connection } from '../connection.js'
import type { WebhookProgress, WebhookReader, WebhookWriter } from '../readers-and-writers/webhook-store.js'
import type { WebhookDeliveryRecord, WebhookEndpointRecord } from '../records.js'
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../tables/index.js'

/** A position after all deliveries. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }

export function webhookReader(database: Connection): WebhookReader {
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
    webhookEndpoints: async (tenantId) => sql.endpoints.all(tenantId),
    webhookEndpoint: async (id) => sql.endpoint.get(id),
    webhookDeliveries: async (tenantId, limit, { status = null, before = NEWEST } = {}) =>
      sql.deliveries.all({ tenantId, limit, status, createdAt: before.createdAt, id: before.id }),
    webhookDelivery: async (id) => sql.delivery.get(id),
    pendingWebhooks: async (endpointId) => (await sql.pending.get(endpointId))!,
    dueWebhooks: async (now, limit) => sql.due.all(now, limit),
  }
}

export function webhookWriter(database: Connection): WebhookWriter {
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
    insertWebhookEndpoint: async (endpoint) => void sql.insertEndpoint.run(endpoint),
    deleteWebhookEndpoint: async (id) => void sql.deleteEndpoint.run(id),
    countDroppedWebhook: async (endpointId) => void sql.countDropped.run(endpointId),
    noteWebhookTry: async (endpointId, at, failure) =>
      void (failure === null
        ? sql.noteSuccess.run(at, endpointId)
        : sql.noteFailure.run(at, failure, endpointId)),
    insertWebhookDelivery: async (delivery) => void sql.insertDelivery.run(delivery),
    setWebhookProgress: async (id, progress) => void sql.setProgress.run({ takenBy: null, ...progress, id }),
    takeWebhook: async ({ id, attempts }, now, { nextAttemptAt, takenBy }) =>
      (await sql.take.run({ id, attempts, now, nextAttemptAt, takenBy })).changes === 1,
    releaseWebhooks: async (sender) => void sql.release.run(sender),
    keepPendingWebhooks: async (tenantId, until) => void sql.keepPending.run({ tenantId, until }),
    forgetWebhookBody: async (id) => void sql.forgetBody.run(id),
  }
}
