/** Types that the pixel kernels read and write. */

/** [height × width × 3] interleaved RGB bytes. */
export interface Pixels {
  data: Uint8Array
  width: number
  height: number
}

/** [3 × height × width] float32, a plane a channel, as networks take it. `data` may be longer. */
export interface PlanarTensor {
  data: Float32Array
  width: number
  height: number
}

/** Rectangle of whole pixels; origin top left. */
export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** Format of a tensor's planes: each value is (v - mean) * scale. */
export interface PlaneFormat {
  /** True for a network that expects BGR: plane p takes the source's channel 2 - p instead of p. */
  swap: boolean
  /** [3] in plane order. */
  mean: Float64Array
  /** [3] in plane order. */
  scale: Float64Array
}
