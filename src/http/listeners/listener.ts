/**
 * What an HTTP listener takes and gives, whichever transport serves it: requests come in bounded and checked, replies go out
 * whole. Knows neither tenants nor biometrics, and importing it loads no transport.
 */

import type { ListenAddress } from '../../config/config.js'
import type { DomainError } from '../../lib/domain-error.js'
import { CodedError } from '../../lib/errors.js'
import type { BodyQuota } from '../bodies/body-budget.js'
import { examineTls, type TlsFiles } from './tls-files.js'

export interface ClientCertificate {
  /** SHA-256 of the certificate, 64 hexadecimal digits in lower case. */
  fingerprint: string
  /** Common name of its subject; null where it has none, or several. */
  commonName: string | null
}

export interface IncomingRequest {
  /** As sent, in its own case. */
  method: string
  /** Without query, not percent-decoded. */
  path: string
  /** Without the question mark. */
  query: string
  /** Lower-case names; a repeated header's values are joined by ", ". */
  headers: Readonly<Record<string, string | undefined>>
  /** IPv4 in dotted form, IPv6 written out in full. */
  remoteAddress: string
  encrypted: boolean
  /** Shown by the caller and issued by an authority of the listener; null or undefined where there is none. */
  clientCertificate?: ClientCertificate | null | undefined
  /**
   * Set where what arrived is no request that may be served: it is only to be refused, with this. Method and path are then as
   * far as they were legible, else empty; there are no headers and no body.
   */
  malformed?: DomainError
  /** Aborted when the caller hangs up before the reply. */
  signal: AbortSignal
  /**
   * The whole body; empty for none. Its memory is the listener's, which frees it when the handler is done.
   * @param limitBytes where it is less than the listener's
   * @param owner tenant that sends the body: bounds the memory that one tenant's bodies hold
   * @throws DomainError body_too_large, deadline_exceeded, overloaded, malformed_request, request_timeout
   */
  body(deadlineMs: number, limitBytes?: number, owner?: string): Promise<Buffer>
}

export interface Reply {
  status: number
  headers: Record<string, string>
  /** A stream goes out as fast as the caller reads it; when it fails, the connection is cut, so that nobody takes a part for the whole. */
  body: string | Buffer | AsyncIterable<string>
  /** Closes the connection after the reply: what still arrives on it is not wanted. */
  close?: boolean
  /** Work that the caller need not wait for: runs when the reply is written, or nobody waits for it any more. Must not throw. */
  afterwards?: () => void
}

export interface WholeReply extends Reply {
  body: string | Buffer
}

export function isWhole(body: Reply['body']): body is WholeReply['body'] {
  return typeof body === 'string' || Buffer.isBuffer(body)
}

/** To a request whose handler failed without a reply. */
export const BARE_FAILURE: WholeReply = { status: 500, headers: {}, body: '', close: true }

/** uWebSockets.js has its own, compiled in: docs/http-edge.md, "Limits of a connection". */
export interface ConnectionLimits {
  /** Time for the head of a request, and for a TLS handshake. */
  headMs: number
  /** Time for head and body together. */
  requestMs: number
  /** Time between two requests. */
  idleMs: number
  /** Open connections; one more is closed unanswered. */
  maxConnections: number
}

export interface ListenerOptions {
  address: ListenAddress
  tls?: TlsFiles | undefined
  /** Whether callers are asked for a certificate, or must show one, where `tls` has authorities for them. Default: `none`. */
  clientCertificates?: 'none' | 'request' | 'require' | undefined
  maxBodyBytes: number
  /** Bounds the memory that the bodies of this listener hold together. */
  bodies: BodyQuota
  limits: ConnectionLimits
  /** Other processes listen at the same address, and it is not asked who. Port 0 is nothing to share. */
  sharesPort?: boolean | undefined
  /** Must not throw; when it rejects all the same, the caller gets a bare 500. */
  handler: (request: IncomingRequest) => Promise<Reply>
}

export interface Listener {
  /** Where it listens; the port is the real one when 0 was asked for. */
  readonly address: ListenAddress
  readonly encrypted: boolean
  /**
   * New connections get this certificate; those that are open keep theirs for as long as they last. Only where the listener is
   * encrypted. @throws ListenError, with everything as it was
   */
  renewCertificate(tls: TlsFiles): Promise<void>
  /** Takes no more connections; those that are open end with their next answer, or when they have idled. Resolves when none is left. */
  retire(): Promise<void>
  /** Stops accepting, waits for replies under way (at most `patienceMs`), then closes what is left. */
  close(patienceMs: number): Promise<void>
}

/** The address cannot be had, or the certificate or transport not be used; the message names it. */
export class ListenError extends CodedError<'cannot_listen'> {
  override readonly name = 'ListenError'
  constructor(message: string, options?: { cause?: unknown }) {
    super('cannot_listen', message, options)
  }
}

/** The address cannot be had. */
export class AddressError extends ListenError {
  constructor(
    message: string,
    readonly address: ListenAddress,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }

  /** @param variable of the setting that the address comes from */
  named(variable: string): AddressError {
    const message = `${this.message.replace(/\.$/, '')}. The address is set by ${variable}.`
    return new AddressError(message, this.address, { cause: this.cause })
  }
}

export function addressError({ host, port }: ListenAddress, cause: NodeJS.ErrnoException): AddressError {
  return new AddressError(
    cause.code === 'EADDRINUSE'
      ? `${host}:${port} is in use by another process.`
      : `Cannot listen on ${host}:${port}: ${cause.message}`,
    { host, port },
    { cause },
  )
}

/** In the words of `config check`; what the examination does not see is left to the TLS library. */
export function certificateError(files: TlsFiles, cause: unknown): ListenError {
  const { problems } = examineTls(files, Date.now())
  const message =
    problems.length > 0
      ? problems.join(' ')
      : `The TLS certificate ${files.certFile} and the key ${files.keyFile} cannot be used together: ${(cause as Error).message}.`
  return new ListenError(message, { cause })
}
