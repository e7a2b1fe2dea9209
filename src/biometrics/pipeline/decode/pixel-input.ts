/** Converts a network's input convention to the form that the kernels take. */
import type { PixelInput } from '../../../../models/pack/pack-schema.js'
import type { PlaneFormat } from '../../kernels/planes.js'

export function toPlaneFormat(input: PixelInput): PlaneFormat {
  return {
    swap: input.color === 'bgr',
    mean: Float64Array.from(input.mean),
    scale: Float64Array.from(input.scale),
  }
}
