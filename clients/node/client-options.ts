/** Options of the client and of its calls, and the checks that refuse options that cannot work. */
import type { Hooks } from './observer.js'
import type { ReplayStore } from './replay-store.js'
import type { SigningSecretSource } from './signing-secret.js'
import type { Environment } from './types.js'

/** Options of `new Countersign(…)`. */
export interface CountersignOptions extends Hooks {
  /** The API key, `svc-prod-…` or `svc-sbx-…`. It decides the environment. */
  apiKey: string
  /** Address of the API of the key's environment, such as `https://countersign.example.com/v1`. */
  baseUrl: string
  /**
   * The signing secret: `{ id: 'sec_…', secret: 'svc-sec-…' }` or `sec_…:svc-sec-…`; during a rotation a list of both; or a function
   * that reads them before each use.
   */
  signingSecret: SigningSecretSource
  /** Id of the tenant, `ten_…`, which verdicts must name; default: the tenant whose signing secret made the verdict. */
  tenantId?: string
  /** Whether the signature of each response is checked (`X-Svc-Signature`); default true. */
  verifyResponses?: boolean
  /**
   * Greatest difference between this machine's clock and the service's, for the times of a verdict; seconds, 0 to 300, default 60. A
   * verdict can be used for as long after its expiry.
   */
  clockToleranceSeconds?: number
  /** Greatest age of the signature of a response or a webhook, and greatest difference of the clocks; seconds, default 300. */
  signatureToleranceSeconds?: number
  /**
   * Largest body of a request in bytes, photos in base64 included; a larger one is refused before it is sent. Set it to the service's
   * COUNTERSIGN_MAX_BODY_BYTES. Default 8,388,608 (8 MiB).
   */
  maxBodyBytes?: number
  /** Time limit of one attempt in milliseconds; default 15,000. The service gives up after 10,000. */
  timeoutMs?: number
  /** Number of retries after a failed attempt; default 2. */
  maxRetries?: number
  /** Longest `Retry-After` that the client waits for, in seconds; default 30. A call that would have to wait longer throws instead. */
  maxRetryAfterSeconds?: number
  /**
   * How long a refused connection is tried again, in seconds; default 10. A call without retries is not tried again.
   */
  connectRetrySeconds?: number
  /**
   * Whether `verifyVerdict` takes production verdicts of a model pack that is not of production grade; default false. For demos, and where
   * those who answer for the service have signed that off.
   */
  acceptEvaluationGrade?: boolean
  /** Where used verdicts are remembered; default: the memory of this object. Several processes must share a store. */
  replayStore?: ReplayStore
  /** Whether `http:` to other hosts than this one is allowed; default false. The key and the photos then travel unencrypted. */
  allowInsecureHttp?: boolean
  /** Used instead of the global `fetch`, for proxies and for tests. */
  fetch?: typeof fetch
  /** The clock, in milliseconds since 1970; default: that of the system. */
  now?: () => number
}

/** Options of one call. */
export interface CallOptions {
  /** Idempotency key of a POST, 1 to 255 printable ASCII characters; default: a new one for each call, which its retries share. */
  idempotencyKey?: string
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Time limit of one attempt of this call, in milliseconds; default: the client's option. */
  timeoutMs?: number
  /** Number of retries of this call after a failed attempt; default: the client's option. */
  maxRetries?: number
  /** Your own id of the request, for the service's log (`X-Request-Id`). */
  requestId?: string
}

export const DEFAULTS = {
  timeoutMs: 15_000,
  maxRetries: 2,
  maxRetryAfterSeconds: 30,
  connectRetrySeconds: 10,
}
const ENVIRONMENTS: Record<string, Environment> = { 'svc-prod-': 'production', 'svc-sbx-': 'sandbox' }
/** Host names of this computer: what is sent there needs no TLS. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** @returns the environment that the key's prefix names @throws TypeError for a text that is no API key */
export function environmentOf(apiKey: string): Environment {
  if (!apiKey) throw new TypeError('apiKey is required (svc-prod-… or svc-sbx-…)')
  const [, prefix = ''] = /^(svc-(?:prod|sbx)-)[0-9A-Za-z]+$/.exec(apiKey) ?? []
  const environment = ENVIRONMENTS[prefix]
  if (!environment) throw new TypeError('apiKey must be svc-prod-… or svc-sbx-…, with nothing around it')
  return environment
}

/** @throws TypeError for a text that is no id of a tenant */
export function assertTenantId(tenantId: string | undefined): void {
  if (tenantId && !/^ten_\w+$/.test(tenantId))
    throw new TypeError(`tenantId is ${JSON.stringify(tenantId)}: it must be ten_…, with nothing around it`)
}

/** @returns the base URL without a final slash @throws TypeError for an address that is no base URL, or would send the key unencrypted */
export function parseBaseUrl(text: string, allowInsecureHttp: boolean): string {
  if (!text) throw new TypeError('baseUrl is required, as in https://countersign.example.com/v1')
  const url = new URL(text)
  if (!/\/v1\/?$/.test(url.pathname) || url.search || url.hash)
    throw new TypeError('baseUrl must end in /v1, as in https://countersign.example.com/v1')
  if (
    url.protocol !== 'https:' &&
    !(url.protocol === 'http:' && (allowInsecureHttp || LOOPBACK.test(url.hostname)))
  )
    throw new TypeError('baseUrl must be https: (allowInsecureHttp: true sends key and photos unencrypted)')
  return url.href.replace(/\/$/, '')
}
