/** Tests how rarely a month in which nothing has changed raises an alarm. */
import { expect, it } from 'vitest'
import { alarmingMonths, STEADY, VARIED } from './watched-months.js'

it('a quiet month raises an alarm in at most 1 of 100, although it is looked at after every ten verifies', () => {
  expect(alarmingMonths(STEADY, 10, 50) + alarmingMonths(VARIED, 10, 50)).toBeLessThanOrEqual(1)
}, 300_000)
