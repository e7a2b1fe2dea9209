/**
 * Judges a film: first whether its frames show one head that did what the steps ask, then whether the key frames show one person. Workers
 * of the engine measure and embed the frames.
 */
import type { FrameSeries } from '../../../biometrics/engine/frame-series.js'
import { timed } from '../../../biometrics/engine/samples.js'
import type { Liveness } from '../../../biometrics/measurements.js'
import { LIVENESS_UNCHECKED } from '../../../biometrics/pipeline/judge/liveness-room.js'
import type { CaptureFault } from '../../../contract/capture-fault.js'
import type { JudgedFilm } from '../../../verification/biometric-provider.js'
import { type FrameNote, judgeGeometry, keyIndices } from './active-geometry.js'
import { showsOneFace } from './same-face.js'
import type { Step } from './steps.js'

/** The steps that the frames should show, and one note a frame, in order. */
export interface FilmedSteps {
  notes: readonly FrameNote[]
  steps: readonly Step[]
}

/** A pack without `activeLiveness` judges no films. @throws BiometricError as `FrameSeries` does */
export async function judgeFilm(frames: FrameSeries, { notes, steps }: FilmedSteps): Promise<JudgedFilm> {
  const { pack, timingsMs } = frames
  const { activeLiveness, quality, liveness: network } = pack.manifest
  if (!activeLiveness) throw new TypeError('the pack takes no challenge')
  const measured = await frames.measure(livenessFrames(notes, steps))
  const looks = measured.map(({ look }) => look)
  const seen = measured.map(({ liveness }) => liveness)
  const liveness = meanLiveness(seen, network?.threshold ?? 0)
  const { keys, fault } = timed(timingsMs, () =>
    judgeGeometry(looks, notes, steps, { activeLiveness, quality }),
  )
  if (!keys) {
    // Every movement looks wrong to a camera that is not upright.
    await frames.assertUpright(0)
    // A film that the network takes for an attack has no honest cause.
    const isAttack = fault.finding === 'mirrored' && liveness.passed === false
    return { fault: isAttack ? { guidance: 'wrong_direction' } : fault, liveness, samples: [], timingsMs }
  }
  const samples = await frames.embed(keyIndices(keys), new Set([keys.frontal, keys.last]))
  const embeddings = new Map(samples.map(({ imageIndex, embedding }) => [imageIndex, embedding]))
  const isOnePerson = timed(timingsMs, () => showsOneFace(pack, keys, (index) => embeddings.get(index)!))
  const changed: CaptureFault = { guidance: 'try_again', finding: 'face_changed' }
  return { fault: isOnePerson ? null : changed, liveness, samples, timingsMs }
}

/** Number of frontal frames that the liveness network judges: each costs as much again as measuring a frame. */
const MAX_LIVENESS_FRAMES = 3

/** Indices of frames spread over the frontal steps at the beginning and at the end: what the camera sees may change in between. */
function livenessFrames(notes: readonly FrameNote[], steps: readonly Step[]): Set<number> {
  const ahead = notes.flatMap(({ step }, index) => (step === 0 || step === steps.length - 1 ? [index] : []))
  const count = Math.min(MAX_LIVENESS_FRAMES, ahead.length)
  const places = Array.from({ length: count }, (_, i) =>
    Math.round((i * (ahead.length - 1)) / Math.max(count - 1, 1)),
  )
  return new Set(places.map((place) => ahead[place]!))
}

/**
 * The mean score over the frames that could be judged. If none could, the first one with a reason represents the series.
 * @param seen one result a frame, including the frames that the network did not judge
 * @param threshold of the pack's liveness role, 0 to 1
 */
function meanLiveness(seen: readonly Liveness[], threshold: number): Liveness {
  const scores = seen.flatMap(({ score }) => (score === null ? [] : [score]))
  if (scores.length === 0) return seen.find(({ checked }) => checked) ?? LIVENESS_UNCHECKED
  const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
  return { checked: true, score, passed: score >= threshold }
}
