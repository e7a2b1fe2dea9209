/** Checks a webhook: did the service say this, in this environment, in the last minutes? */
import { SignatureError } from './errors.js'
import { assertSignature, type SignatureOptions, type SignedHead } from './response-signature.js'
import { readSecrets, type SigningSecretSource } from './signing-secret.js'
import type { Environment, WebhookEvent } from './types.js'

/** As `Request` of the Web has them, or as Node does. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export interface WebhookOptions {
  /** The environment whose events are expected; default `production`, so that an event of the sandbox never passes by omission. */
  environment?: Environment | undefined
  /** Unix seconds; default: now. */
  now?: number | undefined
  /** Greatest age of the signature, and greatest difference of the clocks; default 300. */
  signatureToleranceSeconds?: number | undefined
}

/**
 * The event of a webhook, once its signature holds. An event may come more than once; its `id` is the same each time.
 * @param body the raw body, not parsed: the signature covers its bytes
 * @throws SignatureError
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: Uint8Array | string,
  signingSecret: SigningSecretSource,
  { environment = 'production', now, signatureToleranceSeconds }: WebhookOptions = {},
): Promise<WebhookEvent> {
  // What a framework has parsed already cannot be checked any more.
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
