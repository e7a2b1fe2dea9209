/** Checks signatures and JWTs by the contract with only node:crypto, independently of the product's code. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ApiResponse } from './client.js'

/** @returns ids of the secrets under which the response's signature is valid, for either environment unless one is named */
export function validSignatures(
  response: ApiResponse,
  secrets: Record<string, string>,
  environments = ['production', 'sandbox'],
): string[] {
  const header = response.headers.get('x-svc-signature') ?? ''
  const [stamp, ...pairs] = header.split(',kid=')
  const timestamp = /^t=(\d+)$/.exec(stamp ?? '')?.[1]
  const { method, target } = response.request
  const inputOf = (environment: string) =>
    `v2:${environment}:${timestamp}:${response.headers.get('x-request-id')}:${response.status}:${method}:${target}:${response.text}`
  return pairs
    .map((pair) => /^([^,]+),v2=([0-9a-f]{64})$/.exec(pair))
    .filter((match) => {
      const secret = match && secrets[match[1]!]
      if (!secret) return false
      return environments.some((environment) =>
        timingSafeEqual(
          createHmac('sha256', secret).update(inputOf(environment)).digest(),
          Buffer.from(match[2]!, 'hex'),
        ),
      )
    })
    .map((match) => match![1]!)
}

export interface DecodedJwt {
  header: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into claims freely
  claims: any
  /** The HMAC holds under the secret. */
  valid: boolean
}

export function decodeJwt(token: string, secret: string): DecodedJwt {
  const [header, payload, signature] = token.split('.') as [string, string, string]
  const expected = createHmac('sha256', secret).update(`${header}.${payload}`).digest()
  const actual = Buffer.from(signature, 'base64url')
  return {
    header: JSON.parse(Buffer.from(header, 'base64url').toString()),
    claims: JSON.parse(Buffer.from(payload, 'base64url').toString()),
    valid: actual.length === expected.length && timingSafeEqual(actual, expected),
  }
}
