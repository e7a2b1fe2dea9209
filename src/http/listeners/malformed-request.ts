/** Turns an error of node:http's parser into a refusal, and finds the start line that the refusal's signature covers. */
import { DomainError } from '../../lib/domain-error.js'

/** Error of node:http's event `clientError`. */
export interface ParserError extends Error {
  code?: string
  /** The bytes that the parser was given, and how many of them it had parsed. */
  rawPacket?: Buffer
  bytesParsed?: number
}

/** The refusal to send, or null where no caller is left: after a hang-up, a reset or a failed handshake. */
export function refusalOf({ code = '' }: ParserError): DomainError | null {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new DomainError('request_timeout')
  if (code === 'HPE_HEADER_OVERFLOW') return new DomainError('headers_too_large')
  return code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE'
    ? new DomainError('malformed_request')
    : null
}

export interface StartLine {
  method: string
  target: string
}

/** Start line of a request without a legible one. */
export const ILLEGIBLE: StartLine = { method: '', target: '' }
const START_LINE = /^(\S{1,32}) (\S{1,8192}) HTTP\/1\.1$/

/**
 * The start line of the request in which the parser failed: the last one before that place, since a packet may hold several
 * requests. The signature of the refusal covers it, so that the caller can check which request was refused.
 */
export function startLineOf({ rawPacket, bytesParsed = 0 }: ParserError): StartLine {
  if (!rawPacket) return ILLEGIBLE
  const end = rawPacket.indexOf('\n', bytesParsed)
  const lines = rawPacket
    .subarray(0, end < 0 ? undefined : end)
    .toString()
    .split(/\r?\n|\r$/)
  for (const line of lines.toReversed()) {
    const [, method, target] = START_LINE.exec(line) ?? []
    if (method !== undefined && target !== undefined) return { method, target }
  }
  return ILLEGIBLE
}
