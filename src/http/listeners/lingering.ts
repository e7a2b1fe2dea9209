/**
 * How long the rest of a body is read and dropped whose request is refused. A socket that is closed with unread bytes is reset by
 * the system, and the answer is lost with it; ordinary clients send their whole body before they read the answer.
 */

/** The bounds keep out those who send for ever. */
export const LINGER = Object.freeze({
  /** Time that the rest of a body may take: as much as a body that is wanted has by default. */
  totalMs: 10_000,
  /** Bytes of the rest that are read: several times the largest body that is taken by default. */
  bytes: 64 * 1024 * 1024,
  /** The rest comes at 16 KiB a second at least, or it is waited for no longer. */
  windowMs: 1000,
  windowBytes: 16 * 1024,
  /** Bodies of one listener that are read in vain at the same time. */
  maxBodies: 256,
})

/** `slow`: the sender has stopped, or nearly. `much`: it goes on beyond a bound, or too many do. */
export type LingerEnd = 'slow' | 'much'

/** The bodies of one listener that are read in vain. */
export class LingeringBodies {
  private present = 0

  /**
   * @param receivedBytes how much of the connection has come so far
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

  /** More has come. */
  noteBytes(): void {
    if (this.receivedBytes() > this.endBytes) this.over('much')
  }

  /** Nobody waits any more. */
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
