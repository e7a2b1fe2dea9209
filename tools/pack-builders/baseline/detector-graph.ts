/** The detector: face-api's tiny face detector, a small YOLOv2 of separable convolutions. */
import { OnnxGraph } from '../onnx/onnx-writer.js'
import type { FaceApiWeights } from './face-api-weights.js'
import {
  addConvolution,
  addSeparableConvolution,
  END_PADDING,
  EVEN_PADDING,
  foldInputNormalisation,
  type MeanRgb,
  NO_PADDING,
  takeConvolution,
  windowAttributes,
} from './layers.js'

/** Base name of the weight files. */
export const DETECTOR_WEIGHTS = 'tiny_face_detector_model'

/** Width and height of the anchor boxes in cells of the output grid (face-api's BOX_ANCHORS). */
export const DETECTOR_ANCHORS = [
  [1.603231, 2.094468],
  [6.041143, 7.080126],
  [2.882459, 3.518061],
  [4.266906, 5.178857],
  [9.041765, 10.66308],
] as const

const MEAN_RGB: MeanRgb = [117.001, 114.697, 97.404]
const KERNEL_PX = 3
/** Channels after each of the six convolutions that a pooling follows; the first one is not separable. */
const STAGE_CHANNELS = [16, 32, 64, 128, 256, 512] as const
const LEAKY_SLOPE = 0.1
const POOL_PX = 2
/** x, y, width, height and objectness. */
const VALUES_PER_ANCHOR = 5
const GRID_CHANNELS = DETECTOR_ANCHORS.length * VALUES_PER_ANCHOR

/**
 * Input `input` [N,3,H,W] float32, RGB bytes 0..255, any H and W from 3 up (face-api feeds squares).
 * Output `grid` [N,25,h,w] float32 with h = ceil((H - 2) / 32): the raw values, channel = anchor × 5 + k for
 * k = x, y, width, height, objectness.
 *
 * Mean and range are folded into the first convolution, so letterboxes are padded with plain zeros.
 */
export function buildDetectorGraph(weights: FaceApiWeights): OnnxGraph {
  const graph = new OnnxGraph('tiny_face_detector', 'Raw YOLOv2 grid of faces in an RGB image of 0..255.')
  let x = graph.input('input', ['N', 3, 'H', 'W'])
  let inputs = 3
  for (const [stage, outputs] of STAGE_CHANNELS.entries()) {
    const name = `conv${stage}`
    x =
      stage === 0
        ? addConvolution(
            graph,
            x,
            name,
            foldInputNormalisation(
              takeConvolution(weights, name, { kernelPx: KERNEL_PX, inputs, outputs }),
              MEAN_RGB,
            ),
            1,
            NO_PADDING,
          )
        : addSeparableConvolution(graph, weights, x, name, {
            inputs,
            outputs,
            stridePx: 1,
            padding: EVEN_PADDING,
          })
    x = graph.node('LeakyRelu', [x], `${name}/leaky`, { alpha: { float: LEAKY_SLOPE } })
    // The last pooling keeps the size. Padding the end of an even size with stride 2 changes nothing, so one
    // rule serves every input size.
    const isLast = stage === STAGE_CHANNELS.length - 1
    x = graph.node(
      'MaxPool',
      [x],
      `${name}/pool`,
      windowAttributes(POOL_PX, isLast ? 1 : POOL_PX, END_PADDING),
    )
    inputs = outputs
  }
  // The source numbers its layers after the full YOLOv2, whose sixth and seventh convolutions are left out here.
  const head = takeConvolution(weights, 'conv8', { kernelPx: 1, inputs, outputs: GRID_CHANNELS })
  graph.output(addConvolution(graph, x, 'grid', head, 1, NO_PADDING), ['N', GRID_CHANNELS, 'h', 'w'])
  return graph
}
