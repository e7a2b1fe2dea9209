/** Checks whether a webhook was sent by the service, in this environment, within the last minutes. */
import { SignatureError } from './errors.js'
import { assertSignature, type SignatureOptions, type SignedHead } from './response-signature.js'
import { readSecrets, type SigningSecretSource } from './signing-secret.js'
import type { Environment, WebhookEvent } from './types.js'

/** Headers of a request: those of the Web's `Request`, or of Node's. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

/** Options of `verifyWebhook`. */
export interface WebhookOptions {
  /** The environment whose events are expected; default `production`, so that an event of the sandbox never passes by omission. */
  environment?: Environment | undefined
  /** The time of the check in unix seconds; default: now. */
  now?: number | undefined
  /** Greatest age of the signature, and greatest difference of the clocks, in seconds; default 300. */
  signatureToleranceSeconds?: number | undefined
}

/**
 * Checks a webhook without a client. An event may come more than once, with the same `id` each time.
 * @param body the raw body, not parsed: the signature covers its bytes
 * @returns the event
 * @throws SignatureError such as signature_invalid, signature_expired @throws TypeError for a body that was parsed
 * @example
 * const event = await verifyWebhook(request.headers, await request.text(), 'sec_…:svc-sec-…')
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: Uint8Array | string,
  signingSecret: SigningSecretSource,
  { environment = 'production', now, signatureToleranceSeconds }: WebhookOptions = {},
): Promise<WebhookEvent> {
  // A body that a framework has parsed cannot be checked: its bytes are gone.
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the raw body of the request, bytes or text, and not parsed JSON')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const eventId = headerOf(headers, 'x-svc-webhook-id')
  const options: SignatureOptions = {
    ...(now === undefined ? {} : { now }),
    ...(signatureToleranceSeconds === undefined ? {} : { signatureToleranceSeconds }),
  }
  const headAt: SignedHead = (env, timestamp) => `webhook:v2:${env}:${timestamp}:${eventId}:`
  const secrets = await readSecrets(signingSecret)
  const signature = headerOf(headers, 'x-svc-signature')
  await assertSignature({ signature, environment, headAt, body: bytes }, secrets, options)
  const event = JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
  if (event.id !== eventId)
    throw new SignatureError('response_mismatch', 'The body is of another event than its header says.')
  return event
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : null
}
