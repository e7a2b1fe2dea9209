/**
 * Converts MobileFaceNet from TensorFlow Lite to ONNX: planar instead of interleaved, any batch, PReLU in a form that
 * runs fast.
 */
import { toOutputMajor, windowAttributes } from '../baseline/layers.js'
import { OnnxGraph } from '../onnx/onnx-writer.js'
import type { TfliteModel, TfliteOperator } from '../tflite/tflite-model.js'

export const EMBEDDER_INPUT_PX = 112
export const EMBEDDER_DIMENSIONS = 192

const MIN_DIVISOR = 2 ** -20

/** TensorFlow's `prelu`: relu(x) + slope · (x − |x|), where x − |x| is 2x below zero. */
interface ParametricRelu {
  input: number
  /** Slope of each channel, as a factor of x below zero. */
  slopes: Float64Array
}

/** Filters of a convolution: [outputs, perOutput, kernelPx, kernelPx]. */
interface Filters {
  weights: Float64Array
  bias: Float64Array
  outputs: number
  /** Inputs of each output. */
  perOutput: number
  kernelPx: number
}

/**
 * [batch,3,112,112] to [batch,192], for pixels that are already scaled. The one reshape is the last operator.
 * @throws Error where the model is not the chain of convolutions, PReLUs and sums that it is taken for
 */
export function buildMobileFaceNetGraph(model: TfliteModel): OnnxGraph {
  return new Conversion(model).run()
}

class Conversion {
  private readonly graph = new OnnxGraph(
    'mobilefacenet',
    'MobileFaceNet with 192 numbers a face, from TensorFlow Lite; input: RGB, (x - 127.5) / 128',
  )
  /** ONNX name of each computed tensor. */
  private readonly names = new Map<number, string>()
  private readonly makers: ReadonlyMap<number, TfliteOperator>
  private readonly sidesPx = new Map<number, number>()
  /** Divisor of each channel, if the graph's value is the tensor divided by something. */
  private readonly divisors = new Map<number, Float64Array>()
  /** 1×1 convolutions that wait for the next one, by output. */
  private readonly folded = new Map<number, { input: number; filters: Filters }>()

  constructor(private readonly model: TfliteModel) {
    this.makers = new Map(model.operators.map((operator) => [operator.output, operator]))
  }

  run(): OnnxGraph {
    const { model, graph } = this
    this.names.set(model.input, graph.input('input', ['batch', 3, EMBEDDER_INPUT_PX, EMBEDDER_INPUT_PX]))
    this.sidesPx.set(model.input, EMBEDDER_INPUT_PX)
    for (const operator of model.operators) this.convert(operator)
    const output = this.nameOf(model.output)
    graph.output(output, ['batch', EMBEDDER_DIMENSIONS])
    return graph
  }

  private convert(operator: TfliteOperator): void {
    const { type, inputs, output } = operator
    if (type === 'conv2d' || type === 'depthwiseConv2d') this.addConvolution(operator)
    else if (type === 'add') this.addSum(operator)
    else if (type === 'reshape') {
      const flat = this.graph.node('Flatten', [this.nameOf(inputs[0]!)], 'output', { axis: { int: 1 } })
      this.names.set(output, flat)
    }
    // relu, abs, sub and mul are parts of a PReLU, which the sum at its end adds whole.
  }

  private addConvolution(operator: TfliteOperator): void {
    const { graph } = this
    const { output, window } = operator
    const own = this.readFilters(operator)
    const folded = this.folded.get(operator.inputs[0]!)
    const input = folded?.input ?? operator.inputs[0]!
    const filters = folded ? compose(folded.filters, own) : own
    if (this.isFoldable(operator)) {
      this.folded.set(output, { input, filters })
      return
    }
    const { outputs, perOutput, kernelPx } = filters
    const name = `layer${output}`
    const sidePx = this.sidesPx.get(input)!
    const { stride, padding } = window!
    const isSame = padding === 'same'
    const outSidePx = isSame ? Math.ceil(sidePx / stride) : Math.floor((sidePx - kernelPx) / stride) + 1
    // TensorFlow's rule for SAME: the odd pixel of padding goes to the end.
    const missingPx = isSame ? Math.max(0, (outSidePx - 1) * stride + kernelPx - sidePx) : 0
    const [before, after] = [missingPx >> 1, missingPx - (missingPx >> 1)]
    const convolved = graph.node(
      'Conv',
      [
        this.convolvable(input),
        graph.floats(`${name}/filters`, [outputs, perOutput, kernelPx, kernelPx], filters.weights),
        graph.floats(`${name}/bias`, [outputs], filters.bias),
      ],
      name,
      {
        ...windowAttributes(kernelPx, stride, { startPx: before, endPx: after }),
        group: { int: operator.type === 'depthwiseConv2d' ? outputs : 1 },
      },
    )
    this.names.set(output, convolved)
    this.sidesPx.set(output, outSidePx)
  }

  /** Parameters in ONNX's order, and for the graph's value of the input. */
  private readFilters({ type, inputs }: TfliteOperator): Filters {
    const { tensors } = this.model
    const { shape, constant } = tensors[inputs[1]!]!
    const [first, kernelPx, , last] = shape as [number, number, number, number]
    const isDepthwise = type === 'depthwiseConv2d'
    const [outputs, perOutput] = isDepthwise ? [last, 1] : [first, last]
    const weights = isDepthwise
      ? toOutputMajor(constant!, kernelPx ** 2, 1, outputs)
      : outputMajor(constant!, outputs, kernelPx ** 2, perOutput)
    const divisors = this.divisors.get(inputs[0]!)
    if (divisors) multiplyInputs(weights, divisors, kernelPx ** 2)
    const bias = Float64Array.from(tensors[inputs[2]!]!.constant!)
    return { weights, bias, outputs, perOutput, kernelPx }
  }

  /** Finds a 1×1 convolution that only another one reads: the two are merged. */
  private isFoldable(operator: TfliteOperator): boolean {
    const readers = this.model.operators.filter(({ inputs }) => inputs.includes(operator.output))
    return readers.length === 1 && [operator, ...readers].every((one) => this.isPointwise(one))
  }

  private isPointwise({ type, inputs, window }: TfliteOperator): boolean {
    return type === 'conv2d' && window!.stride === 1 && this.model.tensors[inputs[1]!]!.shape[1] === 1
  }

  private addSum(operator: TfliteOperator): void {
    const { inputs, output } = operator
    const activation = this.asParametricRelu(operator)
    const name = `layer${output}`
    this.names.set(
      output,
      activation
        ? this.addParametricRelu(activation, output)
        : this.graph.node(
            'Add',
            inputs.map((input) => this.nameOf(input)),
            name,
          ),
    )
    this.sidesPx.set(output, this.sidesPx.get(activation?.input ?? inputs[0]!)!)
  }

  /**
   * a·x + (1 − a)·relu(x), divided by 1 − a, which the next convolution makes good: relu(x) then stands as it is, and the rest
   * is one 1×1 depthwise convolution. ONNX Runtime keeps both in the blocked layout of the layers around them, where its PRelu
   * makes it convert there and back.
   */
  private addParametricRelu({ input, slopes }: ParametricRelu, output: number): string {
    const { graph } = this
    const x = this.nameOf(input)
    const name = `layer${output}`
    const channels = slopes.length
    const divisors = slopes.map((slope) => awayFromZero(1 - slope))
    this.divisors.set(output, divisors)
    const positive = graph.node('Relu', [x], `${name}/relu`)
    const factors = slopes.map((slope, channel) => slope / divisors[channel]!)
    const rest = graph.node(
      'Conv',
      [x, graph.floats(`${name}/factors`, [channels, 1, 1, 1], factors)],
      `${name}/rest`,
      { kernel_shape: { ints: [1, 1] }, group: { int: channels } },
    )
    return graph.node('Add', [rest, positive], name)
  }

  /** Null for a sum of two branches. */
  private asParametricRelu({ inputs }: TfliteOperator): ParametricRelu | null {
    const [positive, product] = inputs.map((input) => this.makers.get(input))
    if (positive?.type !== 'relu' || product?.type !== 'mul') return null
    const [factors, difference] = product.inputs as [number, number]
    const slopes = this.model.tensors[factors]!.constant
    const sub = this.makers.get(difference)
    const abs = sub && this.makers.get(sub.inputs[1]!)
    const input = positive.inputs[0]!
    const isParametricRelu =
      slopes &&
      sub?.type === 'sub' &&
      abs?.type === 'abs' &&
      sub.inputs[0] === input &&
      abs.inputs[0] === input
    if (!isParametricRelu) throw new Error('a sum of a relu is not the PReLU that it was taken for')
    return { input, slopes: Float64Array.from(slopes, (half) => 2 * half) }
  }

  /** @throws Error for a part of a PReLU that something else reads, and for what only a convolution can make good */
  private nameOf(tensor: number): string {
    if (this.divisors.has(tensor)) throw new Error(`tensor ${tensor} is no input of a convolution`)
    return this.convolvable(tensor)
  }

  private convolvable(tensor: number): string {
    const name = this.names.get(tensor)
    if (name === undefined) throw new Error(`tensor ${tensor} is used in a way that is not known`)
    return name
  }
}

/** Any value will do for a slope of 1, if it is taken for both divisions; this one is as near as float32 can distinguish. */
function awayFromZero(difference: number): number {
  return Math.abs(difference) < MIN_DIVISOR ? MIN_DIVISOR : difference
}

/** Merges two 1×1 convolutions into one. */
function compose(first: Filters, second: Filters): Filters {
  const [inputs, between, outputs] = [first.perOutput, first.outputs, second.outputs]
  const weights = new Float64Array(outputs * inputs)
  const bias = Float64Array.from(second.bias)
  for (let o = 0; o < outputs; o++)
    for (let b = 0; b < between; b++) {
      const factor = second.weights[o * between + b]!
      bias[o]! += factor * first.bias[b]!
      for (let i = 0; i < inputs; i++) weights[o * inputs + i]! += factor * first.weights[b * inputs + i]!
    }
  return { weights, bias, outputs, perOutput: inputs, kernelPx: 1 }
}

/** Filters [outputs, inputs, area], or [channels, area] of a depthwise convolution. */
function multiplyInputs(filters: Float64Array, factors: Float64Array, area: number): void {
  for (let at = 0; at < filters.length; at++) filters[at]! *= factors[Math.floor(at / area) % factors.length]!
}

/** [outputs, area, inputs] to [outputs, inputs, area]. */
function outputMajor(values: Float32Array, outputs: number, area: number, inputs: number): Float64Array {
  const result = new Float64Array(values.length)
  let at = 0
  for (let o = 0; o < outputs; o++)
    for (let i = 0; i < inputs; i++)
      for (let a = 0; a < area; a++) result[at++] = values[(o * area + a) * inputs + i]!
  return result
}
