/** Reads the outputs of YuNet (libfacedetection), an anchor-free detector with five facial points. */
import type { Detection } from './detection.js'

/** One stride's outputs; n = rows × columns, cells row by row. */
export interface YunetHead {
  stride: number
  /** [n] probability of a face. */
  cls: Float32Array
  /** [n] probability that the box is good. */
  obj: Float32Array
  /** [n × 4] centre offset in cells, logarithm of the size in cells. */
  bbox: Float32Array
  /** [n × 10] five points, offsets in cells. */
  kps: Float32Array
}

export const YUNET_STRIDES = [8, 16, 32] as const

/**
 * Decodes one head as OpenCV's FaceDetectorYN does: score = sqrt(cls × obj), both clamped to 0..1.
 * @param inputWidth width of the network's input in pixels; boxes and points come back in such pixels
 * @param scoreThreshold lower scores are dropped
 */
export function decodeYunetHead(head: YunetHead, inputWidth: number, scoreThreshold: number): Detection[] {
  const { stride, cls, obj, bbox, kps } = head
  const columns = inputWidth / stride
  const detections: Detection[] = []
  for (let cell = 0; cell < cls.length; cell++) {
    const score = Math.sqrt(clamp01(cls[cell]!) * clamp01(obj[cell]!))
    if (!(score >= scoreThreshold)) continue
    const column = cell % columns
    const row = Math.floor(cell / columns)
    const width = Math.exp(bbox[4 * cell + 2]!) * stride
    const height = Math.exp(bbox[4 * cell + 3]!) * stride
    const x = (column + bbox[4 * cell]!) * stride - width / 2
    const y = (row + bbox[4 * cell + 1]!) * stride - height / 2
    const points = new Float64Array(10)
    for (let j = 0; j < 5; j++) {
      points[2 * j] = (column + kps[10 * cell + 2 * j]!) * stride
      points[2 * j + 1] = (row + kps[10 * cell + 2 * j + 1]!) * stride
    }
    detections.push({ box: { x, y, width, height }, score, points })
  }
  return detections
}

function clamp01(x: number): number {
  return Math.min(Math.max(x, 0), 1)
}
