/** The life of one response of node:http: written once, or aborted by the caller. */
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { oneLine } from './framing.js'
import type { LingeringBodies } from './lingering.js'
import { isWhole, type Reply, type WholeReply } from './listener.js'

/**
 * A caller who reads nothing of an answer for once to twice as long is cut off: Node begins anew where something was still
 * written. uWebSockets.js does so after some 30 seconds.
 */
const STALL_MS = 15_000
/** How long a caller whose request has come whole may take to close its side after the last answer. */
const FAREWELL_MS = 2000

export class NodeExchange {
  /** Called once, when the reply is written or nobody waits for it any more. */
  onDone: () => void = () => {}
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private isDone = false
  private controller: AbortController | null = null

  /** @param response null where there was no request that node:http could make one for */
  constructor(
    private readonly socket: Socket,
    private readonly response: ServerResponse | null,
    private readonly headOnly: boolean,
    private readonly lingering: LingeringBodies,
  ) {
    const closed = () => this.abort()
    if (response) response.once('close', closed)
    else socket.once('close', closed)
  }

  /** Neither answered whole nor given up. */
  get isOpen(): boolean {
    return this.state === 'open'
  }

  /** Made on demand: most requests never look. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.state === 'aborted') this.controller.abort()
    return this.controller.signal
  }

  /** @param isLast the connection ends with it */
  reply(reply: Reply, isLast: boolean): void {
    if (!this.isOpen) return
    const { response } = this
    const { status, headers, body } = reply
    if (!isWhole(body)) {
      if (response) void this.stream(response, reply, body, isLast)
      else this.socket.destroy()
      return
    }
    this.state = 'replied'
    if (isLast || !response) {
      this.close(status, headers, body)
      return
    }
    response.setTimeout(STALL_MS)
    response.writeHead(status, { ...encoded(headers), 'Content-Length': Buffer.byteLength(body) })
    if (this.headOnly) response.end()
    else response.end(body)
  }

  private abort(): void {
    if (this.isOpen) {
      this.state = 'aborted'
      this.controller?.abort()
    }
    this.done()
  }

  private done(): void {
    if (this.isDone) return
    this.isDone = true
    this.onDone()
  }

  private async stream(
    response: ServerResponse,
    { status, headers }: Reply,
    chunks: AsyncIterable<string>,
    isLast: boolean,
  ): Promise<void> {
    response.setTimeout(STALL_MS)
    response.writeHead(status, { ...encoded(headers), ...(isLast ? { Connection: 'close' } : {}) })
    if (!this.headOnly) {
      try {
        for await (const chunk of chunks) {
          if (!this.isOpen) return
          if (!response.write(chunk)) await once(response, 'drain', { signal: this.signal })
        }
      } catch {
        // Aborts the exchange, where it is not what ended the stream.
        this.socket.destroy()
      }
    }
    if (!this.isOpen) return
    this.state = 'replied'
    response.end()
  }

  /** Written to the socket itself: ServerResponse would close it with the answer, unread bytes or not. */
  private close(status: number, headers: Reply['headers'], body: WholeReply['body']): void {
    const { socket, response } = this
    // What of the body nobody has asked for must not stay in the socket.
    response?.req.resume()
    const lines = Object.entries({
      ...encoded(headers),
      Date: new Date().toUTCString(),
      Connection: 'close',
      'Content-Length': Buffer.byteLength(body),
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const farewell = () => {
      const timer = setTimeout(() => socket.destroy(), FAREWELL_MS)
      socket.once('close', () => clearTimeout(timer))
    }
    socket.setTimeout(STALL_MS)
    socket.cork()
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1')
    socket.end(this.headOnly ? '' : body, () => {
      this.done()
      if (response && !response.req.complete) awaitRest(response.req, this.lingering, farewell)
      else farewell()
    })
    socket.uncork()
  }
}

/** Node writes headers in Latin-1 and refuses what that has not; like this the bytes are those of UTF-8. */
function encoded(headers: Record<string, string>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name in headers) {
    const value = oneLine(headers[name]!)
    values[name] = /[^\t\x20-\x7e]/.test(value) ? Buffer.from(value).toString('latin1') : value
  }
  return values
}

/**
 * Reads and drops the rest of a body whose request is answered without it, because the system answers bytes that nobody reads
 * with a reset, which may overtake the answer. Where the rest does not come within bounds, the connection goes.
 * @param onCame called when the rest has come
 */
export function awaitRest(message: IncomingMessage, room: LingeringBodies, onCame = () => {}): void {
  const { socket } = message
  if (message.complete || socket.destroyed) return
  const linger = room.begin(
    () => socket.bytesRead,
    () => socket.destroy(),
  )
  message.on('data', () => linger.noteBytes())
  message.once('end', () => {
    linger.end()
    onCame()
  })
  socket.once('close', () => linger.end())
}
