/** The body of one request while it arrives: bounded in size, memory and time, and freed with the answer to its request. */

import { bodyKernels } from '../../biometrics/kernels/body-kernels.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { RequestHeaders } from '../listeners/framing.js'
import type { BodyMemory, BodyQuota } from './body-budget.js'

/** The body of a request without one. */
const NO_BODY = Buffer.alloc(0)
const OVERLOAD_RETRY_MS = SECOND_MS

export class RequestBody {
  /** Parts that came before a handler asked for the body, or parts of a chunked body. */
  private chunks: Buffer[] = []
  /** Holds the announced size: made when a handler asks for the body, and filled as the body arrives. */
  private buffer: Buffer | null = null
  private received = 0
  private readonly memory: BodyMemory
  /** The announced size in bytes; null for a chunked body. */
  private readonly expected: number | null
  private whole: Buffer | null = null
  private failure: Error | null = null
  private settle: (() => void) | null = null
  /** The caller may send more of the body, wanted or not. */
  isUnderWay = true
  /** The body was given up before it had arrived: nobody waits for the rest. */
  isOverdue = false
  /** A handler has asked for the body. */
  isDemanded = false

  /** @param demand called when a handler waits for a body that has not come: a transport may leave it in the socket until then */
  constructor(
    headers: RequestHeaders,
    private limitBytes: number,
    quota: BodyQuota,
    private readonly demand: () => void = () => {},
  ) {
    this.memory = quota.open()
    const length = headers['content-length']
    this.expected = headers['transfer-encoding'] === undefined ? Number(length ?? 0) : null
    if (this.expected === 0) {
      this.whole = NO_BODY
      this.isUnderWay = false
    } else this.limit(limitBytes)
  }

  /** False where no body was announced, or one that is too large. */
  get isExpected(): boolean {
    return !this.whole && !this.failure
  }

  /** Copies the bytes of the chunk, whose memory belongs to the transport. */
  push(chunk: Uint8Array): void {
    if (!this.isExpected) return
    const size = chunk.byteLength
    this.received += size
    if (this.received > this.limitBytes) this.fail(tooLarge(this.limitBytes))
    else if (!this.memory.take(size)) this.fail(overloaded())
    else if (this.buffer) this.buffer.set(chunk, this.received - size)
    else {
      const copy = Buffer.allocUnsafeSlow(size)
      copy.set(chunk)
      this.chunks.push(copy)
    }
  }

  /** The caller has sent the whole body, wanted or not. */
  end(): void {
    this.isUnderWay = false
    if (!this.isExpected) return
    this.whole = this.buffer ?? this.joined(this.received)
    this.buffer = null
    this.memory.arrived()
    this.settle?.()
  }

  /** Gives the body up: a handler that waits for it gets the error. */
  fail(error: Error): void {
    if (!this.isExpected) return
    this.failure = error
    this.free()
    this.settle?.()
  }

  abort(): void {
    if (this.isExpected) this.fail(new Error('the exchange ended before the body was complete'))
  }

  /** Frees the memory at once instead of at the next garbage collection: the request has its answer. */
  release(): void {
    this.abort()
    const { whole } = this
    if (!whole || whole === NO_BODY) return
    this.whole = NO_BODY
    bodyKernels.releaseMemory(whole)
    this.free()
  }

  /**
   * @param deadlineMs on the clock of `performance.now()`
   * @param owner tenant that sends the body; a body without one counts separately
   * @throws DomainError body_too_large, deadline_exceeded, overloaded
   */
  read(deadlineMs: number, limitBytes = this.limitBytes, owner?: string): Promise<Buffer> {
    this.isDemanded = true
    this.limit(limitBytes)
    if (!this.failure) this.assignTo(owner)
    if (this.failure) return Promise.reject(this.failure)
    if (this.whole) return Promise.resolve(this.whole)
    // Made only now, so that a caller who is refused by the head costs no memory.
    if (this.expected !== null) this.buffer = this.joined(this.expected)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.isOverdue = true
          this.fail(
            new DomainError('deadline_exceeded', {
              message: 'The body did not arrive in time.',
              remedy: 'Retry with the same idempotency key, and upload smaller images over slow links.',
            }),
          )
        },
        Math.max(0, deadlineMs - performance.now()),
      )
      this.settle = () => {
        clearTimeout(timer)
        if (this.failure) reject(this.failure)
        else resolve(this.whole!)
      }
      this.memory.await(() => {
        this.isOverdue = true
        this.fail(overloaded({ message: 'The memory for bodies is used up, and this one came slowly.' }))
      })
      this.demand()
    })
  }

  private limit(limitBytes: number): void {
    this.limitBytes = Math.min(this.limitBytes, limitBytes)
    if (Math.max(this.expected ?? 0, this.received) <= this.limitBytes) return
    this.failure ??= tooLarge(this.limitBytes)
    this.free()
  }

  /** The chunks so far at the start of one buffer of this size. It is never part of Node's shared pool, so that it can be released. */
  private joined(size: number): Buffer {
    const whole = Buffer.allocUnsafeSlow(size)
    let offset = 0
    for (const chunk of this.chunks.splice(0)) {
      offset += chunk.copy(whole, offset)
      bodyKernels.releaseMemory(chunk)
    }
    return whole
  }

  private assignTo(owner: string | undefined): void {
    if (this.memory.hasOwner || this.whole === NO_BODY) return
    if (this.memory.assign(owner)) return
    if (!this.whole) return void this.fail(overloaded())
    this.failure = overloaded()
    this.release()
  }

  /** Drops what has arrived. A connection that trickles on keeps this object, and would keep its memory. */
  private free(): void {
    for (const chunk of this.chunks.splice(0)) bodyKernels.releaseMemory(chunk)
    if (this.buffer) bodyKernels.releaseMemory(this.buffer)
    this.buffer = null
    this.memory.release()
  }
}

/** Endpoints whose bodies carry photos have a limit above this. */
const PHOTO_BYTES = 256 * 1024

function tooLarge(limitBytes: number): DomainError {
  return new DomainError('body_too_large', {
    message: `The body is larger than ${readableSize(limitBytes)}${limitBytes < PHOTO_BYTES ? '' : '; a photo of 1280 pixels on its longer side is plenty'}.`,
  })
}

/** A size for people, such as `8 MiB` or `16 KiB`; below 1 KiB in bytes. */
function readableSize(bytes: number): string {
  const [unit, name] = bytes >= 1024 * 1024 ? [1024 * 1024, 'MiB'] : [1024, 'KiB']
  const size = bytes / unit
  if (bytes < 1024) return `${bytes} bytes`
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${name}`
}

function overloaded(options: { message?: string } = {}): DomainError {
  return new DomainError('overloaded', { ...options, retryAfterMs: OVERLOAD_RETRY_MS })
}
