/** The signature of webhooks: HMAC-SHA256 under the tenant's signing secret, over a text that no response signature covers. */
import { createHmac } from 'node:crypto'
import type { Environment } from '../../config/config.js'
import type { SigningSecret } from '../../crypto/response-signature.js'

export interface SignedWebhook {
  /** Environment of the event: an event of the sandbox must not pass for one of production. */
  environment: Environment
  /** Unix seconds. */
  timestamp: number
  eventId: string
  body: Uint8Array
}

/** Header of the same form as that of a response: `t=…,kid=…,v2=…`. Each secret adds a kid,v2 pair. */
export function signWebhook(
  { environment, timestamp, eventId, body }: SignedWebhook,
  secrets: readonly SigningSecret[],
): string {
  // The signed text of a response begins with `v2:`, so neither signature passes for the other.
  const head = `webhook:v2:${environment}:${timestamp}:${eventId}:`
  let header = `t=${timestamp}`
  for (const { id, secret } of secrets)
    header += `,kid=${id},v2=${createHmac('sha256', secret).update(head).update(body).digest('hex')}`
  return header
}
