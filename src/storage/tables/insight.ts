/** Counts of verifications and requests, and the request log. */
import { DAY_MS, HOUR_MS } from '../../lib/clock.js'
import { declareTable, environment, integer, ofTenant, type Row, real, text } from '../table.js'

/** Counted requests of a tenant within one interval, without users. */
export const TRAFFIC = declareTable({
  name: 'traffic',
  columns: {
    tenantId: text.with('REFERENCES tenant (id) ON DELETE CASCADE'),
    resolution: text.oneOf('minute', 'hour'),
    /** Start of the interval. */
    at: integer,
    /** JSON of the counts. */
    counts: text,
  },
  key: ['tenantId', 'resolution', 'at'],
  indexes: {
    traffic_at: '(resolution, at)',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: [
    { at: 'at', keptMs: 2 * HOUR_MS, when: "resolution = 'minute'" },
    { at: 'at', keptMs: 8 * DAY_MS, when: "resolution = 'hour'" },
  ],
  isCopied: true,
  sealedUnder: 'nothing',
})
export type TrafficRecord = Row<typeof TRAFFIC>
/** Length of a counted interval of traffic. */
export type TrafficResolution = TrafficRecord['resolution']

/** Verifies of a tenant with one model within a quarter of a day, as histograms without users. */
export const DRIFT = declareTable({
  name: 'drift',
  columns: {
    tenantId: ofTenant,
    /** Id of the model pack that judged them. */
    model: text,
    /** Start of the quarter of a day. */
    at: integer,
    /** JSON of the counts. */
    counts: text,
    /** JSON of the newest verifies in blocks; null in all rows but the newest of the tenant and model. */
    blocks: text.orNull,
  },
  key: ['tenantId', 'model', 'at'],
  indexes: {
    drift_at: '(at)',
    drift_newest: '(tenant_id, model) WHERE blocks IS NOT NULL',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: { at: 'at', keptMs: 100 * DAY_MS },
  isCopied: true,
  sealedUnder: 'nothing',
})
export type DriftRecord = Row<typeof DRIFT>

/** The request log of the last days, in both environments. Old requests end by their id, which begins with their time. */
export const REQUEST = declareTable({
  name: 'request_log',
  columns: {
    /** UUIDv7: entries sort by it in the order in which requests came. */
    requestId: text,
    tenantId: ofTenant,
    environment,
    endpoint: text,
    status: integer,
    /** Error code, or the reason of a rejection; null where neither is. */
    code: text.orNull,
    verdict: text.oneOf('approved', 'rejected').orNull,
    /** 1 when the answer was kept from an earlier request, else 0. */
    isReplay: integer,
    durationMs: real,
    /** Id of the API key. */
    keyId: text.orNull,
    /** Address of the caller; null for a request of the hosted capture page. */
    address: text.orNull,
    /** The caller's own `X-Request-Id`. */
    clientRequestId: text.orNull,
    verificationId: text.orNull,
    /** Pseudonym of the user. In production it is the audit log's, which erasure makes unlinkable. */
    subject: text.orNull,
    /** User id, in the sandbox only: sealed, in base64; deleted by erasure. */
    sandboxUser: text.orNull,
  },
  key: ['requestId'],
  indexes: {
    request_log_of_tenant: '(tenant_id, environment, request_id)',
    request_log_code: '(tenant_id, environment, code, request_id) WHERE code IS NOT NULL',
    request_log_subject: '(subject, request_id) WHERE subject IS NOT NULL',
    request_log_verification: '(verification_id) WHERE verification_id IS NOT NULL',
    request_log_client: '(client_request_id) WHERE client_request_id IS NOT NULL',
  },
  // Users of the sandbox are named by their blind index, which is forgotten; those of production by a pseudonym that is lost with their key.
  atErasure: { set: 'subject = NULL, sandbox_user = NULL', where: 'subject = @hex' },
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'own key',
})
export type RequestRecord = Row<typeof REQUEST>
