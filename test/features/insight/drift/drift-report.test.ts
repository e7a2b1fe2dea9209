/** Simulated months of verifies: what raises an alarm, and what does not. */
import { describe, expect, it } from 'vitest'
import type { Calibration } from '../../../../models/pack/calibration.js'
import { DriftBaseline, WEEK_MS } from '../../../../src/features/insight/drift/drift-report.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import type { Change, Traffic } from './simulated-verifies.js'
import { alarmingMonths, KNOWN, START, STEADY, VARIED, Watcher } from './watched-months.js'

/** Verifies after a change until the first alarm; null without one among 300. */
function verifiesUntilAlarm(traffic: Traffic, change: Change, batch: number): number | null {
  const watcher = new Watcher(traffic)
  watcher.runTo(KNOWN + DAY_MS / 2, batch)
  watcher.stream.change = change
  for (let verifies = batch; verifies <= 300; verifies += batch) {
    watcher.stream.add(batch)
    if (watcher.look().alarms.length > 0) return verifies
  }
  return null
}

/** A calibration of 600 people with these false non-match rates at the thresholds 0.42, 0.5, 0.6 and 0.7. */
function calibrated(fnmrs: number[]): Calibration {
  const points = [0.42, 0.5, 0.6, 0.7].map((threshold, i) => ({ threshold, fnmr: fnmrs[i]! }))
  return { data: { people: 600 }, points } as Calibration
}

const BLUR: Change = { quality: 0.25, score: 0.1 }

describe('a quiet month', () => {
  it('raises no alarm in any of 16, although it is looked at after every ten verifies', () => {
    expect([alarmingMonths(STEADY, 10, 8), alarmingMonths(VARIED, 10, 8)]).toEqual([0, 0])
  })
})

describe('a quiet month with 10,000 verifies a day', () => {
  it('raises no alarm', () => {
    const traffic = [STEADY, VARIED].map((one) => ({ ...one, perDay: 10_000 }))
    expect(traffic.map((one) => alarmingMonths(one, 200, 1))).toEqual([0, 0])
  }, 120_000)
})

describe('a new reference', () => {
  it('raises no alarm while it is too short to show how much days and nights differ', () => {
    let known = 0
    for (let seed = 1; seed <= 10; seed++) {
      const watcher = new Watcher({ ...VARIED, perDay: 5000, seed: seed * 7919 })
      watcher.runTo(START + 6.9 * DAY_MS, 50)
      while (watcher.stream.now < START + 15 * DAY_MS) {
        watcher.stream.add(50)
        const { alarms, comparisons } = watcher.look()
        expect(alarms).toEqual([])
        const isYoung = watcher.stream.now < START + 14 * DAY_MS
        if (isYoung) expect(comparisons.every(({ state }) => state === 'too_few')).toBe(true)
        else if (comparisons.every(({ state }) => state !== 'too_few')) known++
      }
    }
    expect(known).toBeGreaterThan(0)
  }, 120_000)

  it('begins after a known change, which then raises no alarm', () => {
    for (const since of [KNOWN + 1, 0]) {
      const watcher = new Watcher({ ...STEADY, perDay: 300, seed: 5 })
      watcher.runTo(KNOWN, 20)
      watcher.stream.change = BLUR
      const alarms = new Set<string>()
      let isKnown = false
      while (watcher.stream.now < KNOWN + 16 * DAY_MS) {
        watcher.stream.add(20)
        const report = watcher.look(since)
        for (const measure of report.alarms) alarms.add(measure)
        isKnown = report.comparisons.every(({ state }) => state !== 'too_few')
      }
      expect([since > 0, [...alarms].includes('quality')]).toEqual([since > 0, since === 0])
      expect(isKnown).toBe(true)
    }
  })
})

describe('a camera release that blurs', () => {
  it('raises an alarm within 300 verifies, however many verifies a day has', () => {
    for (const perDay of [60, 500, 5000])
      for (const traffic of [STEADY, VARIED])
        expect(verifiesUntilAlarm({ ...traffic, perDay, seed: perDay }, BLUR, 10)).toBeLessThanOrEqual(300)
  }, 120_000)

  it('raises an alarm within 300 verifies of real pictures that were blurred, and none while they are sharp', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const traffic = { people: 1, perDay: 100, seed, recorded: true }
      expect(verifiesUntilAlarm(traffic, BLUR, 10)).toBeLessThanOrEqual(300)
    }
    expect(alarmingMonths({ people: 1, perDay: 60, recorded: true }, 10, 10)).toBe(0)
  }, 120_000)

  it('keeps the alarm for the week after it', () => {
    const watcher = new Watcher({ ...STEADY, perDay: 300, seed: 5 })
    watcher.runTo(KNOWN, 20)
    watcher.stream.change = BLUR
    watcher.runTo(KNOWN + DAY_MS, 20)
    while (watcher.stream.now < KNOWN + WEEK_MS) {
      watcher.stream.add(20)
      expect(watcher.look().alarms).not.toEqual([])
    }
  })
})

describe('a report', () => {
  it('says nothing before the reference is known, nor about fewer than 200 verifies a week', () => {
    const young = new Watcher({ ...STEADY, seed: 1 })
    young.runTo(START + 6 * DAY_MS, 10)
    const rare = new Watcher({ ...STEADY, perDay: 20, seed: 1 })
    rare.runTo(KNOWN, 1)
    for (const { comparisons, alarms } of [young.look(), rare.look()]) {
      expect(new Set(comparisons.map(({ state }) => state))).toEqual(new Set(['too_few']))
      expect(alarms).toEqual([])
    }
  })

  it('compares scores and matches with the calibration, which raises no alarm', () => {
    const watcher = new Watcher({ ...STEADY, perDay: 300, seed: 3 })
    watcher.runTo(KNOWN, 20)
    const { history, now } = watcher.stream
    const compared = (fnmrs: number[]) => {
      const { comparisons, alarms } = new DriftBaseline(history.periods, now, calibrated(fnmrs)).report(
        history.blocks,
        now,
      )
      expect(alarms).toEqual([])
      return comparisons.flatMap(({ measure, against, state }) =>
        against === 'calibration' ? [[measure, state]] : [],
      )
    }
    // The scores of the stream are normal, with a mean of 0.68 and a deviation of 0.108.
    expect(compared([0.01, 0.05, 0.23, 0.57])).toEqual([
      ['scores', 'steady'],
      ['outcomes', 'steady'],
    ])
    expect(compared([0.1, 0.5, 0.9, 0.99])).toEqual([
      ['scores', 'shifted'],
      ['outcomes', 'shifted'],
    ])
  })

  it('does not take a raised threshold for a change of the scores', () => {
    const watcher = new Watcher({ ...STEADY, perDay: 600, seed: 3 })
    watcher.runTo(KNOWN, 20)
    watcher.stream.threshold = 0.6
    watcher.runTo(KNOWN + DAY_MS, 20)
    const scores = watcher
      .look()
      .comparisons.find(({ window, measure }) => window === 'latest' && measure === 'scores')
    expect(scores).toMatchObject({ state: 'steady' })
    expect(scores!.counted).toBeGreaterThan(100)
  })
})
