/** Runs a TensorFlow Lite graph operator by operator as it stands in the file: interleaved, in double precision. */
import type { TfliteModel, TfliteOperator } from '../../../tools/pack-builders/tflite/tflite-model.js'
import { add, addBias, conv2d, depthwiseConv2d, map, relu, type Tensor } from './nhwc.js'
import type { Weight } from './quantised-weights.js'

/** @returns the output's numbers */
export function referenceTflite(model: TfliteModel, input: Tensor): Float64Array {
  const values = new Map([[model.input, input]])
  for (const operator of model.operators) values.set(operator.output, evaluate(operator, model, values))
  return values.get(model.output)!.data
}

function evaluate(operator: TfliteOperator, model: TfliteModel, values: ReadonlyMap<number, Tensor>): Tensor {
  const [first, second, third] = operator.inputs as [number, number, number]
  const x = (tensor = first) => values.get(tensor)!
  const constant = (tensor: number): Weight => {
    const { shape, constant } = model.tensors[tensor]!
    return { shape: [...shape], data: constant! }
  }
  switch (operator.type) {
    case 'conv2d': {
      const { stride, padding } = operator.window!
      return addBias(conv2d(x(), toHwio(constant(second)), stride, padding), constant(third))
    }
    case 'depthwiseConv2d': {
      const { stride, padding } = operator.window!
      const { shape, data } = constant(second)
      const filters = { shape: [shape[1]!, shape[2]!, shape[3]!, 1], data }
      return addBias(depthwiseConv2d(x(), filters, stride, padding), constant(third))
    }
    case 'relu':
      return relu(x())
    case 'abs':
      return map(x(), Math.abs)
    case 'sub':
      return add(
        x(),
        map(x(second), (value) => -value),
      )
    case 'mul': {
      const { data } = constant(first)
      return map(x(second), (value, channel) => value * data[channel]!)
    }
    case 'add':
      return add(x(), x(second))
    case 'reshape':
      return x()
  }
}

/** TensorFlow Lite keeps filters as [outputs, height, width, inputs]. */
function toHwio({ shape, data }: Weight): Weight {
  const [outputs, height, width, inputs] = shape as [number, number, number, number]
  const perOutput = height * width * inputs
  return {
    shape: [height, width, inputs, outputs],
    data: Float32Array.from(data, (_, at) => data[(at % outputs) * perOutput + Math.floor(at / outputs)]!),
  }
}
