/** Notices when the system clock is set: it is held against a clock that nobody can set, once a second. */
import { uptime } from 'node:os'
import type { Logger } from 'pino'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'

/** NTP slews a clock by a tenth of this in a second at most (chrony's `maxslewrate`), and steps it where that is too slow. */
const JUMP_MS = SECOND_MS
/** The two clocks are read one after the other. A process that stood still in between reads them again. */
const READING_MS = 50

/**
 * Milliseconds since the machine started, those that it was suspended included. Only Linux tells them without reading the system
 * clock; null elsewhere.
 */
const sinceBoot = process.platform === 'linux' ? () => uptime() * SECOND_MS : null

export class ClockWatch {
  /** How often the clock jumped since the start. */
  readonly jumps = { forward: 0, back: 0 }
  /** By how much the system clock is ahead of the one that nobody can set. */
  private leadMs: number
  private suspendedMs: number
  private readonly beat = new PeriodicTask(
    SECOND_MS,
    async () => this.look(),
    (err) => this.log.warn({ err }, 'the system clock could not be watched'),
  )

  /** @param bootMs milliseconds since the machine started, suspension included; null where they are not known */
  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly bootMs: (() => number) | null = sinceBoot,
  ) {
    this.leadMs = this.readLead()
    this.suspendedMs = this.readSuspended()
  }

  start(): void {
    this.beat.start()
  }

  stop(): Promise<void> {
    return this.beat.stop()
  }

  /** Compares the clocks now. Never rejects. */
  run(): Promise<void> {
    return this.beat.now()
  }

  private look(): void {
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
        // A machine that wakes finds the time that it slept on its clock.
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

  /** How long the machine has been suspended, plus a constant; always 0 where it is not known. */
  private readSuspended(): number {
    return this.bootMs === null ? 0 : this.bootMs() - this.clock.uptime()
  }
}
