/** Detects jumps of the system clock: once a second it compares the clock with a monotonic one. */
import { uptime } from 'node:os'
import type { Logger } from 'pino'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'

/** Smallest jump that is reported. NTP slews a clock by a tenth of this in a second at most (chrony's `maxslewrate`), and steps it where slewing is too slow. */
const JUMP_MS = SECOND_MS
/** Longest time between the readings of the two clocks, in milliseconds. A process that stood still in between reads them again. */
const READING_MS = 50

/**
 * Milliseconds since the machine started, including the time for which it was suspended. Only Linux has them without reading the
 * system clock; null elsewhere.
 */
const sinceBoot = process.platform === 'linux' ? () => uptime() * SECOND_MS : null

export class ClockWatch extends PeriodicTask {
  /** How often the clock jumped since the start. */
  readonly jumps = { forward: 0, back: 0 }
  /** Milliseconds by which the system clock is ahead of the monotonic one. */
  private leadMs: number
  private suspendedMs: number

  /** @param bootMs milliseconds since the machine started, suspension included; null where they are unknown */
  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly bootMs: (() => number) | null = sinceBoot,
  ) {
    super(
      SECOND_MS,
      async () => this.compare(),
      (err) => log.warn({ err }, 'the system clock could not be compared with the monotonic clock'),
    )
    this.leadMs = this.readLead()
    this.suspendedMs = this.readSuspended()
  }

  private compare(): void {
    const leadMs = this.readLead()
    const suspendedMs = this.readSuspended()
    const jumpMs = leadMs - this.leadMs
    const sleptMs = suspendedMs - this.suspendedMs
    this.leadMs = leadMs
    this.suspendedMs = suspendedMs
    if (Math.abs(jumpMs) <= JUMP_MS) return
    this.jumps[jumpMs > 0 ? 'forward' : 'back'] += 1
    this.log.warn(
      {
        jump_ms: Math.round(jumpMs),
        // A suspension of the machine shows as a jump: the monotonic clock stands still meanwhile.
        ...(sleptMs > JUMP_MS && { suspended_ms: Math.round(sleptMs) }),
      },
      'the system clock jumped',
    )
  }

  private readLead(): number {
    for (;;) {
      const before = this.clock.uptime()
      const now = this.clock.now()
      const after = this.clock.uptime()
      if (after - before <= READING_MS) return now - after
    }
  }

  /** @returns milliseconds for which the machine was suspended, plus a constant; always 0 where they are unknown */
  private readSuspended(): number {
    return this.bootMs === null ? 0 : this.bootMs() - this.clock.uptime()
  }
}
