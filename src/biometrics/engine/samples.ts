/** Rules about the samples of one call, which hold for every pack. */
import { BiometricError, type FaceSample, type Liveness, type StageTimings } from '../types.js'

/** Error for a worker that reports images that it was not given. */
export function garbled(): BiometricError {
  return new BiometricError('engine_unavailable', 'The engine could not process the request.')
}

/** @throws BiometricError engine_unavailable when a worker reports images that it was not given */
export function assertOneOfEach(samples: readonly FaceSample[], images: readonly Uint8Array[]): void {
  const indices = new Set(samples.map(({ imageIndex }) => imageIndex))
  if (indices.size !== samples.length || Math.max(...indices) >= images.length) throw garbled()
}

export function bestOf(samples: readonly FaceSample[]): FaceSample {
  return samples.reduce((a, b) => (b.quality.score > a.quality.score ? b : a))
}

/**
 * The lowest liveness of all samples. Frames are not further attempts: a single frame that is not live, or could not
 * be judged, decides.
 */
export function weakestLiveness(samples: readonly FaceSample[]): Liveness {
  const strength = ({ checked, score }: Liveness) =>
    checked ? (score ?? Number.NEGATIVE_INFINITY) : Number.POSITIVE_INFINITY
  return samples.map(({ liveness }) => liveness).reduce((a, b) => (strength(b) < strength(a) ? b : a))
}

/** Runs `match` and adds its duration to `timingsMs`. */
export function timed<T>(timingsMs: StageTimings, match: () => T): T {
  const startedAt = performance.now()
  try {
    return match()
  } finally {
    timingsMs.match = (timingsMs.match ?? 0) + performance.now() - startedAt
  }
}

export function assertAny(images: readonly Uint8Array[]): void {
  if (images.length === 0) throw new TypeError('at least one image is needed')
}
