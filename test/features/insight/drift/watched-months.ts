/** Simulated months of verifies that are looked at again and again. */
import {
  DriftBaseline,
  type DriftReport,
  startOfPeriod,
} from '../../../../src/features/insight/drift/drift-report.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { SimulatedVerifies, type Traffic } from './simulated-verifies.js'

export const START = Date.UTC(2026, 0, 5)
/** From here on the reference covers four weeks. */
export const KNOWN = START + 36 * DAY_MS

/** Looks at a stream after each batch. */
export class Watcher {
  readonly stream: SimulatedVerifies
  private baseline: DriftBaseline | null = null
  private period = 0

  constructor(traffic: Traffic) {
    this.stream = new SimulatedVerifies(traffic, START)
  }

  runTo(end: number, batch: number): void {
    while (this.stream.now < end) this.stream.add(batch)
  }

  /** @param since time from which verifies are compared */
  look(since = 0): DriftReport {
    const { history, now } = this.stream
    const period = startOfPeriod(now)
    if (!this.baseline || period !== this.period)
      this.baseline = new DriftBaseline(history.periods, now, undefined, since)
    this.period = period
    return this.baseline.report(history.blocks, now)
  }
}

/** Number of months of which any look raised an alarm. */
export function alarmingMonths(traffic: Omit<Traffic, 'seed'>, batch: number, months: number): number {
  let alarming = 0
  for (let month = 1; month <= months; month++) {
    const watcher = new Watcher({ ...traffic, seed: month * 7919 })
    watcher.runTo(KNOWN, batch)
    let isAlarming = false
    while (watcher.stream.now < KNOWN + 30 * DAY_MS) {
      watcher.stream.add(batch)
      if (watcher.look().alarms.length > 0) isAlarming = true
    }
    if (isAlarming) alarming++
  }
  return alarming
}

export const STEADY = { people: 300, perDay: 60 }
/** Days differ from each other, and nights from days. */
export const VARIED = { people: 200, perDay: 60, daySpread: 0.02, nightLoss: 0.05 }
