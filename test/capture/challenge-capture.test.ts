/** Which cameras deliver the frames of a challenge in time, by the limits of the service. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { CapturedFrame } from '../../clients/capture/capture-events.js'
import { type CaptureChallenge, planCapture } from '../../clients/capture/capture-plan.js'
import { captureChallenge, type FrameSource } from '../../clients/capture/challenge-capture.js'
import { CAPTURE_LIMITS } from '../../src/contract/capture-limits.js'

const { max_gap_ms: _, ...LIMITS_BEFORE } = CAPTURE_LIMITS

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** Captures with a camera that delivers a frame every so many milliseconds, but for these gaps of `[from, length]`. */
async function captured(
  everyMs: number,
  gaps: Array<[from: number, length: number]> = [],
  capture: CaptureChallenge['capture'] = CAPTURE_LIMITS,
): Promise<CapturedFrame[] | string> {
  const challenge = {
    steps: ['frontal', 'turn_left', 'nod_up', 'frontal'],
    capture,
    expires_in: 90,
  } as CaptureChallenge
  const began = performance.now()
  const isStill = (at: number) => gaps.some(([from, length]) => at > from && at < from + length)
  const grabber: FrameSource = {
    isUpright: false,
    take: async () => new Blob([]),
    nextFrame: () => {
      const now = performance.now() - began
      let at = (Math.floor(now / everyMs) + 1) * everyMs
      while (isStill(at)) at += everyMs
      return new Promise((resolve) => setTimeout(resolve, at - now))
    },
  }
  const capturing = captureChallenge({
    challenge,
    plan: planCapture(challenge, { intervalMs: 200, stepMs: 1600 }),
    grabber,
    onProgress: () => {},
    signal: new AbortController().signal,
  }).catch((error) => error.code)
  await vi.advanceTimersByTimeAsync(30_000)
  return capturing
}

const gapsOf = (frames: CapturedFrame[]) =>
  frames.slice(1).map(({ t_ms }, index) => t_ms - frames[index]!.t_ms)

it.each([33, 100, 200, 222, 333, 400])(
  'takes the frames of a camera with one every %i ms',
  async (everyMs) => {
    const frames = (await captured(everyMs)) as CapturedFrame[]
    expect(frames.length).toBeGreaterThanOrEqual(CAPTURE_LIMITS.min_frames)
    expect(Math.max(...gapsOf(frames))).toBeLessThanOrEqual(CAPTURE_LIMITS.max_interval_ms)
    expect(Math.min(...gapsOf(frames))).toBeGreaterThanOrEqual(CAPTURE_LIMITS.min_interval_ms)
  },
)

it('refuses a camera that is slower than the service allows as too slow', async () => {
  expect(await captured(667)).toBe('too_slow')
  expect(await captured(1000)).toBe('too_slow')
})

it.each([500, 650, 750])('goes on after one gap of %i ms', async (length) => {
  const gaps = gapsOf((await captured(33, [[3000, length]])) as CapturedFrame[])
  expect(Math.max(...gaps)).toBeLessThanOrEqual(CAPTURE_LIMITS.max_gap_ms)
  expect(gaps.filter((gap) => gap > CAPTURE_LIMITS.max_interval_ms).length).toBeLessThanOrEqual(1)
})

it('refuses a second gap, one of more than a second, and any where the service is of an earlier version', async () => {
  expect(
    await captured(33, [
      [2000, 800],
      [4000, 800],
    ]),
  ).toBe('too_slow')
  expect(await captured(33, [[2000, 1100]])).toBe('too_slow')
  expect(await captured(33, [[2000, 800]], LIMITS_BEFORE)).toBe('too_slow')
})

it('waits less for the next frame after a late one', async () => {
  const frames = (await captured(150)) as CapturedFrame[]
  expect(gapsOf(frames).filter((gap) => gap < 200).length).toBeGreaterThan(frames.length / 3)
})
