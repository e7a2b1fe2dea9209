/** A request's body on its way in: bounded, counted, in memory of its own, given up at its deadline and freed with its answer. */

import { kernels } from '../../biometrics/kernels/kernels.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { RequestHeaders } from '../listeners/framing.js'
import type { BodyClaim, BodyShare } from './body-budget.js'

/** What a request without a body has. */
const NO_BODY = Buffer.alloc(0)
const OVERLOAD_RETRY_MS = SECOND_MS

export class RequestBody {
  private chunks: Buffer[] = []
  /** Of the announced size, made when somebody asks for the body and filled as it arrives. */
  private buffer: Buffer | null = null
  private received = 0
  /** Of the share, for what is in memory. */
  private taken = 0
  /** Of whoever asked for the body. */
  private claim: BodyClaim | null = null
  /** As announced; null for a chunked body. */
  private readonly expected: number | null
  private whole: Buffer | null = null
  private failure: Error | null = null
  private settle: (() => void) | null = null
  private hasEnded = false
  private isLate = false
  private isAsked = false

  /** @param demand called when somebody waits for a body that has not come: a transport may leave it in the socket until then */
  constructor(
    headers: RequestHeaders,
    private limitBytes: number,
    private readonly share: BodyShare,
    private readonly demand: () => void = () => {},
  ) {
    const length = headers['content-length']
    this.expected = headers['transfer-encoding'] === undefined ? Number(length ?? 0) : null
    if (this.expected === 0) {
      this.whole = NO_BODY
      this.hasEnded = true
    } else this.limit(limitBytes)
  }

  /** False where none was announced, or too much. */
  get isExpected(): boolean {
    return !this.whole && !this.failure
  }

  /** More of it may come, wanted or not. */
  get isUnderWay(): boolean {
    return !this.hasEnded
  }

  /** It did not arrive in its time: nobody waits for the rest. */
  get isOverdue(): boolean {
    return this.isLate
  }

  /** Somebody waits for it, or has. */
  get isDemanded(): boolean {
    return this.isAsked
  }

  /** The chunk is only lent: its bytes are copied. */
  push(chunk: Uint8Array): void {
    if (!this.isExpected) return
    const size = chunk.byteLength
    this.received += size
    if (this.received > this.limitBytes) this.fail(tooLarge(this.limitBytes))
    else if (!this.take(size)) this.fail(overloaded())
    else if (this.buffer) this.buffer.set(chunk, this.received - size)
    else {
      const copy = Buffer.allocUnsafeSlow(size)
      copy.set(chunk)
      this.chunks.push(copy)
    }
  }

  /** Everything was pushed, wanted or not. */
  end(): void {
    this.hasEnded = true
    if (!this.isExpected) return
    this.whole = this.buffer ?? this.joined(this.received)
    this.buffer = null
    this.claim?.arrived()
    this.settle?.()
  }

  /** Wants no more of the body; whoever still reads it learns why. */
  fail(error: Error): void {
    if (!this.isExpected) return
    this.failure = error
    this.free()
    this.settle?.()
  }

  abort(): void {
    if (this.isExpected) this.fail(new Error('the exchange ended before the body was complete'))
  }

  /** The request has its answer and nobody reads the body any more: its memory goes now, not when it is collected. */
  release(): void {
    this.abort()
    const { whole } = this
    if (!whole || whole === NO_BODY) return
    this.whole = NO_BODY
    kernels.releaseMemory(whole)
    this.free()
  }

  /**
   * @param holder whose body it is, where that is known; else it stands for itself
   * @throws DomainError body_too_large, deadline_exceeded, overloaded
   */
  read(deadlineMs: number, limitBytes = this.limitBytes, holder?: string): Promise<Buffer> {
    this.isAsked = true
    this.limit(limitBytes)
    if (!this.failure) this.claimFor(holder)
    if (this.failure) return Promise.reject(this.failure)
    if (this.whole) return Promise.resolve(this.whole)
    // Not before: whoever is refused by the head has nothing made for them.
    if (this.expected !== null) this.buffer = this.joined(this.expected)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.isLate = true
          this.fail(new DomainError('deadline_exceeded', { message: 'The body did not arrive in time.' }))
        },
        Math.max(0, deadlineMs - performance.now()),
      )
      this.settle = () => {
        clearTimeout(timer)
        if (this.failure) reject(this.failure)
        else resolve(this.whole!)
      }
      this.claim?.await(() => {
        // Of the rest, as of one that is overdue, nothing is waited for.
        this.isLate = true
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

  /** What has come so far, in front of one memory of this size: never in Node's shared pool, so that it can be released. */
  private joined(size: number): Buffer {
    const whole = Buffer.allocUnsafeSlow(size)
    let offset = 0
    for (const chunk of this.chunks.splice(0)) {
      offset += chunk.copy(whole, offset)
      kernels.releaseMemory(chunk)
    }
    return whole
  }

  private claimFor(holder: string | undefined): void {
    if (this.claim || this.whole === NO_BODY) return
    this.claim = this.share.claim(holder)
    if (this.claim.add(this.taken)) return
    if (!this.whole) return void this.fail(overloaded())
    this.failure = overloaded()
    this.release()
  }

  private take(bytes: number): boolean {
    this.share.makeRoom(bytes, this.claim)
    if (!this.share.take(bytes)) return false
    if (this.claim && !this.claim.add(bytes)) {
      this.share.give(bytes)
      return false
    }
    this.taken += bytes
    return true
  }

  /** A connection that trickles on keeps this object, and would keep its memory. */
  private free(): void {
    for (const chunk of this.chunks.splice(0)) kernels.releaseMemory(chunk)
    if (this.buffer) kernels.releaseMemory(this.buffer)
    this.buffer = null
    this.share.give(this.taken)
    this.taken = 0
    this.claim?.end()
    this.claim = null
  }
}

/** A limit above this is one of bodies with photos. */
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
