/** The listener of uWebSockets.js. Importing this file loads the addon: only `listen` in transport.ts does. */

import * as uws from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:net'
import type { ListenAddress } from '../config.js'
import { isLastOfConnection, oneLine, readHeaders } from './framing.js'
import { InFlight } from './in-flight.js'
import {
  addressError,
  BARE_FAILURE,
  certificateError,
  type IncomingRequest,
  isWhole,
  ListenError,
  type Listener,
  type ListenerOptions,
  type Reply,
} from './listener.js'
import { peerAddress } from './peer-address.js'
import { RequestBody } from './request-body.js'

/** How long the rest of a body may take whose request is answered without it: then the connection is closed with the answer. */
const LINGER_MS = 1000

// Its version is nobody's business: this leaves out the header that names it.
const { _cfg: configure } = uws as unknown as { _cfg?: (option: string) => void }
configure?.('silent')

/** @throws ListenError when the address is in use or the certificate does not load. */
export async function listenOnUws(options: ListenerOptions): Promise<Listener> {
  const { address, tls } = options
  // uWebSockets.js binds with SO_REUSEPORT: a second process would silently share the port.
  if (address.port !== 0) await assertFree(address)
  const app = tls ? secureApp(tls) : uws.App()
  const inFlight = new InFlight()
  app.any('/*', (res, req) => receive(res, req, options, inFlight))
  const socket = await new Promise<uws.us_listen_socket>((resolve, reject) => {
    app.listen(address.host, address.port, (opened) =>
      opened ? resolve(opened) : reject(new ListenError(`Cannot listen on ${address.host}:${address.port}.`)),
    )
  })
  const port = uws.us_socket_local_port(socket as unknown as uws.us_socket)
  return {
    address: { host: address.host, port },
    encrypted: tls !== undefined,
    async close(patienceMs) {
      uws.us_listen_socket_close(socket)
      await inFlight.drained(patienceMs)
      app.close()
    },
  }
}

/**
 * An exception in here, or a return before `onAborted` is registered, aborts the process: the first line registers it and
 * everything else is caught.
 */
function receive(
  res: uws.HttpResponse,
  req: uws.HttpRequest,
  options: ListenerOptions,
  inFlight: InFlight,
): void {
  const exchange = new Exchange(res)
  res.onAborted(() => exchange.abort())
  try {
    inFlight.begin()
    exchange.onDone = () => inFlight.end()
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
        if (isLast) {
          body.end()
          exchange.bodyCame()
        } else if (!body.isDemanded) exchange.pause()
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
      body: (deadlineMs, limitBytes, holder) => body.read(deadlineMs, limitBytes, holder),
    }
    const isLast = isLastOfConnection(headers)
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

/** The life of one response: written once, or aborted by the caller. */
class Exchange {
  onDone: () => void = () => {}
  body: RequestBody | null = null
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private controller: AbortController | null = null
  /** Ends the wait of a stream for its caller. */
  private drained: () => void = () => {}
  /** Ends the wait for the rest of a body that nobody wants. */
  bodyCame: () => void = () => {}
  private isPaused = false

  constructor(private readonly res: uws.HttpResponse) {}

  /** Made on demand: most requests never look. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.state === 'aborted') this.controller.abort()
    return this.controller.signal
  }

  abort(): void {
    if (this.state !== 'open') return
    this.state = 'aborted'
    this.controller?.abort()
    this.drained()
    this.bodyCame()
    this.body?.abort()
    this.onDone()
  }

  /** Leaves the rest of the body in the socket. */
  pause(): void {
    if (this.state !== 'open' || this.isPaused) return
    this.isPaused = true
    this.res.pause()
  }

  resume(): void {
    if (this.state !== 'open' || !this.isPaused) return
    this.isPaused = false
    this.res.resume()
  }

  reply(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    const { body } = this
    this.resume()
    if (body?.isUnderWay && !reply.close && !body.isOverdue)
      return void this.replyAfterBody(body, reply, headOnly)
    const last = body?.isUnderWay ? { ...reply, close: true } : reply
    // Closing inside the handler would let a second request of the same packet run; a turn later, the socket is gone with it.
    if (last.close) setImmediate(() => this.write(last, headOnly))
    else this.write(last, headOnly)
  }

  /**
   * Whoever is still sending a body that is refused unread sends it in vain, but its connection stays: a closed one would reset
   * it, and the answer with it. After the answer, the socket can no longer be closed from here.
   */
  private replyAfterBody(body: RequestBody, reply: Reply, headOnly: boolean): void {
    const answer = () => {
      this.bodyCame = () => {}
      clearTimeout(timer)
      this.reply(body.isUnderWay ? { ...reply, close: true } : reply, headOnly)
    }
    const timer = setTimeout(answer, LINGER_MS)
    this.bodyCame = answer
  }

  private write(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    const { body, close } = reply
    const whole = isWhole(body) ? body : null
    if (!isWhole(body) && !headOnly) return void this.stream(reply, body)
    this.state = 'replied'
    this.res.cork(() => {
      this.writeHead(reply)
      if (!headOnly && whole !== null) this.res.end(whole, close)
      else if (close && whole !== null) this.res.endWithoutBody(Buffer.byteLength(whole), true)
      else {
        // Given any argument, it waits for a body that never comes and cuts the connection at the next request.
        if (whole !== null) this.res.writeHeader('Content-Length', String(Buffer.byteLength(whole)))
        this.res.endWithoutBody()
      }
    })
    this.onDone()
  }

  private writeHead({ status, headers }: Reply): void {
    this.res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
    for (const name in headers) this.res.writeHeader(name, oneLine(headers[name]!))
  }

  private async stream(reply: Reply, chunks: AsyncIterable<string>): Promise<void> {
    const { res } = this
    res.onWritable(() => {
      this.drained()
      return true
    })
    res.cork(() => this.writeHead(reply))
    try {
      for await (const chunk of chunks) {
        if (!this.isOpen) return
        // An empty one would end the body.
        if (chunk === '') continue
        const drained = new Promise<void>((resume) => {
          this.drained = resume
        })
        let flows = true
        res.cork(() => {
          flows = res.write(chunk)
        })
        if (!flows) await drained
      }
    } catch {
      // Aborts the exchange.
      if (this.isOpen) res.close()
    }
    if (!this.isOpen) return
    this.state = 'replied'
    res.cork(() => res.end())
    this.onDone()
  }

  /** Asked anew after every wait. */
  private get isOpen(): boolean {
    return this.state === 'open'
  }
}

function secureApp(tls: NonNullable<ListenerOptions['tls']>): uws.TemplatedApp {
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  } catch (cause) {
    throw certificateError(tls, cause)
  }
}

/** A plain bind without SO_REUSEPORT fails when anybody else listens there. */
function assertFree(address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (cause) => reject(addressError(address, cause)))
    probe.listen({ ...address, exclusive: true }, () => probe.close(() => resolve()))
  })
}
