/** The three networks as face-api publishes them, over the plain layers: the reference for the ONNX graphs. */
import {
  add,
  addBias,
  avgPool,
  conv2d,
  dense,
  depthwiseConv2d,
  growWithZeros,
  map,
  maxPool,
  relu,
  type Tensor,
} from './nhwc.js'
import { readWeights, type Weight } from './quantised-weights.js'

type Weights = Record<string, Weight>

/** RGB bytes [side,side,3] to the values that the network was trained on. */
function normalise(image: Tensor, mean: [number, number, number]): Tensor {
  return map(image, (value, channel) => (value - mean[channel]!) / 255)
}

/** face-api pads the detector's by an explicit border of one pixel, which is what SAME does at stride 1. */
function separable(w: Weights, x: Tensor, name: string, stride = 1): Tensor {
  const filtered = depthwiseConv2d(x, w[`${name}/depthwise_filter`]!, stride, 'same')
  return addBias(conv2d(filtered, w[`${name}/pointwise_filter`]!, 1, 'valid'), w[`${name}/bias`]!)
}

/** The raw grid, [h,w,25]. */
export function referenceDetector(image: Tensor): Tensor {
  const w = readWeights('tiny_face_detector_model')
  const leaky = (x: Tensor) => map(x, (value) => (value > 0 ? value : value * Math.fround(0.1)))
  let x = normalise(image, [117.001, 114.697, 97.404])
  x = leaky(addBias(conv2d(x, w['conv0/filters']!, 1, 'valid'), w['conv0/bias']!))
  x = maxPool(x, 2, 2, 'same')
  for (const name of ['conv1', 'conv2', 'conv3', 'conv4']) {
    x = maxPool(leaky(separable(w, x, name)), 2, 2, 'same')
  }
  x = maxPool(leaky(separable(w, x, 'conv5')), 2, 1, 'same')
  return addBias(conv2d(x, w['conv8/filters']!, 1, 'valid'), w['conv8/bias']!)
}

/** 136 values: x and y in turn, as fractions of the input. */
export function referenceLandmarks(image: Tensor): Float64Array {
  const w = readWeights('face_landmark_68_model')
  let x = normalise(image, [122.782, 117.001, 104.298])
  for (const block of ['dense0', 'dense1', 'dense2', 'dense3']) {
    const first =
      block === 'dense0'
        ? addBias(conv2d(x, w['dense0/conv0/filters']!, 2, 'same'), w['dense0/conv0/bias']!)
        : separable(w, x, `${block}/conv0`, 2)
    const out1 = relu(first)
    const out2 = separable(w, out1, `${block}/conv1`)
    const out3 = separable(w, relu(add(out1, out2)), `${block}/conv2`)
    const out4 = separable(w, relu(add(out1, add(out2, out3))), `${block}/conv3`)
    x = relu(add(out1, add(out2, add(out3, out4))))
  }
  return dense(avgPool(x, 7, 2).data, w['fc/weights']!, w['fc/bias']!)
}

/** 128 values. */
export function referenceEmbedder(image: Tensor): Float64Array {
  const w = readWeights('face_recognition_model')
  const scaled = (x: Tensor, name: string, stride: number, mode: 'same' | 'valid') => {
    const out = addBias(conv2d(x, w[`${name}/conv/filters`]!, stride, mode), w[`${name}/conv/bias`]!)
    const [factors, offsets] = [w[`${name}/scale/weights`]!, w[`${name}/scale/biases`]!]
    return map(out, (value, c) => value * factors.data[c]! + offsets.data[c]!)
  }
  const residual = (x: Tensor, name: string) => {
    const out = relu(scaled(x, `${name}/conv1`, 1, 'same'))
    return relu(add(scaled(out, `${name}/conv2`, 1, 'same'), x))
  }
  const residualDown = (x: Tensor, name: string) => {
    let out = relu(scaled(x, `${name}/conv1`, 2, 'valid'))
    out = scaled(out, `${name}/conv2`, 1, 'same')
    const pooled = avgPool(x, 2, 2)
    out = growWithZeros(out, pooled.height, pooled.width, out.channels)
    return relu(add(growWithZeros(pooled, pooled.height, pooled.width, out.channels), out))
  }
  let x = normalise(image, [122.782, 117.001, 104.298])
  x = maxPool(relu(scaled(x, 'conv32_down', 2, 'valid')), 3, 2, 'valid')
  const blocks =
    'conv32_1 conv32_2 conv32_3 conv64_down conv64_1 conv64_2 conv64_3 conv128_down conv128_1 conv128_2 ' +
    'conv256_down conv256_1 conv256_2 conv256_down_out'
  for (const name of blocks.split(' ')) x = name.includes('down') ? residualDown(x, name) : residual(x, name)
  return dense(avgPool(x, x.height, 1).data, w.fc!)
}
