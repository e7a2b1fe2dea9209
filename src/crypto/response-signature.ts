/** The signature on every response: HMAC-SHA256 over the response and the request that it answers. */
import { createHmac } from 'node:crypto'
import type { Environment } from '../config/config.js'

export interface SigningSecret {
  /** Key id, the `kid` of signatures and JWTs. */
  id: string
  /** The secret as the tenant holds it; its UTF-8 bytes are the HMAC key. */
  secret: string | Buffer
}

export interface SignedParts {
  /**
   * Environment of the listener that answers. One secret signs for both environments: without the environment in the signed
   * text, an answer of the sandbox would pass for one of production.
   */
  environment: Environment
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

/** Header `t=…,kid=…,v2=…`. Each secret adds a kid,v2 pair, so that a backend that holds either secret can check the response. */
export function signResponse(parts: SignedParts, secrets: SigningSecret[]): string {
  const { environment, timestamp, requestId, status, method, target, body } = parts
  const head = `v2:${environment}:${timestamp}:${requestId}:${status}:${method}:${target}:`
  let header = `t=${timestamp}`
  for (const { id, secret } of secrets)
    header += `,kid=${id},v2=${createHmac('sha256', secret).update(head).update(body).digest('hex')}`
  return header
}
