/** The rules of the signals that need no browser. */

/** Codes that the service takes from a browser. The service keeps the same list. */
export type CaptureSignal =
  | 'virtual_camera'
  | 'replaced_function'
  | 'synthetic_track'
  | 'unlisted_camera'
  | 'settings_mismatch'
  | 'frame_timing'

/** Parts of the names of virtual cameras, and of films that Chromium plays instead of a camera. The name is compared here and never leaves the browser. */
const VIRTUAL_CAMERAS =
  /\b(obs|manycam|snap camera|xsplit|v4l2 ?loopback|dummy video|droidcam|iriun|epoccam|ivcam|camo|mmhmm|splitcam|youcam|e2esoft|vcam|ndi|webcamoid|unity video|prism live|virtual)\b|fake_device|\.(y4m|mjpe?g)$/i

/** Intervals between pictures that are judged: fewer say nothing about their evenness. */
const MIN_INTERVALS = 15
/** Shortest interval that is judged, in seconds: no camera of a person takes 200 pictures a second. */
const SHORTEST_S = 0.005
/** Clocks of cameras waver by more than this between two pictures, in seconds; timestamps that a program counts up do not. */
const EVEN_S = 0.00001
/** Pictures that come more than so many times as often as the camera says it takes them. */
const MAX_RATE_EXCESS = 1.5

/** @param label the camera's name; browsers give it once the person has allowed the camera */
export function isVirtualCamera(label: string): boolean {
  return VIRTUAL_CAMERAS.test(label)
}

/** Whether the pictures are of another size than the camera says, or come more often. A telephone may turn them. */
export function isMismatch(
  { width, height, frameRate }: { width?: number; height?: number; frameRate?: number },
  [shownWidth, shownHeight]: [number, number],
  times: readonly number[],
): boolean {
  const isSize = (w: number | undefined, h: number | undefined) => w === shownWidth && h === shownHeight
  if (!isSize(width, height) && !isSize(height, width)) return true
  const seconds = times.length > MIN_INTERVALS ? times.at(-1)! - times[0]! : 0
  // Fewer pictures than stated are common: a camera takes them more slowly in the dark.
  return !!frameRate && seconds > 0 && (times.length - 1) / seconds > frameRate * MAX_RATE_EXCESS
}

/**
 * Whether the times of the pictures are as even as only a program makes them. A time that is there twice means nothing: browsers now and
 * then show one picture twice.
 */
export function isTimingEven(times: readonly number[]): boolean {
  const intervals = times
    .slice(1)
    .flatMap((time, index) => (time > times[index]! ? [time - times[index]!] : []))
  if (intervals.length < MIN_INTERVALS) return false
  const shortest = Math.min(...intervals)
  // Every interval is nearly a multiple of a very short one, which a busy machine makes when it shows two pictures at once.
  if (shortest < SHORTEST_S) return false
  return intervals.every((interval) => {
    // A picture that was dropped makes an interval of several.
    const count = Math.round(interval / shortest)
    return Math.abs(interval - count * shortest) < EVEN_S * count
  })
}
