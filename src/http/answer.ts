/** The answer to a request before it is signed: what is sent, and what is to be told of it. */

import type { Observed } from '../api/endpoint.js'
import type { ErrorCode } from '../lib/error-codes.js'

export interface Answer {
  status: number
  /** Text already, because this very text is what is kept, signed and replayed. */
  body: string
  headers?: Record<string, string>
  /** Of a refusal. */
  code?: ErrorCode | undefined
  observed?: Observed | undefined
  /** Pseudonym of the user, as the audit log has it. */
  subject?: string | undefined
  verificationId?: string | undefined
  /** Tokens of the rate that the request cost beside its first one. */
  furtherTokens?: number | undefined
  /** Closes the connection: what still arrives on it is not wanted. */
  close?: boolean
}
