/** The signature on every response: HMAC-SHA256 over the response and the request that it answers. */
import { createHmac } from 'node:crypto'

export interface SigningSecret {
  /** Key id, the `kid` of signatures and JWTs. */
  id: string
  /** The secret as the customer holds it; its UTF-8 bytes are the HMAC key. */
  secret: string | Buffer
}

export interface SignedParts {
  /** Unix seconds. */
  timestamp: number
  requestId: string
  status: number
  method: string
  /** Path with query, exactly as on the request line. */
  target: string
  /** The body bytes as sent. */
  body: string | Uint8Array
}

export const SIGNATURE_HEADER = 'X-Svc-Signature'

/** `t=…,kid=…,v1=…`, with one kid,v1 pair a secret, so that a backend holding either can check the response. */
export function signResponse(parts: SignedParts, secrets: SigningSecret[]): string {
  const { timestamp, requestId, status, method, target, body } = parts
  const head = `v1:${timestamp}:${requestId}:${status}:${method}:${target}:`
  let header = `t=${timestamp}`
  for (const { id, secret } of secrets)
    header += `,kid=${id},v1=${createHmac('sha256', secret).update(head).update(body).digest('hex')}`
  return header
}
