/**
 * Judges a film: first whether its frames show one head that did what the steps ask, then whether the key frames show one person. Workers
 * of the engine measure and embed the frames.
 */
import type { FrameSeries } from '../../../biometrics/engine/frame-series.js'
import { timed } from '../../../biometrics/engine/samples.js'
import type { CaptureFault } from '../../../contract/capture-fault.js'
import type { JudgedFilm } from '../../../verification/biometric-provider.js'
import { type FrameNote, judgeGeometry, keyIndices } from './active-geometry.js'
import { livenessFrames, meanLiveness } from './film-liveness.js'
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
