/** The layers that the baseline's networks share, and the exact folding of per-channel factors into them. */
import type { Attributes, ByteGrid, OnnxGraph } from '../onnx/onnx-writer.js'
import type { FaceApiWeights } from './face-api-weights.js'

/** All three networks were trained on RGB bytes divided by 255, after subtraction of a mean in bytes. */
export const BYTE_RANGE = 255

const DEPTHWISE_KERNEL_PX = 3

/** Per-channel mean in bytes, in the order red, green, blue. */
export type MeanRgb = readonly [number, number, number]

/** A convolution's parameters, in double precision until they are written. */
export interface Convolution {
  /** [outputs, inputs, kernel, kernel], row-major. */
  filters: Float64Array
  bias: Float64Array
  inputs: number
  outputs: number
  kernelPx: number
  /** Where the filters are bytes in the package. */
  grid: ByteGrid | undefined
}

/** Padding in pixels. TensorFlow's SAME with stride 2 on an even size pads only the end. */
export interface Padding {
  startPx: number
  endPx: number
}

export const NO_PADDING: Padding = { startPx: 0, endPx: 0 }
export const END_PADDING: Padding = { startPx: 0, endPx: 1 }
export const EVEN_PADDING: Padding = { startPx: 1, endPx: 1 }

/** Attributes of a square window, with the same stride and padding on both axes. */
export function windowAttributes(kernelPx: number, stridePx: number, padding: Padding): Attributes {
  const { startPx, endPx } = padding
  return {
    kernel_shape: { ints: [kernelPx, kernelPx] },
    strides: { ints: [stridePx, stridePx] },
    pads: { ints: [startPx, startPx, endPx, endPx] },
  }
}

/** Reads `<name>/filters` [k,k,inputs,outputs] (HWIO) and `<name>/bias`, and puts the filters in ONNX's order OIHW. */
export function takeConvolution(
  weights: FaceApiWeights,
  name: string,
  size: { kernelPx: number; inputs: number; outputs: number },
): Convolution {
  const { kernelPx, inputs, outputs } = size
  const hwio = weights.take(`${name}/filters`, [kernelPx, kernelPx, inputs, outputs])
  const steps = weights.stepsOf(`${name}/filters`)
  const bias = weights.take(`${name}/bias`, [outputs])
  return {
    ...size,
    filters: toOutputMajor(hwio, kernelPx ** 2, inputs, outputs),
    bias: Float64Array.from(bias),
    grid: steps ? { scales: new Float64Array(outputs).fill(steps.size), zero: steps.zero } : undefined,
  }
}

/**
 * Makes a convolution of (x - mean) / 255 one of x. Exact in real arithmetic, but only for a convolution without
 * padding: padded zeros stand for the mean.
 */
export function foldInputNormalisation(convolution: Convolution, mean: MeanRgb): Convolution {
  const { inputs, outputs, kernelPx } = convolution
  const area = kernelPx ** 2
  const filters = convolution.filters.map((weight) => weight / BYTE_RANGE)
  const bias = Float64Array.from(convolution.bias)
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) {
      const start = (o * inputs + i) * area
      for (let at = start; at < start + area; at++) bias[o]! -= filters[at]! * mean[i]!
    }
  }
  const grid = scaleGrid(convolution.grid, () => 1 / BYTE_RANGE)
  return { ...convolution, filters, bias, grid }
}

/** Folds a following per-channel `x * factor + offset` into the convolution; exact in real arithmetic. */
export function foldOutputScale(
  convolution: Convolution,
  factors: ArrayLike<number>,
  offsets: ArrayLike<number>,
): Convolution {
  const { inputs, outputs, kernelPx } = convolution
  const perOutput = inputs * kernelPx ** 2
  const filters = new Float64Array(convolution.filters.length)
  // Loops over millions of weights: a callback for each would take ten times as long.
  for (let o = 0, at = 0; o < outputs; o++) {
    const factor = factors[o]!
    for (const end = at + perOutput; at < end; at++) filters[at] = convolution.filters[at]! * factor
  }
  return {
    ...convolution,
    filters,
    bias: convolution.bias.map((value, o) => value * factors[o]! + offsets[o]!),
    grid: scaleGrid(convolution.grid, (o) => factors[o]!),
  }
}

function scaleGrid(grid: ByteGrid | undefined, factorOf: (output: number) => number): ByteGrid | undefined {
  return grid && { ...grid, scales: Float64Array.from(grid.scales, (scale, o) => scale * factorOf(o)) }
}

/** Adds the convolution and its constants to the graph; returns the output's name. */
export function addConvolution(
  graph: OnnxGraph,
  input: string,
  name: string,
  convolution: Convolution,
  stridePx: number,
  padding: Padding,
): string {
  const { filters, bias, inputs, outputs, kernelPx, grid } = convolution
  const parameters = [
    graph.floats(`${name}/filters`, [outputs, inputs, kernelPx, kernelPx], filters, grid),
    graph.floats(`${name}/bias`, [outputs], bias),
  ]
  return graph.node('Conv', [input, ...parameters], name, windowAttributes(kernelPx, stridePx, padding))
}

/**
 * Adds a 3×3 depthwise convolution and the 1×1 convolution after it: no activation in between, and one bias, which
 * comes last.
 */
export function addSeparableConvolution(
  graph: OnnxGraph,
  weights: FaceApiWeights,
  input: string,
  name: string,
  size: { inputs: number; outputs: number; stridePx: number; padding: Padding },
): string {
  const { inputs, outputs, stridePx, padding } = size
  const depthwise = weights.take(`${name}/depthwise_filter`, [
    DEPTHWISE_KERNEL_PX,
    DEPTHWISE_KERNEL_PX,
    inputs,
    1,
  ])
  const pointwise = weights.take(`${name}/pointwise_filter`, [1, 1, inputs, outputs])
  const bias = weights.take(`${name}/bias`, [outputs])
  const filtered = graph.node(
    'Conv',
    [
      input,
      graph.floats(
        `${name}/depthwise_filter`,
        [inputs, 1, DEPTHWISE_KERNEL_PX, DEPTHWISE_KERNEL_PX],
        toOutputMajor(depthwise, DEPTHWISE_KERNEL_PX ** 2, 1, inputs),
      ),
    ],
    `${name}/depthwise`,
    { ...windowAttributes(DEPTHWISE_KERNEL_PX, stridePx, padding), group: { int: inputs } },
  )
  return graph.node(
    'Conv',
    [
      filtered,
      graph.floats(
        `${name}/pointwise_filter`,
        [outputs, inputs, 1, 1],
        toOutputMajor(pointwise, 1, inputs, outputs),
      ),
      graph.floats(`${name}/bias`, [outputs], bias),
    ],
    name,
    windowAttributes(1, 1, NO_PADDING),
  )
}

/** [area, inputs, outputs] to [outputs, inputs, area]. */
export function toOutputMajor(
  values: Float32Array,
  area: number,
  inputs: number,
  outputs: number,
): Float64Array {
  const result = new Float64Array(values.length)
  let at = 0
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) {
      for (let a = 0; a < area; a++) result[at++] = values[(a * inputs + i) * outputs + o]!
    }
  }
  return result
}
