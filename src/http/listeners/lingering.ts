/**
 * Reads and drops the rest of a body whose request is refused, within bounds. The system resets a socket that is closed with unread
 * bytes, and the answer is lost with it; ordinary clients send their whole body before they read the answer.
 */

/** Bounds against callers that send for ever. */
export const LINGER = Object.freeze({
  /** Time that the rest of a body may take: the default deadline of a body that is read. */
  totalMs: 10_000,
  /** Bytes of the rest that are read: several times the default limit of a body. */
  bytes: 64 * 1024 * 1024,
  /** Reading ends where the rest arrives at less than 16 KiB a second. */
  windowMs: 1000,
  windowBytes: 16 * 1024,
  /** Bodies of one listener whose rest is read at the same time. */
  maxBodies: 256,
})

/** `slow`: the sender has almost stopped. `much`: the sender goes on beyond a bound, or too many bodies are being dropped. */
export type LingerEnd = 'slow' | 'much'

/** The bodies of one listener whose rest is being read and dropped. */
export class LingeringBodies {
  private present = 0

  /**
   * @param receivedBytes bytes of the connection that have arrived so far
   * @param onOver called once where a bound is reached, and never after `end`
   */
  begin(receivedBytes: () => number, onOver: (why: LingerEnd) => void): Linger {
    const linger = new Linger(receivedBytes, onOver, () => this.present--)
    if (++this.present > LINGER.maxBodies) linger.over('much')
    return linger
  }
}

export class Linger {
  private readonly endMs = performance.now() + LINGER.totalMs
  private readonly endBytes: number
  private windowBegan: number
  private readonly timer: NodeJS.Timeout
  private isOver = false

  constructor(
    private readonly receivedBytes: () => number,
    private readonly onOver: (why: LingerEnd) => void,
    private readonly leave: () => void,
  ) {
    this.windowBegan = receivedBytes()
    this.endBytes = this.windowBegan + LINGER.bytes
    this.timer = setInterval(() => this.nextWindow(), LINGER.windowMs)
  }

  /** Called when more bytes have arrived. */
  noteBytes(): void {
    if (this.receivedBytes() > this.endBytes) this.over('much')
  }

  /** The rest has arrived, or the connection is gone: stops counting. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    clearInterval(this.timer)
    this.leave()
  }

  over(why: LingerEnd): void {
    if (this.isOver) return
    this.end()
    this.onOver(why)
  }

  private nextWindow(): void {
    const received = this.receivedBytes()
    const came = received - this.windowBegan
    this.windowBegan = received
    if (came < LINGER.windowBytes) this.over('slow')
    else if (performance.now() >= this.endMs) this.over('much')
    else this.noteBytes()
  }
}
