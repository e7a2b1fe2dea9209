/**
 * The connections of one server of node:http: which raw input gets which answer.
 *
 * | Input on the connection | What happens |
 * | --- | --- |
 * | A well-formed HTTP/1.1 request | The handler answers it. |
 * | A request while the one before it has no answer (pipelining) | The connection is cut. |
 * | A request after the last one of its connection (`Connection: close`, a chunked body, a refusal) | It is read and dropped. |
 * | Ambiguous framing, no Host, another version than HTTP/1.1, a target that is no path | 400 `malformed_request`, signed; the connection closes. |
 * | `CONNECT` | 400 `malformed_request`, signed; the connection closes. |
 * | `Expect: 100-continue` | 100 Continue when a handler asks for the body; a refusal before that saves the upload. Other expectations are ignored. |
 * | Bytes that the parser cannot read | 400 `malformed_request`, signed with the last start line that was legible. |
 * | URL and headers above the limit of the listener | 431 `headers_too_large`, signed by the API, as a page where browsers call. |
 * | A head that does not arrive in time | 408 `request_timeout`, signed; nothing where no byte of it has come. |
 * | A body that does not arrive in time, or cannot be parsed | The handler that reads it answers; a handler that does not read it is not disturbed. |
 * | The rest of a body whose request has its answer | It is read and dropped within the bounds of `lingering.ts`; a parser error in it cuts the connection. |
 * | A hang-up, a reset, a failed handshake, garbage after the last answer | The connection is cut without an answer. |
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { DomainError } from '../../lib/domain-error.js'
import { RequestBody } from '../bodies/request-body.js'
import { acceptQueueDrained } from './accept-queue.js'
import { isLastOfConnection, NO_HEADERS, type RequestHeaders, readHeaders } from './framing.js'
import { InFlight } from './in-flight.js'
import { LingeringBodies } from './lingering.js'
import {
  BARE_FAILURE,
  type ClientCertificate,
  type IncomingRequest,
  type ListenerOptions,
  type Reply,
} from './listener.js'
import { ILLEGIBLE, type ParserError, refusalOf, type StartLine, startLineOf } from './malformed-request.js'
import { awaitRest, NodeExchange } from './node-exchange.js'
import { peerAddress } from './peer-address.js'

/** Interval at which a retired server checks whether its connections have ended. */
const POLL_MS = 50

/** State of one connection. It has one exchange at a time, as with uWebSockets.js, and none after the last. */
interface Connection {
  remoteAddress: string
  clientCertificate: ClientCertificate | null
  exchange: NodeExchange | null
  message: IncomingMessage | null
  body: RequestBody | null
  /** Set with the last request: what comes after it is read, so that the answer arrives, and dropped. */
  isLast: boolean
}

export class NodeServer {
  private readonly inFlight = new InFlight()
  private readonly lingering = new LingeringBodies()
  /** TCP sockets, also those whose TLS handshake is not finished. */
  private readonly sockets = new Set<Socket>()
  private readonly connections = new WeakMap<Socket, Connection>()
  /** Connections accepted since the start. */
  private accepted = 0
  private isRetired = false

  constructor(
    private readonly server: Server,
    private readonly options: ListenerOptions,
  ) {
    server.maxConnections = options.limits.maxConnections
    server.on('connection', (socket: Socket) => {
      this.accepted++
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
    server.on('request', (message, response) => this.receive(message, response, false))
    server.on('checkContinue', (message, response) => this.receive(message, response, true))
    server.on('checkExpectation', (message, response) => this.receive(message, response, false))
    server.on('connect', ({ method = '', url = '' }, socket) => {
      // Node hands the socket over with this event: an error without a listener would end the process.
      socket.on('error', () => {}).resume()
      this.refuse(socket as Socket, new DomainError('malformed_request'), { method, target: url })
    })
    server.on('clientError', (error: ParserError, socket) => this.onClientError(error, socket as Socket))
  }

  /** Accepts no more connections, and resolves when those that are open have ended. */
  async retire(): Promise<void> {
    await acceptQueueDrained(() => this.accepted)
    this.isRetired = true
    NetServer.prototype.close.call(this.server)
    while (this.sockets.size > 0) await sleep(POLL_MS)
  }

  async close(patienceMs: number): Promise<void> {
    // `close` of http.Server would also cut idle connections, with the requests that are on their way in.
    NetServer.prototype.close.call(this.server)
    await this.inFlight.drained(patienceMs)
    for (const socket of this.sockets) socket.destroy()
    // Ends the timer of http.Server. Its error says that the server no longer listens, which is known.
    this.server.close(() => {})
  }

  private connectionOf(socket: Socket): Connection {
    let connection = this.connections.get(socket)
    if (!connection) {
      connection = {
        remoteAddress: peerAddress(socket.remoteAddress ?? ''),
        clientCertificate: certificateOf(socket),
        exchange: null,
        message: null,
        body: null,
        isLast: false,
      }
      this.connections.set(socket, connection)
    }
    return connection
  }

  private receive(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const { socket } = message
    const connection = this.connectionOf(socket)
    if (connection.isLast) return void message.resume()
    // One connection with pipelining could hold any number of requests in memory.
    if (connection.exchange?.isOpen) return void socket.destroy()
    const headers = legibleHeaders(message)
    const method = message.method!
    const target = message.url!
    const isHttp11 = message.httpVersion === '1.1'
    if (headers === null || !isHttp11 || !target.startsWith('/')) {
      message.resume()
      this.refuse(socket, new DomainError('malformed_request'), isHttp11 ? { method, target } : ILLEGIBLE)
      return
    }
    let isContinued = !awaitsContinue
    const body = new RequestBody(headers, this.options.maxBodyBytes, this.options.bodies, () => {
      if (!isContinued) response.writeContinue()
      isContinued = true
      message.on('data', (chunk: Buffer) => body.push(chunk))
      message.on('end', () => message.complete && body.end())
    })
    const exchange = new NodeExchange(socket, response, method === 'HEAD', this.lingering)
    connection.exchange = exchange
    connection.message = message
    connection.body = body
    connection.isLast = isLastOfConnection(headers)
    const request = this.request(connection, exchange, { method, target }, headers, body)
    // Without 100 Continue the caller may or may not send the body: where the next request begins is not certain.
    this.serve(request, connection, exchange, body, () => !isContinued)
  }

  /** Node's parser cannot go on, or one of its time limits has passed. */
  private onClientError(error: ParserError, socket: Socket): void {
    const connection = this.connectionOf(socket)
    const { exchange, message, body } = connection
    const refusal = refusalOf(error)
    // Bytes after the last answer are being dropped.
    if (connection.isLast && !exchange?.isOpen) return
    if (!refusal || !socket.writable || socket.bytesRead === 0) return void socket.destroy()
    // The error is in the rest of a body whose request has its answer.
    if (message && !message.complete && !exchange?.isOpen) return void socket.destroy()
    if (exchange?.isOpen) {
      connection.isLast = true
      // A handler that reads the body answers with the refusal; the answer of one that does not is unchanged.
      body?.fail(refusal)
      return
    }
    this.refuse(socket, refusal, startLineOf(error))
  }

  private refuse(socket: Socket, malformed: DomainError, line: StartLine): void {
    const connection = this.connectionOf(socket)
    const exchange = new NodeExchange(socket, null, line.method === 'HEAD', this.lingering)
    const body = new RequestBody(NO_HEADERS, 0, this.options.bodies)
    connection.exchange = exchange
    connection.body = body
    connection.isLast = true
    const request = this.request(connection, exchange, line, NO_HEADERS, body)
    this.serve({ ...request, malformed }, connection, exchange, body, () => true)
  }

  private request(
    { remoteAddress, clientCertificate }: Connection,
    exchange: NodeExchange,
    { method, target }: StartLine,
    headers: RequestHeaders,
    body: RequestBody,
  ): IncomingRequest {
    const mark = target.indexOf('?')
    return {
      method,
      path: mark < 0 ? target : target.slice(0, mark),
      query: mark < 0 ? '' : target.slice(mark + 1),
      headers,
      remoteAddress,
      clientCertificate,
      encrypted: this.options.tls !== undefined,
      get signal() {
        return exchange.signal
      },
      body: (deadlineMs, limitBytes, owner) => body.read(deadlineMs, limitBytes, owner),
    }
  }

  private serve(
    request: IncomingRequest,
    connection: Connection,
    exchange: NodeExchange,
    body: RequestBody,
    mustClose: () => boolean,
  ): void {
    this.inFlight.begin()
    exchange.onDone = () => {
      this.inFlight.end()
      body.abort()
    }
    const answer = (reply: Reply) => {
      connection.isLast ||= (reply.close ?? false) || this.isRetired || body.isOverdue || mustClose()
      // ServerResponse would close the connection with the answer, unread bytes or not.
      connection.isLast ||= body.isUnderWay && /\bclose\b/i.test(request.headers.connection ?? '')
      exchange.reply(reply, connection.isLast)
      body.release()
      if (connection.message && !connection.isLast) awaitRest(connection.message, this.lingering)
      // Node sends what was written at the end of this turn of the event loop.
      if (reply.afterwards) setImmediate(reply.afterwards)
    }
    const handled = async () => this.options.handler(request)
    handled().then(answer, () => answer(BARE_FAILURE))
  }
}

/** Null where the caller was not asked for a certificate, showed none, or showed one of an unknown authority. */
function certificateOf(socket: Socket): ClientCertificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null
  const { raw, fingerprint256, subject } = socket.getPeerCertificate()
  // A resumed connection counts as authorized, also where no certificate was shown.
  if (!raw) return null
  const name: unknown = subject?.CN
  return {
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    commonName: typeof name === 'string' ? name : null,
  }
}

/** Reads `rawHeaders`, since `message.headers` leaves out repeats of some headers. */
function legibleHeaders({ rawHeaders }: IncomingMessage): RequestHeaders | null {
  return readHeaders((add) => {
    for (let i = 0; i < rawHeaders.length; i += 2)
      add(rawHeaders[i]!.toLowerCase(), decoded(rawHeaders[i + 1]!))
  })
}

/** Node reads header values as Latin-1, uWebSockets.js as UTF-8. In a URL, Node accepts ASCII only. */
function decoded(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text
}
