/** The signature on every webhook: HMAC-SHA256 under the tenant's signing secret, over what no signature of a response covers. */
import { createHmac } from 'node:crypto'
import type { SigningSecret } from './response-signature.js'

export interface SignedWebhook {
  /** Unix seconds. */
  timestamp: number
  eventId: string
  body: Uint8Array
}

/** In the form of a response's: `t=…,kid=…,v1=…`, with one kid,v1 pair a secret. */
export function signWebhook(
  { timestamp, eventId, body }: SignedWebhook,
  secrets: readonly SigningSecret[],
): string {
  // That of a response begins with its version: neither passes for the other.
  const head = `webhook:v1:${timestamp}:${eventId}:`
  let header = `t=${timestamp}`
  for (const { id, secret } of secrets)
    header += `,kid=${id},v1=${createHmac('sha256', secret).update(head).update(body).digest('hex')}`
  return header
}
