/** One response of node:http, which is written once or aborted by the caller. */
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { oneLine } from './framing.js'
import type { LingeringBodies } from './lingering.js'
import { isWhole, type Reply, type WholeReply } from './listener.js'

/**
 * A caller who reads nothing of an answer is cut off after once to twice this time: Node restarts its timer where bytes were still
 * written. uWebSockets.js cuts such callers off after some 30 seconds.
 */
const STALL_MS = 15_000
/** Time for a caller to close its side after the last answer, once its request has arrived whole. */
const FAREWELL_MS = 2000
const NOT_MODIFIED = 304

type OutgoingHeaders = Record<string, string | string[]>

export class NodeExchange {
  /** Called once, when the reply is written or its caller is gone. */
  onDone: () => void = () => {}
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private isDone = false
  private controller: AbortController | null = null

  /** @param response null where node:http has none, because it could not parse the request */
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

  /** True until the reply is written or aborted. */
  get isOpen(): boolean {
    return this.state === 'open'
  }

  /** Made on demand, since most handlers never use it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.state === 'aborted') this.controller.abort()
    return this.controller.signal
  }

  /** @param isLast whether the connection ends with this reply */
  reply(reply: Reply, isLast: boolean): void {
    if (!this.isOpen) return
    const { response } = this
    const { status, body } = reply
    const headers = headersOf(reply)
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
    // A 304 has no body, and the length of an empty one would be wrong (RFC 9110, section 8.6).
    const length = status === NOT_MODIFIED ? {} : { 'Content-Length': Buffer.byteLength(body) }
    response.writeHead(status, { ...headers, ...length })
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
    reply: Reply,
    chunks: AsyncIterable<string>,
    isLast: boolean,
  ): Promise<void> {
    response.setTimeout(STALL_MS)
    response.writeHead(reply.status, { ...headersOf(reply), ...(isLast ? { Connection: 'close' } : {}) })
    if (!this.headOnly) {
      try {
        for await (const chunk of chunks) {
          if (!this.isOpen) return
          if (!response.write(chunk)) await once(response, 'drain', { signal: this.signal })
        }
      } catch {
        // Aborts the exchange, unless an abort ended the stream.
        this.socket.destroy()
      }
    }
    if (!this.isOpen) return
    this.state = 'replied'
    response.end()
  }

  /** Writes to the socket itself, since ServerResponse would close it with the answer, unread bytes or not. */
  private close(status: number, headers: OutgoingHeaders, body: WholeReply['body']): void {
    const { socket, response } = this
    // Bytes of a body that no handler asked for must not stay in the socket.
    response?.req.resume()
    const lines = Object.entries({
      ...headers,
      Date: new Date().toUTCString(),
      Connection: 'close',
      'Content-Length': Buffer.byteLength(body),
    }).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
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

/** Node writes headers in Latin-1 and refuses other characters: UTF-8 bytes read as Latin-1 go out unchanged. */
function headersOf({ headers, cookies = [] }: Reply): OutgoingHeaders {
  const values: OutgoingHeaders = {}
  for (const name in headers) values[name] = encoded(headers[name]!)
  if (cookies.length > 0) values['Set-Cookie'] = cookies.map(encoded)
  return values
}

function encoded(text: string): string {
  const value = oneLine(text)
  return /[^\t\x20-\x7e]/.test(value) ? Buffer.from(value).toString('latin1') : value
}

/**
 * Reads and drops the rest of a body whose request is answered without it: the system answers unread bytes with a reset, which may
 * overtake the answer. Where the rest exceeds the bounds of `lingering.ts`, the connection is cut.
 * @param onCame called when the rest has arrived
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
