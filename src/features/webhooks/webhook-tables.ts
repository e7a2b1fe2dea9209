/** The tables of webhooks with their statements: endpoints, and the deliveries that wait or were sent. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import { blindIndex, bytes, declareTable, environment, integer, type Row, text } from '../../storage/table.js'

export const WEBHOOK_ENDPOINT = declareTable({
  name: 'webhook_endpoint',
  columns: {
    id: text,
    tenantId: text.with('REFERENCES tenant (id) ON DELETE CASCADE'),
    environment,
    url: text,
    /** Event types, separated by commas; empty for all. */
    events: text,
    createdAt: integer,
    /** Number of events that were dropped because too many were waiting. */
    dropped: integer,
    /** When a delivery was last accepted; null before the first. */
    lastSuccessAt: integer.orNull,
    /** When a delivery last failed; null before the first. */
    lastFailureAt: integer.orNull,
    /** HTTP status of the last failure, or why there was no answer; null before the first. */
    lastFailure: text.orNull,
    /** Number of failed deliveries since the last accepted one. */
    failures: integer.with('DEFAULT 0'),
  },
  key: ['id'],
  indexes: {
    webhook_endpoint_of_tenant: '(tenant_id, created_at)',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  sealedUnder: 'nothing',
})
export type WebhookEndpointRecord = Row<typeof WEBHOOK_ENDPOINT>

export const WEBHOOK_DELIVERY = declareTable({
  name: 'webhook_delivery',
  columns: {
    id: text,
    eventId: text,
    endpointId: text.with('REFERENCES webhook_endpoint (id) ON DELETE CASCADE'),
    tenantId: text,
    type: text,
    /** Blind index of the user whose erasure deletes the body; null for none. */
    blindIndex: blindIndex.orNull,
    /** The subject whose data key sealed it; null for the service's own key. */
    subjectId: text.orNull,
    /** The body; null once it is not needed any more. */
    sealed: bytes.orNull,
    status: text.oneOf('pending', 'delivered', 'failed', 'erased'),
    attempts: integer,
    /** When the next delivery is due; null unless the delivery is pending. */
    nextAttemptAt: integer.orNull,
    /** HTTP status of the last attempt, or why there was no answer; null before the first. */
    lastOutcome: text.orNull,
    /** Id of the sender that is delivering it now; null for none. */
    takenBy: text.orNull,
    createdAt: integer,
    finishedAt: integer.orNull,
    expiresAt: integer,
  },
  key: ['id'],
  constraints: ["CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))"],
  indexes: {
    webhook_delivery_due: '(endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL',
    webhook_delivery_taken: { postgres: '(taken_by) WHERE taken_by IS NOT NULL' },
    webhook_delivery_of_tenant: '(tenant_id, created_at)',
    webhook_delivery_lookup: '(lookup) WHERE lookup IS NOT NULL',
    webhook_delivery_expires_at: '(expires_at)',
  },
  // The delivery stays, without what it says.
  atErasure: {
    set: `sealed = NULL, next_attempt_at = NULL, lookup = NULL, subject_id = NULL,
      status = CASE status WHEN 'pending' THEN 'erased' ELSE status END`,
    where: 'lookup = @lookup',
  },
  atTenantEnd: 'kept',
  expires: {
    at: 'expiresAt', // Deliveries to a suspended tenant wait for its return.
    when: '(next_attempt_at IS NULL OR tenant_id NOT IN (SELECT id FROM tenant WHERE suspended_at IS NOT NULL))',
  },
  atBackup: `UPDATE webhook_delivery SET sealed = NULL, next_attempt_at = NULL,
    status = CASE status WHEN 'pending' THEN 'erased' ELSE status END WHERE subject_id IS NULL AND sealed IS NOT NULL`,
  sealedUnder: { key: 'idempotency', column: 'sealed', when: 'subject_id IS NULL AND sealed IS NOT NULL' },
})
export type WebhookDeliveryRecord = Row<typeof WEBHOOK_DELIVERY>

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
    endpointsOf: endpoints.rows<[tenantId: string]>('WHERE tenant_id = ? ORDER BY created_at, id'),
    endpoint: endpoints.row<[id: string]>('WHERE id = ?'),
    /** Deliveries before the given one, newest first, optionally of one status. */
    deliveriesOf: async (tenantId: string, limit: number, { status, before = NEWEST }: DeliveryFilter = {}) =>
      page({ tenantId, limit, status: status ?? null, createdAt: before.createdAt, id: before.id }),
    delivery: deliveries.row<[id: string]>('WHERE id = ?'),
    /** Number of deliveries of an endpoint that wait. */
    countPending: count<[endpointId: string]>(
      'FROM webhook_delivery WHERE endpoint_id = ? AND next_attempt_at IS NOT NULL',
    ),
    /**
     * The delivery of each endpoint that has been due longest, of several that were due at once the first made; the longest due first, and
     * none of a suspended tenant.
     */
    due: deliveries.rows<[now: number, limit: number]>(
      `WHERE id IN (
         SELECT (SELECT one.id FROM webhook_delivery AS one WHERE one.endpoint_id = webhook_endpoint.id
           AND one.next_attempt_at <= ? ORDER BY one.next_attempt_at, one.id LIMIT 1)
         FROM webhook_endpoint JOIN tenant ON tenant.id = webhook_endpoint.tenant_id WHERE tenant.suspended_at IS NULL)
       ORDER BY next_attempt_at LIMIT ?`,
    ),
  }
}

export function webhookWriter(database: Connection) {
  const { insert, run, hits } = writing(database)
  const setProgress = run<[WebhookProgress & { id: string }]>(
    `UPDATE webhook_delivery SET status = @status, attempts = @attempts, next_attempt_at = @nextAttemptAt,
       last_outcome = @lastOutcome, finished_at = @finishedAt, taken_by = @takenBy WHERE id = @id`,
  )
  return {
    ...webhookReader(database),
    insertEndpoint: insert(WEBHOOK_ENDPOINT),
    /** Deletes the endpoint with all its deliveries. */
    deleteEndpoint: run<[id: string]>('DELETE FROM webhook_endpoint WHERE id = ?'),
    countDropped: run<[endpointId: string]>('UPDATE webhook_endpoint SET dropped = dropped + 1 WHERE id = ?'),
    noteSuccess: run<[at: number, endpointId: string]>(
      'UPDATE webhook_endpoint SET last_success_at = ?, failures = 0 WHERE id = ?',
    ),
    noteFailure: run<[at: number, failure: string, endpointId: string]>(
      'UPDATE webhook_endpoint SET last_failure_at = ?, last_failure = ?, failures = failures + 1 WHERE id = ?',
    ),
    insertDelivery: insert(WEBHOOK_DELIVERY),
    setProgress: (id: string, progress: WebhookProgress) => setProgress({ takenBy: null, ...progress, id }),
    /**
     * Takes a delivery that was due when it was read, and counts the attempt.
     * @returns false where it is no longer due, or another transaction is changing it
     */
    take: hits<[{ id: string; attempts: number; now: number; nextAttemptAt: number; takenBy: string }]>(
      `UPDATE webhook_delivery SET attempts = attempts + 1, next_attempt_at = @nextAttemptAt, taken_by = @takenBy WHERE id =
         (SELECT id FROM webhook_delivery WHERE id = @id AND attempts = @attempts AND next_attempt_at <= @now
          ${database.skipLocked ?? ''})`,
    ),
    /** Makes deliveries due again that senders other than this one have taken, except those that another transaction is changing. */
    release: run<[sender: string]>(
      `UPDATE webhook_delivery SET next_attempt_at = created_at, taken_by = NULL WHERE id IN
         (SELECT id FROM webhook_delivery WHERE taken_by IS NOT NULL AND taken_by <> ? AND next_attempt_at IS NOT NULL
          ${database.skipLocked ?? ''})`,
    ),
    /** Extends the life of waiting deliveries that would be deleted before `until`. */
    keepPending: run<[{ tenantId: string; until: number }]>(
      `UPDATE webhook_delivery SET expires_at = @until
       WHERE tenant_id = @tenantId AND next_attempt_at IS NOT NULL AND expires_at < @until`,
    ),
    forgetBody: run<[id: string]>('UPDATE webhook_delivery SET sealed = NULL WHERE id = ?'),
  }
}
