/** The landmarks: face-api's full 68-point network, four densely connected blocks of separable convolutions. */
import { OnnxGraph } from '../onnx/onnx-writer.js'
import type { FaceApiWeights } from './face-api-weights.js'
import {
  addConvolution,
  addSeparableConvolution,
  BYTE_RANGE,
  END_PADDING,
  EVEN_PADDING,
  type MeanRgb,
  takeConvolution,
} from './layers.js'

/** Base name of the weight files. */
export const LANDMARKS_WEIGHTS = 'face_landmark_68_model'

/** Side of the square input. */
export const LANDMARKS_INPUT_PX = 112

const MEAN_RGB: MeanRgb = [122.782, 117.001, 104.298]
const FIRST_KERNEL_PX = 3
/** Channels of the four blocks. Each halves the size: 112, 56, 28, 14, 7. */
const BLOCK_CHANNELS = [32, 64, 128, 256] as const
/** Convolutions a block has after its first. */
const DENSE_LAYERS = 3
const BLOCK_STRIDE_PX = 2
const LANDMARK_COUNT = 68
const OUTPUT_VALUES = LANDMARK_COUNT * 2

/**
 * Input `input` [N,3,112,112] float32, RGB bytes 0..255: the face box, padded to a square with zeros on both
 * sides (an odd difference at the end).
 * Output `landmarks` [N,136] float32: x and y of the 68 points in turn, as fractions of the padded square.
 *
 * The first convolution pads with zeros after the subtraction of the mean, so that cannot be folded into it and
 * stands in front as nodes.
 */
export function buildLandmarksGraph(weights: FaceApiWeights): OnnxGraph {
  const graph = new OnnxGraph('face_landmark_68', '68 landmarks of a face in an RGB image of 0..255.')
  const input = graph.input('input', ['N', 3, LANDMARKS_INPUT_PX, LANDMARKS_INPUT_PX])
  const centred = graph.node('Sub', [input, graph.floats('mean', [1, 3, 1, 1], MEAN_RGB)], 'centred')
  let x = graph.node('Div', [centred, graph.floats('range', [], [BYTE_RANGE])], 'normalised')
  let inputs = 3
  for (const [block, outputs] of BLOCK_CHANNELS.entries()) {
    x = addDenseBlock(graph, weights, x, `dense${block}`, inputs, outputs)
    inputs = outputs
  }
  const pooled = graph.node('GlobalAveragePool', [x], 'pooled')
  const features = graph.node('Flatten', [pooled], 'features')
  const fc = [
    graph.floats('fc/weights', [inputs, OUTPUT_VALUES], weights.take('fc/weights', [inputs, OUTPUT_VALUES])),
    graph.floats('fc/bias', [OUTPUT_VALUES], weights.take('fc/bias', [OUTPUT_VALUES])),
  ]
  graph.output(graph.node('Gemm', [features, ...fc], 'landmarks'), ['N', OUTPUT_VALUES])
  return graph
}

/** Every layer of a block reads the rectified sum of all layers before it; the block gives the last such sum. */
function addDenseBlock(
  graph: OnnxGraph,
  weights: FaceApiWeights,
  input: string,
  name: string,
  inputs: number,
  outputs: number,
): string {
  const first = `${name}/conv0`
  let sum =
    name === 'dense0'
      ? addConvolution(
          graph,
          input,
          first,
          takeConvolution(weights, first, { kernelPx: FIRST_KERNEL_PX, inputs, outputs }),
          BLOCK_STRIDE_PX,
          END_PADDING,
        )
      : addSeparableConvolution(graph, weights, input, first, {
          inputs,
          outputs,
          stridePx: BLOCK_STRIDE_PX,
          padding: END_PADDING,
        })
  // The first layer enters every sum already rectified, the others as they are.
  sum = graph.node('Relu', [sum], `${first}/relu`)
  let x = sum
  for (let layer = 1; layer <= DENSE_LAYERS; layer++) {
    const next = `${name}/conv${layer}`
    const added = addSeparableConvolution(graph, weights, x, next, {
      inputs: outputs,
      outputs,
      stridePx: 1,
      padding: EVEN_PADDING,
    })
    sum = graph.node('Add', [sum, added], `${next}/sum`)
    x = graph.node('Relu', [sum], `${next}/relu`)
  }
  return x
}
