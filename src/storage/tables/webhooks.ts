/** Webhook endpoints and deliveries. */
import { blindIndex, bytes, declareTable, environment, integer, type Row, text } from '../table.js'

/** An endpoint to which the service sends a tenant's webhooks. */
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
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type WebhookEndpointRecord = Row<typeof WEBHOOK_ENDPOINT>

/** The delivery of one event to one endpoint. */
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
  hasRowId: true,
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
  isCopied: true,
  atBackup: `UPDATE webhook_delivery SET sealed = NULL, next_attempt_at = NULL,
    status = CASE status WHEN 'pending' THEN 'erased' ELSE status END WHERE subject_id IS NULL AND sealed IS NOT NULL`,
  sealedUnder: { key: 'idempotency', column: 'sealed', when: 'subject_id IS NULL AND sealed IS NOT NULL' },
})
export type WebhookDeliveryRecord = Row<typeof WEBHOOK_DELIVERY>
