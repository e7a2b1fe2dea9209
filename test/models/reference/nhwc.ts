/**
 * TensorFlow's layers in their plainest form: height × width × channels in double precision, one loop per index. They
 * are slow on purpose, so that they are easy to check against the formulas.
 */
import type { Weight } from './quantised-weights.js'

export interface Tensor {
  height: number
  width: number
  channels: number
  data: Float64Array
}

export type PaddingMode = 'same' | 'valid'

export function tensor(height: number, width: number, channels: number, data?: Float64Array): Tensor {
  return { height, width, channels, data: data ?? new Float64Array(height * width * channels) }
}

export function map(x: Tensor, f: (value: number, channel: number) => number): Tensor {
  return { ...x, data: x.data.map((value, i) => f(value, i % x.channels)) }
}

export const relu = (x: Tensor): Tensor => map(x, (value) => Math.max(0, value))

export const addBias = (x: Tensor, bias: Weight): Tensor => map(x, (value, c) => value + bias.data[c]!)

export function add(a: Tensor, b: Tensor): Tensor {
  if (a.height !== b.height || a.width !== b.width || a.channels !== b.channels)
    throw new Error('shapes differ')
  return { ...a, data: a.data.map((value, i) => value + b.data[i]!) }
}

/** Larger on any axis, the old values first and zeros after them. */
export function growWithZeros(x: Tensor, height: number, width: number, channels: number): Tensor {
  const result = tensor(height, width, channels)
  for (let y = 0; y < x.height; y++) {
    for (let column = 0; column < x.width; column++) {
      for (let c = 0; c < x.channels; c++) {
        result.data[(y * width + column) * channels + c] = x.data[(y * x.width + column) * x.channels + c]!
      }
    }
  }
  return result
}

/** TensorFlow's rule: SAME gives ceil(size / stride) and puts the odd pixel of padding at the end. */
function outputOf(
  size: number,
  kernel: number,
  stride: number,
  mode: PaddingMode,
): [size: number, before: number] {
  if (mode === 'valid') return [Math.floor((size - kernel) / stride) + 1, 0]
  const output = Math.ceil(size / stride)
  return [output, Math.floor(Math.max(0, (output - 1) * stride + kernel - size) / 2)]
}

/** Calls `visit` with the start of every in-range input pixel under the window of every output pixel. */
function slide(
  x: Tensor,
  kernel: number,
  stride: number,
  mode: PaddingMode,
  channels: number,
  visit: (output: Float64Array, outputStart: number, inputStart: number, kernelIndex: number) => void,
  initial = 0,
): Tensor {
  const [height, top] = outputOf(x.height, kernel, stride, mode)
  const [width, left] = outputOf(x.width, kernel, stride, mode)
  const result = tensor(height, width, channels)
  result.data.fill(initial)
  for (let oy = 0; oy < height; oy++) {
    for (let ox = 0; ox < width; ox++) {
      for (let ky = 0; ky < kernel; ky++) {
        const iy = oy * stride + ky - top
        if (iy < 0 || iy >= x.height) continue
        for (let kx = 0; kx < kernel; kx++) {
          const ix = ox * stride + kx - left
          if (ix < 0 || ix >= x.width) continue
          visit(result.data, (oy * width + ox) * channels, (iy * x.width + ix) * x.channels, ky * kernel + kx)
        }
      }
    }
  }
  return result
}

/** Filters [k,k,inputs,outputs]. */
export function conv2d(x: Tensor, filters: Weight, stride: number, mode: PaddingMode): Tensor {
  const [kernel, , inputs, outputs] = filters.shape as [number, number, number, number]
  const weights = filters.data
  return slide(x, kernel, stride, mode, outputs, (output, outputStart, inputStart, k) => {
    for (let i = 0; i < inputs; i++) {
      const value = x.data[inputStart + i]!
      // Rectified, a half of them are zeros.
      if (value === 0) continue
      const filterStart = (k * inputs + i) * outputs
      for (let o = 0; o < outputs; o++) output[outputStart + o]! += value * weights[filterStart + o]!
    }
  })
}

/** Filters [k,k,channels,1]. */
export function depthwiseConv2d(x: Tensor, filters: Weight, stride: number, mode: PaddingMode): Tensor {
  return slide(x, filters.shape[0]!, stride, mode, x.channels, (output, outputStart, inputStart, k) => {
    for (let c = 0; c < x.channels; c++) {
      output[outputStart + c]! += x.data[inputStart + c]! * filters.data[k * x.channels + c]!
    }
  })
}

export function maxPool(x: Tensor, kernel: number, stride: number, mode: PaddingMode): Tensor {
  const visit = (output: Float64Array, outputStart: number, inputStart: number) => {
    for (let c = 0; c < x.channels; c++) {
      output[outputStart + c] = Math.max(output[outputStart + c]!, x.data[inputStart + c]!)
    }
  }
  return slide(x, kernel, stride, mode, x.channels, visit, Number.NEGATIVE_INFINITY)
}

/** Average pooling without padding. */
export function avgPool(x: Tensor, kernel: number, stride: number): Tensor {
  return slide(x, kernel, stride, 'valid', x.channels, (output, outputStart, inputStart) => {
    for (let c = 0; c < x.channels; c++) output[outputStart + c]! += x.data[inputStart + c]! / kernel ** 2
  })
}

/** Weights [inputs,outputs]. */
export function dense(x: ArrayLike<number>, weights: Weight, bias?: Weight): Float64Array {
  const outputs = weights.shape[1]!
  const result = new Float64Array(outputs)
  for (let o = 0; o < outputs; o++) {
    let sum = bias ? bias.data[o]! : 0
    for (let i = 0; i < x.length; i++) sum += x[i]! * weights.data[i * outputs + o]!
    result[o] = sum
  }
  return result
}
