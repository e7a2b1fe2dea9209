/** What node:http's parser could not read, as a request that is only to be refused. */
import { DomainError } from '../../lib/domain-error.js'

/** The error that node:http gives with `clientError`. */
export interface ParserError extends Error {
  code?: string
  /** The bytes that were being parsed, and how many of them were. */
  rawPacket?: Buffer
  bytesParsed?: number
}

/** How the caller is told, or null where nobody is left to tell: a hang-up, a reset, a failed handshake. */
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

/** Nothing that could be read as one of HTTP/1.1. */
export const ILLEGIBLE: StartLine = { method: '', target: '' }
const START_LINE = /^(\S{1,32}) (\S{1,8192}) HTTP\/1\.1$/

/**
 * The start line of the request that the parser stumbled in: the last one before that place, since a packet may hold several
 * requests. It is what the signature of the refusal says was asked, so that the caller can check it.
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
