/** The embedder: dlib's face recognition ResNet in face-api's conversion, 29 convolutions, 128 dimensions. */
import { OnnxGraph } from '../onnx/onnx-writer.js'
import type { FaceApiWeights } from './face-api-weights.js'
import {
  addConvolution,
  type Convolution,
  EVEN_PADDING,
  foldInputNormalisation,
  foldOutputScale,
  type MeanRgb,
  NO_PADDING,
  takeConvolution,
  windowAttributes,
} from './layers.js'

/** Base name of the weight files. */
export const EMBEDDER_WEIGHTS = 'face_recognition_model'

/** Side of the square input, dlib's face chip. */
export const EMBEDDER_INPUT_PX = 150
/** Length of the embedding. */
export const EMBEDDER_DIMENSIONS = 128

const MEAN_RGB: MeanRgb = [122.782, 117.001, 104.298]
const STEM_CHANNELS = 32
const STEM_KERNEL_PX = 7
const STEM_STRIDE_PX = 2
const STEM_POOL_PX = 3
const STEM_POOL_STRIDE_PX = 2
const KERNEL_PX = 3
const DOWN_STRIDE_PX = 2
const DOWN_POOL_PX = 2

interface ResidualBlock {
  name: string
  channels: number
  /** Side of the feature map at the block's end. */
  sizePx: number
  /** Halves the size and, where the channels grow, doubles them. */
  isDown: boolean
}

/** In order; the stem leaves a feature map of 32 × 35 × 35. */
const STEM_SIZE_PX = 35
const BLOCKS: readonly ResidualBlock[] = [
  { name: 'conv32_1', channels: 32, sizePx: 35, isDown: false },
  { name: 'conv32_2', channels: 32, sizePx: 35, isDown: false },
  { name: 'conv32_3', channels: 32, sizePx: 35, isDown: false },
  { name: 'conv64_down', channels: 64, sizePx: 17, isDown: true },
  { name: 'conv64_1', channels: 64, sizePx: 17, isDown: false },
  { name: 'conv64_2', channels: 64, sizePx: 17, isDown: false },
  { name: 'conv64_3', channels: 64, sizePx: 17, isDown: false },
  { name: 'conv128_down', channels: 128, sizePx: 8, isDown: true },
  { name: 'conv128_1', channels: 128, sizePx: 8, isDown: false },
  { name: 'conv128_2', channels: 128, sizePx: 8, isDown: false },
  { name: 'conv256_down', channels: 256, sizePx: 4, isDown: true },
  { name: 'conv256_1', channels: 256, sizePx: 4, isDown: false },
  { name: 'conv256_2', channels: 256, sizePx: 4, isDown: false },
  { name: 'conv256_down_out', channels: 256, sizePx: 2, isDown: true },
]

/**
 * Input `input` [N,3,150,150] float32, RGB bytes 0..255: the face aligned to dlib's chip.
 * Output `embedding` [N,128] float32, to be compared by Euclidean distance as it is, without normalisation.
 *
 * The per-channel scale after each convolution is folded into it, and mean and range into the first.
 */
export function buildEmbedderGraph(weights: FaceApiWeights): OnnxGraph {
  const graph = new OnnxGraph('face_recognition', 'Embedding of an aligned face in an RGB image of 0..255.')
  const input = graph.input('input', ['N', 3, EMBEDDER_INPUT_PX, EMBEDDER_INPUT_PX])
  let x = addStem(graph, weights, input)
  let channels = STEM_CHANNELS
  let sizePx = STEM_SIZE_PX
  for (const block of BLOCKS) {
    x = addResidualBlock(graph, weights, x, block, channels, sizePx)
    channels = block.channels
    sizePx = block.sizePx
  }
  const pooled = graph.node('GlobalAveragePool', [x], 'pooled')
  const features = graph.node('Flatten', [pooled], 'features')
  const fcShape = [channels, EMBEDDER_DIMENSIONS]
  const fc = graph.floats('fc', fcShape, weights.take('fc', fcShape))
  graph.output(graph.node('MatMul', [features, fc], 'embedding'), ['N', EMBEDDER_DIMENSIONS])
  return graph
}

/** 150 → 72 by the convolution, → 35 by the pooling, both without padding. */
function addStem(graph: OnnxGraph, weights: FaceApiWeights, input: string): string {
  const name = 'conv32_down'
  const scaled = takeScaledConvolution(weights, name, STEM_KERNEL_PX, 3, STEM_CHANNELS)
  const folded = foldInputNormalisation(scaled, MEAN_RGB)
  const x = addConvolution(graph, input, name, folded, STEM_STRIDE_PX, NO_PADDING)
  const rectified = graph.node('Relu', [x], `${name}/relu`)
  const pool = windowAttributes(STEM_POOL_PX, STEM_POOL_STRIDE_PX, NO_PADDING)
  return graph.node('MaxPool', [rectified], `${name}/pool`, pool)
}

function addResidualBlock(
  graph: OnnxGraph,
  weights: FaceApiWeights,
  input: string,
  block: ResidualBlock,
  inputs: number,
  inputSizePx: number,
): string {
  const { name, channels, isDown } = block
  const conv1 = takeScaledConvolution(weights, `${name}/conv1`, KERNEL_PX, inputs, channels)
  const conv2 = takeScaledConvolution(weights, `${name}/conv2`, KERNEL_PX, channels, channels)
  let x = isDown
    ? addConvolution(graph, input, `${name}/conv1`, conv1, DOWN_STRIDE_PX, NO_PADDING)
    : addConvolution(graph, input, `${name}/conv1`, conv1, 1, EVEN_PADDING)
  x = graph.node('Relu', [x], `${name}/conv1/relu`)
  x = addConvolution(graph, x, `${name}/conv2`, conv2, 1, EVEN_PADDING)
  let shortcut = input
  if (isDown) {
    const pool = windowAttributes(DOWN_POOL_PX, DOWN_POOL_PX, NO_PADDING)
    shortcut = graph.node('AveragePool', [input], `${name}/pool`, pool)
    shortcut = addZeros(graph, shortcut, `${name}/widened`, channels - inputs, 0)
    // Without padding, stride 2 takes 8 to 3 and 4 to 1, where the pooling gives 4 and 2.
    const convolvedSizePx = Math.floor((inputSizePx - KERNEL_PX) / DOWN_STRIDE_PX) + 1
    x = addZeros(graph, x, `${name}/enlarged`, 0, block.sizePx - convolvedSizePx)
  }
  const sum = graph.node('Add', [x, shortcut], `${name}/sum`)
  return graph.node('Relu', [sum], name)
}

/** Appends channels of zeros, or rows and columns of zeros at the end; none of either leaves the value as it is. */
function addZeros(graph: OnnxGraph, input: string, name: string, channels: number, sizePx: number): string {
  if (channels === 0 && sizePx === 0) return input
  const atStart = [0, 0, 0, 0]
  const ends = [...atStart, 0, channels, sizePx, sizePx]
  const pads = graph.integers(`${name}/pads`, [ends.length], BigInt64Array.from(ends, BigInt))
  return graph.node('Pad', [input, pads], name)
}

function takeScaledConvolution(
  weights: FaceApiWeights,
  name: string,
  kernelPx: number,
  inputs: number,
  outputs: number,
): Convolution {
  return foldOutputScale(
    takeConvolution(weights, `${name}/conv`, { kernelPx, inputs, outputs }),
    weights.take(`${name}/scale/weights`, [outputs]),
    weights.take(`${name}/scale/biases`, [outputs]),
  )
}
