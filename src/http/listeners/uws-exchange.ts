/** One request and its answer over uWebSockets.js. */

import type { HttpResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { RequestBody } from '../bodies/request-body.js'
import { oneLine } from './framing.js'
import type { Linger, LingerEnd, LingeringBodies } from './lingering.js'
import { isWhole, type Reply } from './listener.js'

const NOT_MODIFIED = 304

/** One response, which is written once or aborted by the caller. */
export class UwsExchange {
  onDone: () => void = () => {}
  body: RequestBody | null = null
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private controller: AbortController | null = null
  /** Wakes a stream that waits until its caller has read more. */
  private drained: () => void = () => {}
  /** Set while the rest of a refused body is read and dropped. */
  private linger: Linger | null = null
  private receivedBytes = 0
  private onBodyEnd: () => void = () => {}
  private isPaused = false

  constructor(
    private readonly res: HttpResponse,
    private readonly lingering: LingeringBodies,
  ) {}

  /** Made on demand, since most handlers never use it. */
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
    this.linger?.end()
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

  /** True while the rest of a refused body is read and dropped. */
  get isLingering(): boolean {
    return this.linger !== null
  }

  /** Counts a part of the body that has arrived, wanted or not. */
  received(bytes: number, isLast: boolean): void {
    this.receivedBytes += bytes
    if (isLast) this.onBodyEnd()
    else this.linger?.noteBytes()
  }

  reply(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    this.resume()
    if (this.body?.isUnderWay) this.replyAfterBody(reply, headOnly)
    else if (reply.close) this.closeWith(reply, headOnly)
    else this.write(reply, headOnly)
  }

  /** Writes a turn later: closing inside the handler would let a second request of the same packet run. */
  private closeWith(reply: Reply, headOnly: boolean): void {
    setImmediate(() => this.write({ ...reply, close: true }, headOnly))
  }

  /**
   * A client whose body is refused sends it to its end and reads the answer afterwards. The answer is sent only when the body has
   * ended, because uWebSockets.js cannot close the socket after the answer.
   */
  private replyAfterBody(reply: Reply, headOnly: boolean): void {
    const over = (why: LingerEnd) => {
      if (why === 'slow') return this.closeWith(reply, headOnly)
      // The rest stays in the socket, so that no request runs after this one. A client that reads while it sends gets its answer.
      // uWebSockets.js closes the connection 12 seconds later, as it does where nothing arrives.
      this.pause()
      const headers = { ...reply.headers, Connection: 'close' }
      this.write({ ...reply, headers, close: false }, headOnly)
    }
    const linger = this.lingering.begin(() => this.receivedBytes, over)
    this.linger = linger
    this.onBodyEnd = () => {
      linger.end()
      this.reply(reply, headOnly)
    }
  }

  private write(reply: Reply, headOnly: boolean): void {
    if (this.state !== 'open') return
    const { body, close } = reply
    const whole = isWhole(body) ? body : null
    if (!isWhole(body) && !headOnly) return void this.stream(reply, body)
    this.state = 'replied'
    this.res.cork(() => {
      this.writeHead(reply)
      // A 304 has no body, and the length of an empty one would be wrong (RFC 9110, section 8.6).
      if (reply.status === NOT_MODIFIED) this.res.endWithoutBody()
      else if (!headOnly && whole !== null) this.res.end(whole, close)
      else if (close && whole !== null) this.res.endWithoutBody(Buffer.byteLength(whole), true)
      else {
        // Given a length, `endWithoutBody` would wait for a body that never comes, and close the connection at the next request.
        if (whole !== null) this.res.writeHeader('Content-Length', String(Buffer.byteLength(whole)))
        this.res.endWithoutBody()
      }
    })
    this.onDone()
  }

  private writeHead({ status, headers, cookies = [] }: Reply): void {
    this.res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
    for (const name in headers) this.res.writeHeader(name, oneLine(headers[name]!))
    for (const cookie of cookies) this.res.writeHeader('Set-Cookie', oneLine(cookie))
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
        // An empty chunk would end the body.
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
      // Closing aborts the exchange.
      if (this.isOpen) res.close()
    }
    if (!this.isOpen) return
    this.state = 'replied'
    res.cork(() => res.end())
    this.onDone()
  }

  /** A getter, so that the compiler does not assume its value across an await. */
  private get isOpen(): boolean {
    return this.state === 'open'
  }
}
