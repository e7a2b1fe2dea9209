/** A network's input convention, in the form the kernels take. */
import type { PixelInput } from '../../../models/pack/pack-schema.js'

export interface PixelFormat {
  /** The network wants BGR planes. */
  swap: boolean
  /** [3] in plane order. */
  mean: Float64Array
  /** [3] in plane order. */
  scale: Float64Array
}

export function toPixelFormat(input: PixelInput): PixelFormat {
  return {
    swap: input.color === 'bgr',
    mean: Float64Array.from(input.mean),
    scale: Float64Array.from(input.scale),
  }
}
