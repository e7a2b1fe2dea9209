/** The listener of uWebSockets.js. Importing this file loads the addon: only `listen` in transport.ts does. */

import * as uws from 'uWebSockets.js'
import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../../lib/domain-error.js'
import { RequestBody } from '../bodies/request-body.js'
import { freePorts } from '../free-port.js'
import { acceptQueueDrained } from './accept-queue.js'
import { isLastOfConnection, MAX_HEAD_BYTES, NO_HEADERS, readHeaders } from './framing.js'
import { InFlight } from './in-flight.js'
import { LingeringBodies } from './lingering.js'
import {
  BARE_FAILURE,
  certificateError,
  type IncomingRequest,
  ListenError,
  type Listener,
  type ListenerOptions,
} from './listener.js'
import { peerAddress } from './peer-address.js'
import type { TlsFiles } from './tls-files.js'
import { TLS12_SUITES } from './tls-suites.js'
import { UwsExchange } from './uws-exchange.js'

// Leaves out the header that names the version of uWebSockets.js.
const { _cfg: configure } = uws as unknown as { _cfg?: (option: string) => void }
configure?.('silent')

/** A retired socket closes its app after this time: uWebSockets.js has then closed every connection without a request. */
const RETIREMENT_MS = 15_000

/** @throws ListenError when the address is in use or the certificate does not load. */
export async function listenOnUws(options: ListenerOptions): Promise<Listener> {
  const { address, tls, sharesPort = false } = options
  // uWebSockets.js binds with SO_REUSEPORT: a second process would silently share the port. For port 0 it does not
  // set SO_REUSEPORT; a second app could then not share the port when the certificate is renewed, so a free port is chosen here.
  const isChecked = !sharesPort && (address.port !== 0 || tls)
  const port = isChecked ? (await freePorts([address]))[0]! : address.port
  let listenSocket = await ListenSocket.open(options, port)
  const retired = new Set<ListenSocket>()
  return {
    address: { host: address.host, port: listenSocket.port },
    encrypted: tls !== undefined,
    async renewCertificate(files) {
      // The TLS context of an app cannot be changed: a second app listens at the same port, and the first accepts no more connections.
      const next = await ListenSocket.open({ ...options, tls: files }, listenSocket.port)
      const last = listenSocket
      listenSocket = next
      retired.add(last)
      await acceptQueueDrained()
      void last.retire().then(() => retired.delete(last))
    },
    async retire() {
      await acceptQueueDrained()
      await listenSocket.retire()
    },
    async close(patienceMs) {
      await Promise.all([listenSocket, ...retired].map((one) => one.close(patienceMs)))
    },
  }
}

/** One app of uWebSockets.js with its listen socket. Its certificate lasts as long as its connections. */
class ListenSocket {
  readonly port: number
  readonly inFlight = new InFlight()
  readonly lingering = new LingeringBodies()
  isRetired = false
  private isClosed = false

  private constructor(
    private readonly app: uws.TemplatedApp,
    private readonly socket: uws.us_listen_socket,
  ) {
    this.port = uws.us_socket_local_port(socket as unknown as uws.us_socket)
  }

  /** @throws ListenError */
  static async open(options: ListenerOptions, port: number): Promise<ListenSocket> {
    const { tls, address } = options
    const app = tls ? secureApp(tls) : uws.App()
    let listenSocket: ListenSocket | null = null
    // No request arrives before the app listens.
    app.any('/*', (res, req) => receive(res, req, options, listenSocket!))
    const socket = await new Promise<uws.us_listen_socket>((resolve, reject) => {
      app.listen(address.host, port, (opened) =>
        opened ? resolve(opened) : reject(new ListenError(`Cannot listen on ${address.host}:${port}.`)),
      )
    })
    listenSocket = new ListenSocket(app, socket)
    return listenSocket
  }

  /** Accepts no more connections; open connections end with their next answer, or when idle. */
  async retire(): Promise<void> {
    this.isRetired = true
    uws.us_listen_socket_close(this.socket)
    await sleep(RETIREMENT_MS, undefined, { ref: false })
    await this.close(Number.POSITIVE_INFINITY)
  }

  async close(patienceMs: number): Promise<void> {
    if (!this.isRetired) uws.us_listen_socket_close(this.socket)
    await this.inFlight.drained(patienceMs)
    if (!this.isClosed) this.app.close()
    this.isClosed = true
  }
}

/**
 * Receives a request. An exception in here, or a return before `onAborted` is registered, would abort the process: `onAborted` is
 * registered first, and everything after it is caught.
 */
function receive(
  res: uws.HttpResponse,
  req: uws.HttpRequest,
  options: ListenerOptions,
  listenSocket: ListenSocket,
): void {
  const exchange = new UwsExchange(res, listenSocket.lingering)
  res.onAborted(() => exchange.abort())
  try {
    listenSocket.inFlight.begin()
    exchange.onDone = () => listenSocket.inFlight.end()
    const method = req.getCaseSensitiveMethod()
    const [path, query] = [req.getUrl(), req.getQuery()]
    // The bytes around method, target and headers: " ", "?", " HTTP/1.1\r\n", ": ", "\r\n".
    let headBytes = method.length + path.length + (query?.length ?? -1) + 15
    const headers = readHeaders((add) =>
      req.forEach((name, value) => {
        headBytes += name.length + value.length + 4
        add(name, value)
      }),
    )
    if (headers === null) {
      res.close()
      return
    }
    const isTooLong = headBytes > (options.maxHeadBytes ?? MAX_HEAD_BYTES)
    const body = new RequestBody(headers, options.maxBodyBytes, options.bodies, () => exchange.resume())
    exchange.body = body
    // uWebSockets.js requires `onData` before this function returns.
    if (body.isUnderWay)
      res.onData((chunk, isLast) => {
        body.push(new Uint8Array(chunk))
        if (isLast) body.end()
        else if (!body.isDemanded && !exchange.isLingering) exchange.pause()
        exchange.received(chunk.byteLength, isLast)
      })
    const request: IncomingRequest = {
      method,
      path,
      query: query ?? '',
      headers: isTooLong ? NO_HEADERS : headers,
      ...(isTooLong ? { malformed: new DomainError('headers_too_large') } : {}),
      remoteAddress: peerAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1')),
      encrypted: options.tls !== undefined,
      get signal() {
        return exchange.signal
      },
      body: (deadlineMs, limitBytes, owner) => body.read(deadlineMs, limitBytes, owner),
    }
    const isLast = isTooLong || listenSocket.isRetired || isLastOfConnection(headers)
    // uWebSockets.js sends what is written in this turn of the event loop when the caller of this function is done.
    let isSameTurn = true
    setImmediate(() => {
      isSameTurn = false
    })
    options.handler(request).then(
      (reply) => {
        exchange.reply(isLast ? { ...reply, close: true } : reply, method === 'HEAD')
        body.release()
        const { afterwards } = reply
        if (afterwards && isSameTurn) setImmediate(afterwards)
        else afterwards?.()
      },
      () => {
        exchange.reply(BARE_FAILURE, method === 'HEAD')
        body.release()
      },
    )
  } catch {
    exchange.reply(BARE_FAILURE, false)
  }
}

function secureApp(tls: TlsFiles): uws.TemplatedApp {
  try {
    return uws.SSLApp({
      cert_file_name: tls.certFile,
      key_file_name: tls.keyFile,
      ssl_ciphers: TLS12_SUITES,
    })
  } catch (cause) {
    throw certificateError(tls, cause)
  }
}
