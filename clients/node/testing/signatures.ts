/** Signs responses, webhooks and verdicts as the service does. For tests. */
import { acrOf } from '../../../src/contract/acr.js'
import { actionHash } from '../../../src/contract/action-hash.js'
import { SANDBOX_MODEL } from '../../../src/contract/sandbox-rules.js'
import { hmacKey, type SigningSecret } from '../signing-secret.js'
import { TOKEN_TYPE } from '../token-type.js'
import type {
  ActionLike,
  CaptureBinding,
  DisplayedText,
  Environment,
  Liveness,
  ModelGrade,
  ProvenPasskey,
  RejectionReason,
  WebhookEvent,
} from '../types.js'
import { jsonPart, signedToken } from './tokens.js'

/** An answer of the service in memory before it is signed. */
export interface FakeAnswer {
  /** HTTP status. */
  status: number
  /** The body before it becomes JSON. */
  body: object
  /** Further headers. */
  headers?: Record<string, string>
}

/** The request that an answer answers, and the secrets that sign it. */
export interface Answered {
  /** Environment that answers. */
  environment: Environment
  /** HTTP method of the request. */
  method: string
  /** Path with query, beginning with /v1. */
  target: string
  /** `X-Request-Id` of the answer. */
  requestId: string
  /** Milliseconds since 1970. */
  nowMs: number
  /** Each of these secrets signs. Without any, the response has no signature. */
  secrets: readonly SigningSecret[]
}

/**
 * Signs an answer as the service would, for a test of what your application does with answers.
 * @returns a response with body, request id and `X-Svc-Signature`
 * @example
 * const answered = { environment, method: 'GET', target: '/v1/health', requestId: 'r-1', nowMs: Date.now(), secrets: [secret] }
 * const response = await signResponse({ status: 200, body: { status: 'ok' } }, answered)
 */
export async function signResponse(
  { status, body, headers }: FakeAnswer,
  answered: Answered,
): Promise<Response> {
  const { environment, method, target, requestId, nowMs, secrets } = answered
  const text = JSON.stringify(body)
  const timestamp = Math.floor(nowMs / 1000)
  const head = `v2:${environment}:${timestamp}:${requestId}:${status}:${method}:${target}:`
  const signatures = await sign(head + text, secrets)
  return new Response(text, {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Request-Id': requestId,
      ...(secrets.length === 0 ? {} : { 'X-Svc-Signature': `t=${timestamp}${signatures}` }),
      ...headers,
    },
  })
}

/**
 * Signs the body of a webhook as the service would.
 * @param nowMs milliseconds since 1970
 * @returns the headers of the webhook: its id and its signature
 * @example
 * const body = JSON.stringify(event)
 * const headers = await webhookHeaders(event, body, [secret], Date.now())
 */
export async function webhookHeaders(
  { id: eventId, environment }: Pick<WebhookEvent, 'id' | 'environment'>,
  body: string,
  secrets: readonly SigningSecret[],
  nowMs: number,
): Promise<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1000)
  const signatures = await sign(`webhook:v2:${environment}:${timestamp}:${eventId}:${body}`, secrets)
  return { 'x-svc-webhook-id': eventId, 'x-svc-signature': `t=${timestamp}${signatures}` }
}

async function sign(text: string, secrets: readonly SigningSecret[]): Promise<string> {
  const signatures = secrets.map(async ({ id, secret }) => `,kid=${id},v2=${await hmac(secret, text)}`)
  return (await Promise.all(signatures)).join('')
}

/** Facts of a verdict for `signVerdict`. */
export interface FakeVerdict {
  /** The `sub` of the verdict. */
  userId: string
  /** The action that was countersigned. */
  action: ActionLike
  /** Reason of a rejection; default null, which makes an approval. */
  reason?: RejectionReason | null
  /** The text that the person was shown for the action; default: none was shown. */
  display?: DisplayedText | undefined
  /** The session of the hosted page that made the verification, and its binding; default: none, as for any other caller. */
  captureSession?: { id: string; binding: CaptureBinding } | undefined
  /** The nonce that was sent; default: none. */
  nonce?: string | undefined
  /** Similarity of an approval; default 0.9. The JWT of a rejection has none. */
  score?: number | null
  /** Whether the model pack checked liveness; default: the option `checksLiveness`. */
  livenessChecked?: boolean
  /** Whether it was made from the frames of a challenge with turns and nods, as `ACTIVE_ACR` asks for; default false. */
  activeLiveness?: boolean
  /** The whole statement about liveness, instead of `livenessChecked` and `activeLiveness`. */
  liveness?: Liveness
  /** Id of the challenge whose frames were judged; default: none, which stands for photos. */
  challengeId?: string | undefined
  /** Grade of the model pack; default: the option `modelGrade`, or `evaluation` without a `FakeCountersign`. */
  modelGrade?: ModelGrade
  /** The passkey that signed for the action; default: none. */
  passkey?: ProvenPasskey | undefined
  /** Claims of the tenant's policy; default: none, as for a tenant without one. */
  policy?: { policy_hash?: string; policy_rule?: string; approval_id?: string }
  /** Whether the capture was seen before; default false. */
  replaySuspected?: boolean
  /** The `jti`; default: a new id. */
  verificationId?: string
  /** The `txn`; default: a new id. */
  requestId?: string
}

/** The service that issues a verdict. */
export interface FakeIssuer {
  /** Base URL of the environment, the `iss`. */
  issuer: string
  /** Id of the tenant, the `aud`. */
  audience: string
  /** Environment of the verdict. */
  environment: Environment
  /** Milliseconds since 1970. */
  nowMs: number
  /** Lifetime of the verdict in seconds. */
  ttlSeconds: number
  /** The secret that signs. */
  secret: SigningSecret
}

/**
 * Makes the JWT of a verdict without a `FakeCountersign`.
 * @returns the JWT of a verdict
 * @example
 * const issued = { issuer, audience: 'ten_…', environment: 'sandbox', nowMs: Date.now(), ttlSeconds: 300, secret } as const
 * const jwt = await signVerdict({ userId: 'ada', action }, issued)
 */
export async function signVerdict(verdict: FakeVerdict, issued: FakeIssuer): Promise<string> {
  const { userId, action, reason = null, nonce, display, captureSession, passkey, policy } = verdict
  const possession = reason === null ? passkey?.amr : undefined
  const { checked, passed, methods, score: livenessScore } = livenessOf(verdict)
  const issuedAt = Math.floor(issued.nowMs / 1000)
  const claims = {
    iss: issued.issuer,
    aud: issued.audience,
    sub: userId,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + issued.ttlSeconds,
    jti: verdict.verificationId ?? fakeId('ver'),
    txn: verdict.requestId ?? crypto.randomUUID(),
    env: issued.environment,
    verdict: reason === null ? 'approved' : 'rejected',
    ...(reason === null ? {} : { reason }),
    ...(reason === null ? { score: verdict.score ?? 0.9 } : {}),
    fmr: 0.0001,
    fmr_basis: 'measured',
    action,
    action_hash: await actionHash(action),
    ...(display
      ? {
          display_hash: display.hash,
          display_locale: display.locale,
          display_version: display.version,
          ...(display.source === null ? {} : { display_source: display.source }),
        }
      : {}),
    ...(nonce === undefined ? {} : { nonce }),
    ...(captureSession
      ? { capture_session: captureSession.id, capture_binding: captureSession.binding }
      : {}),
    amr: possession ? ['face', possession] : ['face'],
    acr: reason === null ? acrOf(methods, verdict.challengeId !== undefined, possession) : '0',
    liveness: { checked, passed, methods, ...(reason === null ? { score: livenessScore } : {}) },
    ...(verdict.challengeId === undefined ? {} : { challenge_id: verdict.challengeId }),
    ...(passkey ? { passkey_id: passkey.passkey_id } : {}),
    auth_time: issuedAt,
    model: SANDBOX_MODEL,
    model_grade: verdict.modelGrade ?? 'evaluation',
    replay: { suspected: verdict.replaySuspected ?? false },
    ...policy,
  }
  const { id, secret } = issued.secret
  const key = await hmacKey(secret, 'sign')
  const header = { alg: 'HS256', typ: TOKEN_TYPE, ...(id === undefined ? {} : { kid: id }) }
  return signedToken(header, jsonPart(claims), (input) => crypto.subtle.sign('HMAC', key, input))
}

/** The statement of a capture whose liveness was not checked. */
export const UNCHECKED: Liveness = {
  checked: false,
  score: null,
  passed: null,
  methods: [],
  guidance: [],
  findings: [],
}

function livenessOf({ liveness, livenessChecked, activeLiveness, reason = null }: FakeVerdict): Liveness {
  if (liveness) return liveness
  const passed = reason !== 'liveness_failed'
  const active = activeLiveness ? ['active-geometry@1'] : []
  if (!livenessChecked && passed)
    return activeLiveness ? { ...UNCHECKED, checked: true, passed, methods: active } : UNCHECKED
  const methods = [...active, `passive:${SANDBOX_MODEL}`]
  return { ...UNCHECKED, checked: true, score: passed ? 0.99 : 0.02, passed, methods }
}

/**
 * Makes an id for a test.
 * @returns a random id in the form of the service's ids, such as `ver_…`
 * @example
 * const verificationId = fakeId('ver')
 */
export function fakeId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`
}

async function hmac(secret: string, text: string): Promise<string> {
  const signed = new TextEncoder().encode(text)
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(secret, 'sign'), signed))
  return Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
