/**
 * The interface of an HTTP listener over either transport: its requests are bounded and checked, its replies are sent whole.
 * This file knows neither tenants nor biometrics, and importing it loads no transport.
 */

import type { ListenAddress } from '../../config/config.js'
import type { DomainError } from '../../lib/domain-error.js'
import { CodedError } from '../../lib/errors.js'
import type { BodyQuota } from '../bodies/body-budget.js'
import { examineTls, type TlsFiles } from './tls-files.js'

export interface ClientCertificate {
  /** SHA-256 of the certificate, 64 hexadecimal digits in lower case. */
  fingerprint: string
  /** Common name of the certificate's subject; null where it has none, or several. */
  commonName: string | null
}

export interface IncomingRequest {
  /** Method as it was sent, case included. */
  method: string
  /** Path without query, not percent-decoded. */
  path: string
  /** Query without the question mark. */
  query: string
  /** Headers by lower-case name; the values of a repeated header are joined by ", ". */
  headers: Readonly<Record<string, string | undefined>>
  /** Address of the peer: IPv4 in dotted form, IPv6 written out in full. */
  remoteAddress: string
  encrypted: boolean
  /** Certificate that the caller showed and an authority of the listener issued; null or undefined where there is none. */
  clientCertificate?: ClientCertificate | null | undefined
  /**
   * The refusal of a request that cannot be served. Method and path then hold what was legible, else they are empty; there are
   * no headers and no body.
   */
  malformed?: DomainError
  /** Aborted when the caller hangs up before the reply. */
  signal: AbortSignal
  /**
   * Reads the whole body, which is empty where there is none. The listener frees its memory when the handler is done.
   * @param limitBytes largest body of the endpoint, where that is less than the listener's limit
   * @param owner tenant that sends the body: bounds the memory that one tenant's bodies hold
   * @throws DomainError body_too_large, deadline_exceeded, overloaded, malformed_request, request_timeout
   */
  body(deadlineMs: number, limitBytes?: number, owner?: string): Promise<Buffer>
}

export interface Reply {
  status: number
  headers: Record<string, string>
  /** Values of `Set-Cookie` where there are several, each of which needs a header of its own. */
  cookies?: readonly string[]
  /** A stream is sent as fast as the caller reads it. When it fails, the connection is cut, so that no caller takes a part for the whole. */
  body: string | Buffer | AsyncIterable<string>
  /** Closes the connection after the reply, and drops bytes that still arrive on it. */
  close?: boolean
  /** Work that runs when the reply is written, or when its caller is gone. Must not throw. */
  afterwards?: () => void
}

export interface WholeReply extends Reply {
  body: string | Buffer
}

export function isWhole(body: Reply['body']): body is WholeReply['body'] {
  return typeof body === 'string' || Buffer.isBuffer(body)
}

/** Reply to a request whose handler failed without a reply. */
export const BARE_FAILURE: WholeReply = { status: 500, headers: {}, body: '', close: true }

/** Limits over node:http. Those of uWebSockets.js are compiled in: docs/internals/http-edge.md, "Limits of a connection". */
export interface ConnectionLimits {
  /** Longest time for the head of a request, and for a TLS handshake. */
  headMs: number
  /** Longest time for head and body together. */
  requestMs: number
  /** Longest time between two requests. */
  idleMs: number
  /** Most open connections; one more is closed without an answer. */
  maxConnections: number
}

export interface ListenerOptions {
  address: ListenAddress
  tls?: TlsFiles | undefined
  /** Whether callers are asked for a certificate, or must show one, where `tls` has authorities for them. Default: `none`. */
  clientCertificates?: 'none' | 'request' | 'require' | undefined
  maxBodyBytes: number
  /** Most bytes of URL and headers; default MAX_HEAD_BYTES. */
  maxHeadBytes?: number | undefined
  /** Bounds the memory that the bodies of this listener hold together. */
  bodies: BodyQuota
  limits: ConnectionLimits
  /** Other processes may listen at the same address. Has no effect with port 0. */
  sharesPort?: boolean | undefined
  /** Answers a request. Where it rejects, which it must not, the caller gets a 500 without body. */
  handler: (request: IncomingRequest) => Promise<Reply>
}

export interface Listener {
  /** Address at which it listens, with the port that the system chose for port 0. */
  readonly address: ListenAddress
  readonly encrypted: boolean
  /**
   * Shows this certificate to new connections; open connections keep theirs. Only for an encrypted listener.
   * @throws ListenError, with nothing changed
   */
  renewCertificate(tls: TlsFiles): Promise<void>
  /** Accepts no more connections; open connections end with their next answer, or when idle. Resolves when none is left. */
  retire(): Promise<void>
  /** Stops accepting connections, waits for replies under way (at most `patienceMs`), then closes the remaining connections. */
  close(patienceMs: number): Promise<void>
}

/** The listener cannot start: the address is in use, or certificate or transport cannot be used. The message names which. */
export class ListenError extends CodedError<'cannot_listen'> {
  constructor(message: string, options?: { cause?: unknown }) {
    super('cannot_listen', message, options)
  }
}

/** The address is in use, or does not exist on this machine. */
export class AddressError extends ListenError {
  constructor(
    message: string,
    readonly address: ListenAddress,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }

  /** @param variable name of the setting that the address comes from */
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

/** Uses the sentences of `config check`, or the message of the TLS library where the check finds nothing. */
export function certificateError(files: TlsFiles, cause: unknown): ListenError {
  const { problems } = examineTls(files, Date.now())
  const message =
    problems.length > 0
      ? problems.join(' ')
      : `The TLS certificate ${files.certFile} and the key ${files.keyFile} cannot be used together: ${(cause as Error).message}.`
  return new ListenError(message, { cause })
}
