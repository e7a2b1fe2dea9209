/** One request and its answer over uWebSockets.js. */

import type { HttpResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { oneLine } from './framing.js'
import { isWhole, type Reply } from './listener.js'
import type { RequestBody } from './request-body.js'

/** How long the rest of a body may take whose request is answered without it: then the connection is closed with the answer. */
const LINGER_MS = 1000

/** The life of one response: written once, or aborted by the caller. */
export class UwsExchange {
  onDone: () => void = () => {}
  body: RequestBody | null = null
  private state: 'open' | 'replied' | 'aborted' = 'open'
  private controller: AbortController | null = null
  /** Ends the wait of a stream for its caller. */
  private drained: () => void = () => {}
  /** Ends the wait for the rest of a body that nobody wants. */
  bodyCame: () => void = () => {}
  private isPaused = false

  constructor(private readonly res: HttpResponse) {}

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
