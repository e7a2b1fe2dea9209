/** Checks whether a webhook was sent by the service, in this environment, within the last minutes. */
import { bytesOf } from './bytes.js'
import { SignatureError } from './errors.js'
import { headerOf, type WebhookHeaders } from './headers.js'
import { assertSignature, type SignatureOptions, type SignedHead } from './response-signature.js'
import { readSecrets, type SigningSecretSource } from './signing-secret.js'
import type { Environment, WebhookEvent } from './types.js'

/** How an object of JSON begins in base64. No JSON begins in this way. */
const BASE64_OBJECT = /^eyJ/

/** Options of `verifyWebhook`. */
export interface WebhookOptions extends SignatureOptions {
  /** The environment whose events are expected; default `production`, so that an event of the sandbox never passes by omission. */
  environment?: Environment | undefined
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
  { environment = 'production', ...options }: WebhookOptions = {},
): Promise<WebhookEvent> {
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError("headers must be the request's headers")
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : bytesOf(body)
  // A body that a framework has parsed cannot be checked: its bytes are gone.
  if (bytes === null)
    throw new TypeError('body must be the raw body of the request, bytes or text, and not parsed JSON')
  const eventId = headerOf(headers, 'x-svc-webhook-id')
  const headAt: SignedHead = (env, timestamp) => `webhook:v2:${env}:${timestamp}:${eventId}:`
  const secrets = await readSecrets(signingSecret)
  const signature = headerOf(headers, 'x-svc-signature')
  const text = new TextDecoder().decode(bytes)
  if (signature !== null && BASE64_OBJECT.test(text))
    throw new SignatureError(
      'signature_invalid',
      'The body is base64, and not the JSON that was signed: decode it first, as a serverless host asks for with isBase64Encoded.',
    )
  await assertSignature({ signature, environment, headAt, body: bytes }, secrets, options)
  const event = JSON.parse(text) as WebhookEvent
  if (event.id !== eventId)
    throw new SignatureError('response_mismatch', 'The body is of another event than its header says.')
  return event
}
