/** A system clock that is set, slewed, or finds that the machine slept; the test moves both clocks. */
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { ClockWatch } from '../../src/jobs/clock-watch.js'
import { ManualClock, MINUTE_MS, SECOND_MS } from '../../src/lib/clock.js'
import { poll } from '../support/command.js'
import { sampleOf, scrape } from '../support/metrics.js'
import { startService, type TestService } from '../support/service.js'

function watched(bootMs: ((clock: ManualClock) => number) | null = (clock) => clock.uptime()) {
  const clock = new ManualClock()
  const lines: Array<Record<string, unknown>> = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const watch = new ClockWatch(clock, log, bootMs && (() => bootMs(clock)))
  const beat = () => {
    clock.advance(SECOND_MS)
    return watch.now()
  }
  return { clock, lines, watch, beat }
}
const jumped = (jumpMs: number) =>
  expect.objectContaining({ msg: 'the system clock jumped', jump_ms: jumpMs })

describe('a clock that is set', () => {
  for (const [direction, jumpMs] of [
    ['forward', 2 * MINUTE_MS],
    ['back', -1500],
  ] as const)
    it(`a clock that jumps ${direction} is logged once with the distance, and counted`, async () => {
      const { clock, lines, watch, beat } = watched()
      await beat()
      clock.jump(jumpMs)
      await beat()
      await beat()
      expect(lines).toEqual([jumped(jumpMs)])
      expect(lines[0]).not.toHaveProperty('suspended_ms')
      expect(watch.jumps).toEqual({ forward: 0, back: 0, [direction]: 1 })
    })

  it('a clock that NTP slews is not reported, however far it moves', async () => {
    const { clock, lines, beat } = watched()
    for (let beats = 0; beats < 60; beats++) {
      clock.jump(100)
      await beat()
    }
    expect(lines).toEqual([])
  })
})

describe('a machine that was suspended', () => {
  it('a jump after a suspension is logged with its length where the system reports it', async () => {
    let sleptMs = 0
    const { clock, lines, beat } = watched((one) => one.uptime() + sleptMs)
    sleptMs = 10 * MINUTE_MS
    clock.jump(sleptMs)
    await beat()
    expect(lines).toEqual([jumped(sleptMs)])
    expect(lines[0]).toHaveProperty('suspended_ms', sleptMs)
  })

  it('a suspension counts as a jump where the system does not report its length', async () => {
    const { clock, lines, beat } = watched(null)
    clock.jump(10 * MINUTE_MS)
    await beat()
    expect(lines).toEqual([jumped(10 * MINUTE_MS)])
  })
})

it('a process that stands still reports no jump', async () => {
  const { clock, lines, beat } = watched()
  clock.advance(10 * MINUTE_MS)
  await beat()
  expect(lines).toEqual([])
})

describe('the service', () => {
  let running: TestService | null = null
  afterEach(() => running?.stop())

  it('metrics have the jumps by direction and the distance from the clock of the database', async () => {
    running = await startService()
    const jumps = (text: string, direction: string) =>
      sampleOf(text, `countersign_clock_jumps_total{direction="${direction}"}`)
    const before = await scrape(running)
    expect([jumps(before, 'forward'), jumps(before, 'back')]).toEqual([0, 0])
    expect(Math.abs(sampleOf(before, 'countersign_clock_offset_seconds')!)).toBeLessThan(2)
    running.clock.jump(-MINUTE_MS)
    const after = await poll(
      () => scrape(running!),
      (text) => jumps(text, 'back') === 1,
    )
    expect(jumps(after, 'forward')).toBe(0)
  })
})
