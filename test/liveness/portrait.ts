/** A photo of a face as material for films: its pixels, and the position of the face in distances between its eyes. */
import sharp from 'sharp'
import type { FrameFace } from '../../src/biometrics/measurements.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { assessQuality } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { StageClock } from '../../src/biometrics/pipeline/stage-clock.js'

export interface Portrait {
  person: string
  file: Buffer
  /** [height, width, 3] */
  pixels: Uint8Array
  width: number
  height: number
  /** Position of the middle between the eyes, and the vector of one distance between them along the eyes, in pixels. */
  origin: { x: number; y: number }
  axis: { x: number; y: number }
  /** Points in distances between the eyes from their middle, x towards the person's left, y towards the mouth. */
  nose: { x: number; y: number }
  /** Yaw and pitch as the engine measures them, in degrees. */
  yaw: number
  pitch: number
  /** True if the photo is good enough to enroll with, by the bounds of the pack. */
  canEnrol: boolean
}

export function lookAt(pipeline: FacePipeline, file: Uint8Array, imageIndex = 0): Promise<FrameFace> {
  return pipeline
    .look(file, { imageIndex, checkLiveness: false, clock: new StageClock() })
    .then(({ face }) => face)
}

/** @throws BiometricError if the photo shows no usable face */
export async function portraitOf(pipeline: FacePipeline, person: string, file: Buffer): Promise<Portrait> {
  const { landmarks, quality } = await lookAt(pipeline, file)
  const { data, info } = await sharp(file).rotate().removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (index: number) => ({ x: landmarks[index]![0], y: landmarks[index]![1] })
  const [right, left, tip] = [at(0), at(1), at(2)]
  const axis = { x: left.x - right.x, y: left.y - right.y }
  const origin = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2 }
  const square = axis.x ** 2 + axis.y ** 2
  const from = { x: tip.x - origin.x, y: tip.y - origin.y }
  const { head_pose_yaw: yaw = 0, head_pose_pitch: pitch = 0 } = quality.components
  return {
    person,
    file,
    pixels: data,
    width: info.width,
    height: info.height,
    origin,
    axis,
    nose: {
      x: (from.x * axis.x + from.y * axis.y) / square,
      y: (from.y * axis.x - from.x * axis.y) / square,
    },
    yaw,
    pitch,
    canEnrol: assessQuality(quality.components, 'enrol', pipeline.pack.manifest.quality).every(
      ({ passed }) => passed,
    ),
  }
}
