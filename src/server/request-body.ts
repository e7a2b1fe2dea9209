/** A request's body on its way in: bounded, in memory of its own, and given up at its deadline. */
import { ApiError } from '../api-error.js'
import type { RequestHeaders } from './framing.js'

/** What a request without a body has. */
const NO_BODY = Buffer.alloc(0)

export class RequestBody {
  private chunks: Buffer[] = []
  /** Of the announced size, filled as it arrives. */
  private buffer: Buffer | null = null
  private received = 0
  /** As announced; null for a chunked body. */
  private readonly expected: number | null
  private whole: Buffer | null = null
  private failure: Error | null = null
  private settle: (() => void) | null = null

  /** @param demand called when somebody waits for a body that has not come: a transport may leave it in the socket until then */
  constructor(
    headers: RequestHeaders,
    private limitBytes: number,
    private readonly demand: () => void = () => {},
  ) {
    const length = headers['content-length']
    this.expected = headers['transfer-encoding'] === undefined ? Number(length ?? 0) : null
    if (this.expected === 0) this.whole = NO_BODY
    else this.limit(limitBytes)
  }

  /** False where none was announced, or too much. */
  get isExpected(): boolean {
    return !this.whole && !this.failure
  }

  /** The chunk is only lent: its bytes are copied. */
  push(chunk: Uint8Array): void {
    if (!this.isExpected) return
    this.received += chunk.byteLength
    if (this.received > this.limitBytes) this.fail(tooLarge(this.limitBytes))
    else if (this.expected === null) {
      const copy = Buffer.allocUnsafeSlow(chunk.byteLength)
      copy.set(chunk)
      this.chunks.push(copy)
    } else {
      this.buffer ??= Buffer.allocUnsafeSlow(this.expected)
      this.buffer.set(chunk, this.received - chunk.byteLength)
    }
  }

  /** Everything was pushed. */
  end(): void {
    if (!this.isExpected) return
    this.whole = this.buffer ?? concat(this.chunks, this.received)
    this.chunks = []
    this.settle?.()
  }

  /** Wants no more of the body; whoever still reads it learns why. */
  fail(error: Error): void {
    if (!this.isExpected) return
    this.failure = error
    this.chunks = []
    this.settle?.()
  }

  abort(): void {
    this.fail(new Error('the exchange ended before the body was complete'))
  }

  /** @throws ApiError body_too_large, deadline_exceeded */
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
      this.demand()
    })
  }

  private limit(limitBytes: number): void {
    this.limitBytes = Math.min(this.limitBytes, limitBytes)
    if (Math.max(this.expected ?? 0, this.received) <= this.limitBytes) return
    this.failure ??= tooLarge(this.limitBytes)
    this.chunks = []
  }
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
