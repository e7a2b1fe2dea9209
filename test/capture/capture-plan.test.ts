/** The times of a challenge's frames, for every challenge and every setting of a page. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planCapture, stepAt } from '../../clients/capture/capture-plan.js'
import { CAPTURE_LIMITS } from '../../src/contract/capture-limits.js'
import { check } from '../support/properties.js'

const challenge = (steps: number) => ({ steps: Array(steps).fill('frontal'), capture: CAPTURE_LIMITS })

/** The times at which a camera that is never late takes the frames. */
function times({ intervalMs, durationMs }: { intervalMs: number; durationMs: number }): number[] {
  const all: number[] = []
  for (let tMs = 0; tMs < durationMs; tMs += intervalMs) all.push(tMs)
  return all
}

describe('the plan of a challenge', () => {
  it('meets the limits of the service for frames, for every interval that a page sets', () => {
    check(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1000, max: 30_000 }),
        (steps, intervalMs, stepMs) => {
          const plan = planCapture(challenge(steps), { intervalMs, stepMs })
          expect(plan.intervalMs).toBeGreaterThanOrEqual(CAPTURE_LIMITS.min_interval_ms)
          expect(plan.intervalMs).toBeLessThanOrEqual(CAPTURE_LIMITS.max_interval_ms)
          const frames = times(plan)
          expect(frames.length).toBeGreaterThanOrEqual(CAPTURE_LIMITS.min_frames)
          expect(frames.length).toBeLessThanOrEqual(CAPTURE_LIMITS.max_frames)
          expect(frames.at(-1)).toBeGreaterThanOrEqual(CAPTURE_LIMITS.min_duration_ms)
          expect(frames.at(-1)).toBeLessThanOrEqual(CAPTURE_LIMITS.max_duration_ms)
          expect(new Set(frames.map((tMs) => stepAt(tMs, steps, plan))).size).toBe(steps)
        },
      ),
    )
  })

  it('shows each step as long as the page asks, and takes frames less often when that is long', () => {
    expect(planCapture(challenge(4), { intervalMs: 200, stepMs: 1600 })).toEqual({
      intervalMs: 200,
      durationMs: 6400,
    })
    expect(planCapture(challenge(5), { intervalMs: 200, stepMs: 2400 })).toEqual({
      intervalMs: 300,
      durationMs: 12_000,
    })
  })
})
