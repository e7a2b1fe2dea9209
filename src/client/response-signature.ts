/** Checks `X-Svc-Signature`: HMAC-SHA256 over a response and the request that it answers. */
import { SignatureError } from './errors.js'
import { candidates, type SigningSecret } from './signing-secret.js'

export interface SignedResponse {
  /** `X-Svc-Signature`. */
  signature: string | null
  /** `X-Request-Id`. */
  requestId: string | null
  status: number
  method: string
  /** Path with query, as the service sees it: it begins with /v1. */
  target: string
  /** The body bytes as received. */
  body: Uint8Array
}

export interface SignatureOptions {
  /** Unix seconds; default: now. */
  now?: number
  /** Greatest difference of the clocks; default 300. */
  toleranceSeconds?: number
}

export const DEFAULT_TOLERANCE_SECONDS = 300

/** The service signs with two secrets at most; a longer list would only make work. */
const MAX_SIGNATURES = 8

interface Stamp {
  timestamp: number
  signatures: Array<{ kid: string; mac: Uint8Array<ArrayBuffer> }>
}

/** Holds when one of the secrets made one of the signatures. @throws SignatureError */
export async function assertResponseSignature(
  response: SignedResponse,
  secrets: readonly SigningSecret[],
  options: SignatureOptions = {},
): Promise<void> {
  const { signature, requestId, status, method, target, body } = response
  const headAt = (timestamp: number) => `v1:${timestamp}:${requestId}:${status}:${method}:${target}:`
  await assertSignature(signature, headAt, body, secrets, options)
}

/**
 * Of whatever the service signs.
 * @param headAt what is signed before the body, for the time that the signature names @throws SignatureError
 */
export async function assertSignature(
  signature: string | null,
  headAt: (timestamp: number) => string,
  body: Uint8Array,
  secrets: readonly SigningSecret[],
  options: SignatureOptions = {},
): Promise<void> {
  const { now = Date.now() / 1000, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = options
  const { timestamp, signatures } = parseSignature(signature)
  const head = new TextEncoder().encode(headAt(timestamp))
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  if (!(await isSigned(signed, signatures, secrets))) {
    const kids = signatures.map(({ kid }) => kid).join(', ')
    throw new SignatureError('signature_invalid', `No configured secret made this signature (kid ${kids}).`)
  }
  // Only now is the time known to be the service's.
  if (Math.abs(now - timestamp) > toleranceSeconds)
    throw new SignatureError(
      'signature_expired',
      `It was signed ${Math.round(now - timestamp)} s ago; ${toleranceSeconds} s are allowed. Is the clock right?`,
    )
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: Stamp['signatures'],
  secrets: readonly SigningSecret[],
): Promise<boolean> {
  for (const { kid, mac } of signatures)
    for (const { secret } of candidates(secrets, kid)) {
      const algorithm = { name: 'HMAC', hash: 'SHA-256' }
      const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [
        'verify',
      ])
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, mac, signed)) return true
    }
  return false
}

/** `t=<unix seconds>,kid=<id>,v1=<hex>`, with a second kid,v1 pair in an overlap. @throws SignatureError */
function parseSignature(header: string | null): Stamp {
  if (!header) throw new SignatureError('signature_missing', 'There is no X-Svc-Signature.')
  const match = /^t=(\d{1,12})((?:,kid=[^,=]{1,255},v1=[0-9a-f]{64})+)$/.exec(header)
  const signatures = [...(match?.[2]?.matchAll(/kid=([^,]+),v1=([0-9a-f]{64})/g) ?? [])].map(
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
