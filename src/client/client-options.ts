/** Options of the client and of its calls, and the checks of those that cannot work. */
import type { Hooks } from './observer.js'
import type { ReplayStore } from './replay-store.js'
import type { SigningSecretSource } from './signing-secret.js'
import type { Environment } from './types.js'

export interface CountersignOptions extends Hooks {
  /** `svc-prod-…` or `svc-sbx-…`. */
  apiKey: string
  /** Of the key's environment, such as `https://countersign.example.com/v1`. */
  baseUrl: string
  /** `{ id: 'sec_…', secret: 'svc-sec-…' }` or `sec_…:svc-sec-…`; during a rotation both; or a function that reads them. */
  signingSecret: SigningSecretSource
  /** `ten_…`; `verifyVerdict` needs it. */
  tenantId?: string
  /** Check `X-Svc-Signature`; default true. */
  verifyResponses?: boolean
  /**
   * Greatest difference between this machine's clock and the service's, for the times of a verdict; seconds, 0 to 300, default 60. A
   * verdict can be used for as long after its expiry.
   */
  clockToleranceSeconds?: number
  /** Greatest age of the signature of a response or a webhook, and greatest difference of the clocks; seconds, default 300. */
  signatureToleranceSeconds?: number
  /**
   * Largest body of a request, photos in base64 included; a larger one is refused before it is sent. As the service's
   * COUNTERSIGN_MAX_BODY_BYTES; default 8 MiB (8,388,608).
   */
  maxBodyBytes?: number
  /** Of one try; default 15,000. The service gives up after 10,000. */
  timeoutMs?: number
  /** Default 2. */
  maxRetries?: number
  /** A `Retry-After` beyond it is left to you; default 30. */
  maxRetryAfterSeconds?: number
  /**
   * Take production verdicts of a model pack of evaluation grade in `verifyVerdict`; default false. For demos and trials only: its
   * error rates were not measured on enough people.
   */
  acceptEvaluationGrade?: boolean
  /** Where used verdicts are remembered; default: this object's memory. */
  replayStore?: ReplayStore
  /** Allow `http:` to other hosts than this one; default false. Key and photos then travel in clear. */
  allowInsecureHttp?: boolean
  fetch?: typeof fetch
  /** Milliseconds since 1970; default: the system's clock. */
  now?: () => number
}

export interface CallOptions {
  /** Default: a new one for every call, the same for its retries. */
  idempotencyKey?: string
  signal?: AbortSignal
  timeoutMs?: number
  maxRetries?: number
  /** Your own id of the request, for the service's log. */
  requestId?: string
}

export const DEFAULTS = { timeoutMs: 15_000, maxRetries: 2, maxRetryAfterSeconds: 30 }
const ENVIRONMENTS: Record<string, Environment> = { 'svc-prod-': 'production', 'svc-sbx-': 'sandbox' }
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** @throws TypeError for what is no API key */
export function environmentOf(apiKey: string): Environment {
  if (!apiKey) throw new TypeError('apiKey is required (svc-prod-… or svc-sbx-…)')
  const [, prefix = ''] = /^(svc-(?:prod|sbx)-)[0-9A-Za-z]+$/.exec(apiKey) ?? []
  const environment = ENVIRONMENTS[prefix]
  if (!environment) throw new TypeError('apiKey must be svc-prod-… or svc-sbx-…, with nothing around it')
  return environment
}

/** @throws TypeError for an address that cannot be the base URL, or that would send the key in clear */
export function parseBaseUrl(text: string, allowInsecureHttp: boolean): string {
  if (!text) throw new TypeError('baseUrl is required, as in https://countersign.example.com/v1')
  const url = new URL(text)
  if (!/\/v1\/?$/.test(url.pathname) || url.search || url.hash)
    throw new TypeError('baseUrl must end in /v1, as in https://countersign.example.com/v1')
  if (
    url.protocol !== 'https:' &&
    !(url.protocol === 'http:' && (allowInsecureHttp || LOOPBACK.test(url.hostname)))
  )
    throw new TypeError('baseUrl must be https: (allowInsecureHttp: true sends key and photos in clear)')
  return url.href.replace(/\/$/, '')
}
