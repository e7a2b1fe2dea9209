/** The listener of uWebSockets.js. Importing this file loads the addon: only `listen` in transport.ts does. */

import * as uws from 'uWebSockets.js'
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestBody } from '../bodies/request-body.js'
import { acceptQueueDrained } from './accept-queue.js'
import { isLastOfConnection, readHeaders } from './framing.js'
import { freePorts } from './free-port.js'
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

// Its version is nobody's business: this leaves out the header that names it.
const { _cfg: configure } = uws as unknown as { _cfg?: (option: string) => void }
configure?.('silent')

/** Longer than uWebSockets.js keeps a connection without a request. */
const RETIREMENT_MS = 15_000

/** @throws ListenError when the address is in use or the certificate does not load. */
export async function listenOnUws(options: ListenerOptions): Promise<Listener> {
  const { address, tls, sharesPort = false } = options
  // uWebSockets.js binds with SO_REUSEPORT: a second process would silently share the port. To port 0 it does not, and then no
  // second app could share it when the certificate is renewed.
  const isChecked = !sharesPort && (address.port !== 0 || tls)
  const port = isChecked ? (await freePorts([address]))[0]! : address.port
  let door = await Door.open(options, port)
  const retired = new Set<Door>()
  return {
    address: { host: address.host, port: door.port },
    encrypted: tls !== undefined,
    async renewCertificate(files) {
      // A context cannot be exchanged: another app listens beside the old one, which then takes no more connections.
      const next = await Door.open({ ...options, tls: files }, door.port)
      const last = door
      door = next
      retired.add(last)
      await acceptQueueDrained()
      void last.retire().then(() => retired.delete(last))
    },
    async retire() {
      await acceptQueueDrained()
      await door.retire()
    },
    async close(patienceMs) {
      await Promise.all([door, ...retired].map((one) => one.close(patienceMs)))
    },
  }
}

/** One app and its listen socket: what cannot be changed of it lasts as long as its connections. */
class Door {
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
  static async open(options: ListenerOptions, port: number): Promise<Door> {
    const { tls, address } = options
    const app = tls ? secureApp(tls) : uws.App()
    let door: Door | null = null
    // No request comes before the app listens.
    app.any('/*', (res, req) => receive(res, req, options, door!))
    const socket = await new Promise<uws.us_listen_socket>((resolve, reject) => {
      app.listen(address.host, port, (opened) =>
        opened ? resolve(opened) : reject(new ListenError(`Cannot listen on ${address.host}:${port}.`)),
      )
    })
    door = new Door(app, socket)
    return door
  }

  /** Takes no more connections; those that are open end with their next answer, or when they have idled. */
  async retire(): Promise<void> {
    this.isRetired = true
    uws.us_listen_socket_close(this.socket)
    await sleep(RETIREMENT_MS, undefined, { ref: false })
    await this.inFlight.drained(Number.POSITIVE_INFINITY)
    if (!this.isClosed) this.app.close()
    this.isClosed = true
  }

  async close(patienceMs: number): Promise<void> {
    if (!this.isRetired) uws.us_listen_socket_close(this.socket)
    await this.inFlight.drained(patienceMs)
    if (!this.isClosed) this.app.close()
    this.isClosed = true
  }
}

/**
 * An exception in here, or a return before `onAborted` is registered, aborts the process: the first line registers it and
 * everything else is caught.
 */
function receive(res: uws.HttpResponse, req: uws.HttpRequest, options: ListenerOptions, door: Door): void {
  const exchange = new UwsExchange(res, door.lingering)
  res.onAborted(() => exchange.abort())
  try {
    door.inFlight.begin()
    exchange.onDone = () => door.inFlight.end()
    const headers = readHeaders((add) => req.forEach(add))
    if (headers === null) {
      res.close()
      return
    }
    const method = req.getCaseSensitiveMethod()
    const body = new RequestBody(headers, options.maxBodyBytes, options.bodies, () => exchange.resume())
    exchange.body = body
    // Data must be asked for before this function returns.
    if (body.isUnderWay)
      res.onData((chunk, isLast) => {
        body.push(new Uint8Array(chunk))
        if (isLast) body.end()
        else if (!body.isDemanded && !exchange.isLingering) exchange.pause()
        exchange.received(chunk.byteLength, isLast)
      })
    const request: IncomingRequest = {
      method,
      path: req.getUrl(),
      query: req.getQuery() ?? '',
      headers,
      remoteAddress: peerAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1')),
      encrypted: options.tls !== undefined,
      get signal() {
        return exchange.signal
      },
      body: (deadlineMs, limitBytes, owner) => body.read(deadlineMs, limitBytes, owner),
    }
    const isLast = door.isRetired || isLastOfConnection(headers)
    // What is written in the turn of the event loop that brought the request leaves when this function's caller is done.
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
