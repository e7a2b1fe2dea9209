/** Checks `X-Svc-Signature`: HMAC-SHA256 over a response and the request that it answers. */
import { bytesOf } from './bytes.js'
import { signedText } from './clock-tolerance.js'
import { SignatureError } from './errors.js'
import { type HeaderValue, onlyValue } from './headers.js'
import { candidates, hmacKey, notSignedText, type SigningSecret } from './signing-secret.js'
import type { Environment } from './types.js'

/** A response with everything that its signature covers. */
export interface SignedResponse {
  /** The environment that was called: that of the API key. */
  environment: Environment
  /** Header `X-Svc-Signature`, also as a list of one; null where it is absent. */
  signature: HeaderValue | null
  /** Header `X-Request-Id`, also as a list of one; null where it is absent. */
  requestId: HeaderValue | null
  status: number
  method: string
  /** Path with query, as the service sees it: it begins with /v1. */
  target: string
  /** The body bytes as received. */
  body: Uint8Array
}

/** Options of the check of a signature. */
export interface SignatureOptions {
  /** The time of the check in unix seconds; default: now. */
  now?: number | undefined
  /** Greatest age of the signature, and greatest difference of the clocks, in seconds; default 300. */
  signatureToleranceSeconds?: number | undefined
}

export const DEFAULT_SIGNATURE_TOLERANCE_SECONDS = 300

/** Signatures that are checked at most: the service signs with at most two secrets, and a longer list would only cost time. */
const MAX_SIGNATURES = 8

interface Stamp {
  timestamp: number
  signatures: Array<{ kid: string; mac: Uint8Array<ArrayBuffer> }>
}

/**
 * Checks that one of the secrets signed this response, for this environment and request.
 * @throws SignatureError such as signature_invalid, signature_expired, wrong_environment
 * @example
 * const signature = response.headers.get('x-svc-signature')
 * const requestId = response.headers.get('x-request-id')
 * const body = new Uint8Array(await response.arrayBuffer())
 * const signed = { environment, signature, requestId, status: response.status, method: 'POST', target: '/v1/verify', body }
 * await assertResponseSignature(signed, [{ id: 'sec_…', secret: 'svc-sec-…' }])
 */
export async function assertResponseSignature(
  response: SignedResponse,
  secrets: readonly SigningSecret[],
  options: SignatureOptions = {},
): Promise<void> {
  const { environment, status, method, target } = response
  const signature = onlyValue(response.signature, 'x-svc-signature')
  const requestId = onlyValue(response.requestId, 'x-request-id')
  const body = bytesOf(response.body)
  if (body === null) throw new TypeError('body must be the bytes of the response')
  const headAt: SignedHead = (env, timestamp) =>
    `v2:${env}:${timestamp}:${requestId}:${status}:${method}:${target}:`
  await assertSignature({ signature, environment, headAt, body }, secrets, options)
}

/** The signed text before the body, for the time that the signature names (Unix seconds). */
export type SignedHead = (environment: Environment, timestamp: number) => string

export interface Signed {
  signature: string | null
  environment: Environment
  headAt: SignedHead
  body: Uint8Array
}

/** Checks the signature of a response or of a webhook. @throws SignatureError */
export async function assertSignature(
  { signature, environment, headAt, body }: Signed,
  secrets: readonly SigningSecret[],
  options: SignatureOptions = {},
): Promise<void> {
  const {
    now = Date.now() / 1000,
    signatureToleranceSeconds: tolerance = DEFAULT_SIGNATURE_TOLERANCE_SECONDS,
  } = options
  const { timestamp, signatures } = parseSignature(signature)
  const isSignedFor = (env: Environment) => {
    const head = new TextEncoder().encode(headAt(env, timestamp))
    const signed = new Uint8Array(head.length + body.length)
    signed.set(head)
    signed.set(body, head.length)
    return isSigned(signed, signatures, secrets)
  }
  if (!(await isSignedFor(environment))) {
    const other = environment === 'production' ? 'sandbox' : 'production'
    if (await isSignedFor(other))
      throw new SignatureError(
        'wrong_environment',
        `It was signed for the ${other}, and ${environment} is expected: it must not be used. Check the base URL, and what stands between you and the service.`,
      )
    const kids = signatures.map(({ kid }) => kid)
    throw new SignatureError('signature_invalid', notSignedText(kids, secrets))
  }
  // The time may be trusted only after the signature was checked.
  if (Math.abs(now - timestamp) > tolerance)
    throw new SignatureError('signature_expired', signedText(timestamp, now, tolerance))
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: Stamp['signatures'],
  secrets: readonly SigningSecret[],
): Promise<boolean> {
  for (const { kid, mac } of signatures)
    for (const { secret } of candidates(secrets, kid)) {
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', await hmacKey(secret, 'verify'), mac, signed)) return true
    }
  return false
}

/** `t=<unix seconds>,kid=<id>,v2=<hex>`, with a second kid,v2 pair in an overlap. @throws SignatureError */
function parseSignature(header: string | null): Stamp {
  if (!header) throw new SignatureError('signature_missing', 'There is no X-Svc-Signature.')
  const match = /^t=(\d{1,12})((?:,kid=[^,=]{1,255},v2=[0-9a-f]{64})+)$/.exec(header)
  const signatures = [...(match?.[2]?.matchAll(/kid=([^,]+),v2=([0-9a-f]{64})/g) ?? [])].map(
    ([, kid, hex]) => ({ kid: kid!, mac: fromHex(hex!) }),
  )
  if (!match || signatures.length > MAX_SIGNATURES)
    throw new SignatureError('signature_malformed', 'X-Svc-Signature is not of the documented form.')
  return { timestamp: Number(match[1]), signatures }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}
