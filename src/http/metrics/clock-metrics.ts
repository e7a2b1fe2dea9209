/** Prometheus metrics of the system clock: how often it jumped, and how far it is from the database's. */
import { Counter, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import { gaugesOf } from './gauges.js'

interface ClockSources {
  /** Number of jumps of the clock since the start, by direction. */
  jumps: Readonly<Record<'forward' | 'back', number>>
  /** Milliseconds that this machine's clock is ahead of the database's; null where the database is on this machine. */
  aheadMs(): number | null
}

export function watchClock(registry: Registry, { jumps, aheadMs }: ClockSources): void {
  const gauge = gaugesOf(registry)
  new Counter({
    name: 'countersign_clock_jumps_total',
    help: 'Times that the system clock moved by more than a second at once: it was set, or the machine was suspended.',
    labelNames: ['direction'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [direction, count] of Object.entries(jumps)) this.inc({ direction }, count)
    },
  })
  gauge(
    'countersign_clock_offset_seconds',
    "How far this machine's clock is ahead of the database's; negative where it is behind, 0 with SQLite.",
    () => (aheadMs() ?? 0) / SECOND_MS,
  )
}
