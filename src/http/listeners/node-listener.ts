/** The listener of node:http and node:https: serves where uWebSockets.js has no binary, by the same rules. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type SecureContextOptions, TLSSocket } from 'node:tls'
import { DomainError } from '../../lib/domain-error.js'
import { RequestBody } from '../bodies/request-body.js'
import { acceptQueueDrained } from './accept-queue.js'
import { isLastOfConnection, type RequestHeaders, readHeaders } from './framing.js'
import { InFlight } from './in-flight.js'
import { LingeringBodies } from './lingering.js'
import {
  addressError,
  BARE_FAILURE,
  type ClientCertificate,
  certificateError,
  type IncomingRequest,
  type Listener,
  type ListenerOptions,
  type Reply,
} from './listener.js'
import { ILLEGIBLE, type ParserError, refusalOf, type StartLine, startLineOf } from './malformed-request.js'
import { awaitRest, NodeExchange } from './node-exchange.js'
import { peerAddress } from './peer-address.js'
import type { TlsFiles } from './tls-files.js'
import { NODE_SUITES } from './tls-suites.js'

/** URL and headers together. That of uWebSockets.js, so that what passes here passes there. */
const MAX_HEAD_BYTES = 4096
/** How often the limits of time are looked at. */
const CHECK_MS = 1000
const POLL_MS = 50

/** @throws ListenError when the address is in use or the certificate does not load. */
export async function listenOnNode(options: ListenerOptions): Promise<Listener> {
  const { address, tls, sharesPort: reusePort = false } = options
  const server = makeServer(options)
  const door = new Door(server, options)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(addressError(address, cause)))
    // The types are those of the oldest Node that is served, which does not know it.
    const where: ListenOptions & { reusePort: boolean } = { ...address, exclusive: true, reusePort }
    server.listen(where, resolve)
  })
  // A connection that could not be accepted, for want of file descriptors: nobody here can tell its caller.
  server.on('error', () => {})
  return {
    address: { host: address.host, port: (server.address() as AddressInfo).port },
    encrypted: tls !== undefined,
    async renewCertificate(files) {
      try {
        ;(server as SecureServer).setSecureContext(readCertificate(files))
      } catch (cause) {
        throw certificateError(files, cause)
      }
    },
    retire: () => door.retire(),
    close: (patienceMs) => door.close(patienceMs),
  }
}

function makeServer({ tls, limits, clientCertificates = 'none' }: ListenerOptions): Server {
  const options = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: CHECK_MS,
    // The rules below refuse it, signed.
    requireHostHeader: false,
    insecureHTTPParser: false,
  }
  if (!tls) return createServer(options)
  try {
    return createSecureServer({
      ...options,
      handshakeTimeout: limits.headMs,
      // One that is shown and not of an authority counts as none, where none is required.
      requestCert: tls.clientCaFile !== undefined && clientCertificates !== 'none',
      rejectUnauthorized: clientCertificates === 'require',
      ...readCertificate(tls),
    })
  } catch (cause) {
    throw certificateError(tls, cause)
  }
}

function readCertificate({ certFile, keyFile, clientCaFile }: TlsFiles): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    ciphers: NODE_SUITES,
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(clientCaFile ? { ca: readFileSync(clientCaFile) } : {}),
  }
}

/** Null where none was asked for or shown, or an authority that is not known issued it. */
function certificateOf(socket: Socket): ClientCertificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null
  const { raw, fingerprint256, subject } = socket.getPeerCertificate()
  // A connection that is resumed counts as authorized, also where no certificate was shown.
  if (!raw) return null
  const name: unknown = subject?.CN
  return {
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    commonName: typeof name === 'string' ? name : null,
  }
}

/** One exchange at a time, as with uWebSockets.js, and none after the last. */
interface Connection {
  remoteAddress: string
  clientCertificate: ClientCertificate | null
  exchange: NodeExchange | null
  message: IncomingMessage | null
  body: RequestBody | null
  /** Set with the last request: what comes after it is read, so that the answer arrives, and dropped. */
  isLast: boolean
}

class Door {
  private readonly inFlight = new InFlight()
  private readonly lingering = new LingeringBodies()
  /** Of TCP, below TLS. */
  private readonly sockets = new Set<Socket>()
  private readonly connections = new WeakMap<Socket, Connection>()
  /** Connections since the start. */
  private taken = 0
  private isRetired = false

  constructor(
    private readonly server: Server,
    private readonly options: ListenerOptions,
  ) {
    server.maxConnections = options.limits.maxConnections
    server.on('connection', (socket: Socket) => {
      this.taken++
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
    server.on('request', (message, response) => this.receive(message, response, false))
    // The body is asked for when somebody reads it: what is refused before is never sent.
    server.on('checkContinue', (message, response) => this.receive(message, response, true))
    // Other expectations are none of ours.
    server.on('checkExpectation', (message, response) => this.receive(message, response, false))
    server.on('connect', ({ method = '', url = '' }, socket) => {
      // From here on the socket is ours alone: unheard, its errors would end the process.
      socket.on('error', () => {}).resume()
      this.refuse(socket as Socket, new DomainError('malformed_request'), { method, target: url })
    })
    server.on('clientError', (error: ParserError, socket) => this.onClientError(error, socket as Socket))
  }

  async retire(): Promise<void> {
    await acceptQueueDrained(() => this.taken)
    this.isRetired = true
    NetServer.prototype.close.call(this.server)
    while (this.sockets.size > 0) await sleep(POLL_MS)
  }

  async close(patienceMs: number): Promise<void> {
    // http.Server's own would also cut idle connections, with the requests that are on their way in.
    NetServer.prototype.close.call(this.server)
    await this.inFlight.drained(patienceMs)
    for (const socket of this.sockets) socket.destroy()
    // Ends its timer; that it no longer listens is no news.
    this.server.close(() => {})
  }

  private connectionOf(socket: Socket): Connection {
    let connection = this.connections.get(socket)
    if (!connection) {
      const remoteAddress = peerAddress(socket.remoteAddress ?? '')
      const clientCertificate = certificateOf(socket)
      connection = {
        ...{ remoteAddress, clientCertificate },
        ...{ exchange: null, message: null, body: null, isLast: false },
      }
      this.connections.set(socket, connection)
    }
    return connection
  }

  private receive(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const { socket } = message
    const connection = this.connectionOf(socket)
    if (connection.isLast) return void message.resume()
    // Pipelined: with more than one request a connection, memory would have no bound.
    if (connection.exchange?.isOpen) return void socket.destroy()
    const headers = legibleHeaders(message)
    const method = message.method!
    const target = message.url!
    const isSpoken = message.httpVersion === '1.1'
    if (headers === null || !isSpoken || !target.startsWith('/')) {
      message.resume()
      this.refuse(socket, new DomainError('malformed_request'), isSpoken ? { method, target } : ILLEGIBLE)
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
    // Whether the body that was not asked for still comes is the caller's to decide, so the next request has no sure place.
    this.serve(request, connection, exchange, body, () => !isContinued)
  }

  /** The parser cannot go on, or the time is over. */
  private onClientError(error: ParserError, socket: Socket): void {
    const connection = this.connectionOf(socket)
    const { exchange, message, body } = connection
    const refusal = refusalOf(error)
    // Of the drain after the last answer nobody is told.
    if (connection.isLast && !exchange?.isOpen) return
    if (!refusal || !socket.writable || socket.bytesRead === 0) return void socket.destroy()
    // In the rest of a body whose request has its answer.
    if (message && !message.complete && !exchange?.isOpen) return void socket.destroy()
    if (exchange?.isOpen) {
      connection.isLast = true
      // Whoever reads the body answers; nobody else's answer is changed by it.
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
      // What is written leaves at the end of this turn of the event loop.
      if (reply.afterwards) setImmediate(reply.afterwards)
    }
    const handled = async () => this.options.handler(request)
    handled().then(answer, () => answer(BARE_FAILURE))
  }
}

const NO_HEADERS: RequestHeaders = Object.freeze(Object.create(null))

/** Not `message.headers`, in which Node leaves out some that come twice. */
function legibleHeaders({ rawHeaders }: IncomingMessage): RequestHeaders | null {
  return readHeaders((add) => {
    for (let i = 0; i < rawHeaders.length; i += 2)
      add(rawHeaders[i]!.toLowerCase(), decoded(rawHeaders[i + 1]!))
  })
}

/** Node reads header values as Latin-1, uWebSockets.js as UTF-8. Of a URL, Node takes ASCII alone. */
function decoded(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text
}
