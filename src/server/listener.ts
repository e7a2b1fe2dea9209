/** One uWebSockets.js listener: requests come in bounded and checked, replies go out whole. Knows neither tenants nor biometrics. */

import * as uws from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:net'
import { ApiError } from '../api-error.js'
import type { ListenAddress } from '../config.js'
import { CodedError } from '../errors.js'

export interface IncomingRequest {
  /** As sent, in its own case. */
  method: string
  /** Without query, not percent-decoded. */
  path: string
  /** Without the question mark. */
  query: string
  /** Lower-case names; a repeated header's values are joined by ", ". */
  headers: Readonly<Record<string, string | undefined>>
  remoteAddress: string
  encrypted: boolean
  /** Aborted when the caller hangs up before the reply. */
  signal: AbortSignal
  /**
   * The whole body, in memory of its own that the caller may release; empty for none.
   * @param limitBytes where it is less than the listener's
   * @throws ApiError body_too_large, deadline_exceeded
   */
  body(deadlineMs: number, limitBytes?: number): Promise<Buffer>
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

export interface ListenerOptions {
  address: ListenAddress
  tls?: { certFile: string; keyFile: string } | undefined
  maxBodyBytes: number
  /** Must not throw; when it rejects all the same, the caller gets a bare 500. */
  handler: (request: IncomingRequest) => Promise<Reply>
}

/** The address cannot be had; the message names it. */
export class ListenError extends CodedError<'cannot_listen'> {
  override readonly name = 'ListenError'
  constructor(message: string, options?: { cause?: unknown }) {
    super('cannot_listen', message, options)
  }
}

/** What a request without a body has. */
const NO_BODY = Buffer.alloc(0)
const DRAIN_POLL_MS = 5

/** How many requests are between their head and their reply. */
interface Traffic {
  inFlight: number
}

export class Listener {
  private constructor(
    private readonly app: uws.TemplatedApp,
    private readonly socket: uws.us_listen_socket,
    private readonly traffic: Traffic,
    /** Where it listens; the port is the real one when 0 was asked for. */
    readonly address: ListenAddress,
    readonly encrypted: boolean,
  ) {}

  /** @throws ListenError when the address is in use or the certificate does not load. */
  static async listen(options: ListenerOptions): Promise<Listener> {
    const { address, tls } = options
    // uWebSockets.js binds with SO_REUSEPORT: a second process would silently share the port.
    if (address.port !== 0) await assertFree(address)
    const app = tls ? secureApp(tls) : uws.App()
    const traffic: Traffic = { inFlight: 0 }
    app.any('/*', (res, req) => receive(res, req, options, traffic))
    const socket = await new Promise<uws.us_listen_socket>((resolve, reject) => {
      app.listen(address.host, address.port, (opened) =>
        opened
          ? resolve(opened)
          : reject(new ListenError(`Cannot listen on ${address.host}:${address.port}.`)),
      )
    })
    const port = uws.us_socket_local_port(socket as unknown as uws.us_socket)
    return new Listener(app, socket, traffic, { host: address.host, port }, tls !== undefined)
  }

  /** Stops accepting, waits for replies under way (at most `patienceMs`), then closes what is left. */
  async close(patienceMs: number): Promise<void> {
    uws.us_listen_socket_close(this.socket)
    const giveUpAt = performance.now() + patienceMs
    while (this.traffic.inFlight > 0 && performance.now() < giveUpAt)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
    this.app.close()
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
  traffic: Traffic,
): void {
  const exchange = new Exchange(res)
  res.onAborted(() => exchange.abort())
  try {
    traffic.inFlight++
    let body: BodyReader | undefined
    exchange.onDone = () => {
      traffic.inFlight--
      // A reply before the end of the body was a refusal: the rest is not kept.
      body?.abort()
    }
    const headers = readHeaders(req)
    if (headers === null) {
      res.close()
      return
    }
    const method = req.getCaseSensitiveMethod()
    body = new BodyReader(res, headers, options.maxBodyBytes)
    const reader = body
    const request: IncomingRequest = {
      method,
      path: req.getUrl(),
      query: req.getQuery() ?? '',
      headers,
      remoteAddress: Buffer.from(res.getRemoteAddressAsText()).toString('latin1'),
      encrypted: options.tls !== undefined,
      get signal() {
        return exchange.signal
      },
      body: (deadlineMs, limitBytes) => reader.read(deadlineMs, limitBytes),
    }
    // Chunk sizes are parsed laxly: what follows such a body may not be where a proxy in front believes it to be.
    const isLast = headers['transfer-encoding'] !== undefined
    // What is written in the turn of the event loop that brought the request leaves when this function's caller is done.
    let isSameTurn = true
    setImmediate(() => {
      isSameTurn = false
    })
    options.handler(request).then(
      (reply) => {
        exchange.reply(isLast ? { ...reply, close: true } : reply, method === 'HEAD')
        const { afterwards } = reply
        if (afterwards && isSameTurn) setImmediate(afterwards)
        else afterwards?.()
      },
      () => exchange.reply(BARE_FAILURE, method === 'HEAD'),
    )
  } catch {
    exchange.reply(BARE_FAILURE, false)
  }
}

const BARE_FAILURE: Reply = { status: 500, headers: {}, body: '', close: true }

/** The life of one response: written once, or aborted by the caller. */
class Exchange {
  onDone: () => void = () => {}
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private controller: AbortController | null = null
  /** Ends the wait of a stream for its caller. */
  private resume: () => void = () => {}

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
    this.resume()
    this.onDone()
  }

  reply(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    // Closing inside the handler would let a second request of the same packet run; a turn later, the socket is gone with it.
    if (reply.close) setImmediate(() => this.write(reply, headOnly))
    else this.write(reply, headOnly)
  }

  private write(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    const { body, close } = reply
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
    if (!isWhole && !headOnly) return void this.stream(reply, body)
    this.state = 'replied'
    this.res.cork(() => {
      this.writeHead(reply)
      if (!headOnly && isWhole) this.res.end(body, close)
      else if (close && isWhole) this.res.endWithoutBody(Buffer.byteLength(body), true)
      else {
        // Given any argument, it waits for a body that never comes and cuts the connection at the next request.
        if (isWhole) this.res.writeHeader('Content-Length', String(Buffer.byteLength(body)))
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
      this.resume()
      return true
    })
    res.cork(() => this.writeHead(reply))
    try {
      for await (const chunk of chunks) {
        if (!this.isOpen) return
        // An empty one would end the body.
        if (chunk === '') continue
        const drained = new Promise<void>((resume) => {
          this.resume = resume
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

/** uWebSockets.js writes header values as they are: a line break in one would let it inject another. */
function oneLine(value: string): string {
  return /[\r\n\0]/.test(value) ? value.replace(/[\r\n\0]+/g, ' ') : value
}

/** Headers that frame the message: the parser looks at the first of a name only, so a second one smuggles. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'host'])

/** All headers, or null when the framing is ambiguous and the connection must be cut. */
function readHeaders(req: uws.HttpRequest): Record<string, string | undefined> | null {
  const headers: Record<string, string | undefined> = Object.create(null)
  let ambiguous = false
  req.forEach((name, value) => {
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (FRAMING.has(name)) ambiguous = true
    else headers[name] = `${before}, ${value}`
  })
  const encoding = headers['transfer-encoding']
  const length = headers['content-length']
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || length !== undefined))
    ambiguous = true
  // An empty one counts as none for the parser, and need not for a proxy in front.
  if (length === '') ambiguous = true
  return ambiguous ? null : headers
}

/** Collects the body. Data must be asked for before the handler returns, so the constructor does. */
class BodyReader {
  private chunks: Buffer[] = []
  private received = 0
  /** As announced; null for a chunked body. */
  private expected: number | null = 0
  private whole: Buffer | null = null
  private failure: Error | null = null
  private settle: (() => void) | null = null

  constructor(
    res: uws.HttpResponse,
    headers: Readonly<Record<string, string | undefined>>,
    private limitBytes: number,
  ) {
    const length = headers['content-length']
    const chunked = headers['transfer-encoding'] !== undefined
    if (!chunked && (length === undefined || Number(length) === 0)) {
      this.whole = NO_BODY
      return
    }
    this.expected = chunked ? null : Number(length)
    this.limit(limitBytes)
    if (this.failure) return
    const { expected } = this
    // One buffer of the announced size, filled as it arrives; the chunks themselves are only lent for the callback.
    let buffer: Buffer | null = null
    res.onData((chunk, isLast) => {
      if (this.failure) return
      this.received += chunk.byteLength
      if (this.received > this.limitBytes) return this.fail(tooLarge(this.limitBytes))
      if (expected === null) this.chunks.push(copyOf(chunk))
      else {
        buffer ??= Buffer.allocUnsafeSlow(expected)
        buffer.set(new Uint8Array(chunk), this.received - chunk.byteLength)
      }
      if (isLast) {
        this.whole = buffer ?? concat(this.chunks, this.received)
        this.chunks = []
        this.settle?.()
      }
    })
  }

  /** Wants no more of the body; whoever still reads it learns that the exchange is over. */
  abort(): void {
    if (!this.whole) this.fail(new Error('the exchange ended before the body was complete'))
  }

  read(deadlineMs: number, limitBytes = this.limitBytes): Promise<Buffer> {
    this.limit(limitBytes)
    if (this.failure) return Promise.reject(this.failure)
    if (this.whole) return Promise.resolve(this.whole)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.fail(new ApiError('deadline_exceeded', { message: 'The body did not arrive in time.' })),
        Math.max(0, deadlineMs - performance.now()),
      )
      this.settle = () => {
        clearTimeout(timer)
        if (this.failure) reject(this.failure)
        else resolve(this.whole!)
      }
    })
  }

  private limit(limitBytes: number): void {
    this.limitBytes = Math.min(this.limitBytes, limitBytes)
    if (Math.max(this.expected ?? 0, this.received) > this.limitBytes) this.fail(tooLarge(this.limitBytes))
  }

  private fail(error: Error): void {
    this.failure ??= error
    this.chunks = []
    this.settle?.()
  }
}

function copyOf(chunk: ArrayBuffer): Buffer {
  return Buffer.from(Buffer.from(chunk))
}

/** As `Buffer.concat`, but never in Node's shared pool: the body's memory is the reader's to release. */
function concat(chunks: readonly Buffer[], length: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(length)
  let offset = 0
  for (const chunk of chunks) offset += chunk.copy(whole, offset)
  return whole
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('body_too_large', { message: `The body is larger than ${limitBytes} bytes.` })
}

function secureApp({ certFile, keyFile }: NonNullable<ListenerOptions['tls']>): uws.TemplatedApp {
  try {
    return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile })
  } catch (cause) {
    throw new ListenError(
      `The TLS certificate ${certFile} and the key ${keyFile} cannot be used together; both must be PEM.`,
      { cause },
    )
  }
}

/** A plain bind without SO_REUSEPORT fails when anybody else listens there. */
function assertFree({ host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new ListenError(
          cause.code === 'EADDRINUSE'
            ? `${host}:${port} is in use by another process.`
            : `Cannot listen on ${host}:${port}: ${cause.message}`,
          { cause },
        ),
      ),
    )
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}
