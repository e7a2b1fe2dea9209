/**
 * Makes an 8-bit graph of a float32 one: weights and activations become bytes, in the standard's own way (QuantizeLinear and
 * DequantizeLinear around every operator), which a runtime with 8-bit kernels folds into them. Constants only: nothing is
 * measured at run time.
 */
import { type ByteGrid, type Constant, type GraphNode, OnnxGraph } from './onnx-writer.js'

/** Smallest and largest value of an activation. */
export type Range = readonly [least: number, greatest: number]

interface ByteScale {
  /** Difference that one step of the byte stands for. */
  scale: number
  /** The byte that stands for 0. */
  zero: number
}

const BYTE_STEPS = 255
/** Symmetric, so that a weight of 0 stays 0. */
const WEIGHT_STEPS = 127
/** Offset between an unsigned byte and the signed one that runtimes expect for weights. */
const SIGNED_OFFSET = 128

/** Operators that only move values: their output lies in the range of their input. */
const MOVES = new Set(['MaxPool', 'Pad'])
/** Small operators at the end of the graph: their output stays float32. */
const KEPT = new Set(['GlobalAveragePool', 'Flatten', 'MatMul'])

/**
 * @param graph of Conv, Relu, Add, MaxPool, AveragePool and Pad, and of `KEPT` at the end; float32
 * @param ranges of its input and of every activation that is kept between two operators, as `keptActivations` names them
 */
export function quantise(graph: OnnxGraph, ranges: Readonly<Record<string, Range>>): OnnxGraph {
  const { name, docString, inputs, outputs, constants, nodes } = graph.parts
  const result = new OnnxGraph(`${name}_int8`, `${docString} In 8 bits.`)
  const constantOf = new Map(constants.map((constant) => [constant.name, constant]))
  const scales = new Map<string, ByteScale>()
  const kept = new Set(keptActivations(graph))

  /** Through a byte and back; a runtime drops both where it computes in bytes. */
  const throughByte = (value: string, { scale, zero }: ByteScale) => {
    scales.set(value, { scale, zero })
    const parameters = [
      result.floats(`${value}/scale`, [], [scale]),
      result.integers(`${value}/zero`, [], Uint8Array.of(zero)),
    ] as const
    const byte = result.node('QuantizeLinear', [value, ...parameters], `${value}/byte`)
    result.node('DequantizeLinear', [byte, ...parameters], restored(value))
  }
  const rangeOf = (value: string): Range => {
    const range = ranges[value]
    if (!range) throw new TypeError(`the range of '${value}' is not known`)
    return range
  }

  for (const { name: input, dims } of inputs) {
    result.input(input, dims)
    throughByte(input, byteScale(rangeOf(input)))
  }
  for (const node of nodes) {
    const [first] = node.inputs
    const operands = node.inputs.map((input) => (scales.has(input) ? restored(input) : input))
    if (node.opType === 'Conv')
      operands.splice(1, 2, ...quantiseWeights(result, node, constantOf, scales.get(first!)!))
    for (const operand of operands) {
      const constant = constantOf.get(operand)
      if (constant) result.adopt(constant)
    }
    result.node(node.opType, operands, node.output, node.attributes)
    if (kept.has(node.output))
      throughByte(node.output, MOVES.has(node.opType) ? scales.get(first!)! : byteScale(rangeOf(node.output)))
  }
  for (const { name: output, dims } of outputs) result.output(output, dims)
  return result
}

/**
 * The activations of a graph that stand in memory between two operators, its input among them. A rectifier is one with what
 * it rectifies.
 */
export function keptActivations(graph: OnnxGraph): string[] {
  const { inputs, nodes } = graph.parts
  const isRectified = (value: string) => {
    const readers = nodes.filter((node) => node.inputs.includes(value))
    return readers.length === 1 && readers[0]!.opType === 'Relu'
  }
  return [
    ...inputs.map(({ name }) => name),
    ...nodes
      .filter(({ opType, output }) => !KEPT.has(opType) && !isRectified(output))
      .map(({ output }) => output),
  ]
}

/** Those of `keptActivations` whose range has to be measured; the others have that of what goes in. */
export function measuredActivations(graph: OnnxGraph): string[] {
  const moved = new Set(
    graph.parts.nodes.filter(({ opType }) => MOVES.has(opType)).map(({ output }) => output),
  )
  return keptActivations(graph).filter((value) => !moved.has(value))
}

function restored(value: string): string {
  return `${value}/restored`
}

/** 0 must have a byte of its own, because padding is made of it. */
function byteScale([least, greatest]: Range): ByteScale {
  const [from, to] = [Math.min(0, least), Math.max(0, greatest)]
  const scale = Math.fround((to - from) / BYTE_STEPS)
  return { scale, zero: Math.round(-from / scale) }
}

/** Filters as signed bytes, and a bias in steps of the products. @returns filters and bias, restored */
function quantiseWeights(
  result: OnnxGraph,
  { inputs, output }: GraphNode,
  constantOf: ReadonlyMap<string, Constant>,
  { scale: inputScale }: ByteScale,
): [filters: string, bias: string] {
  const [filters, bias] = [constantOf.get(inputs[1]!)!, constantOf.get(inputs[2]!)!]
  const [values, biases] = [floatsOf(filters), floatsOf(bias)]
  const channels = filters.dims[0]!
  const perChannel = values.length / channels
  // Weights that were published as bytes keep those bytes; rounding them again would only cost accuracy.
  const grid = isUsable(filters.grid) ? filters.grid : symmetricGrid(values, channels)
  const scales = Float32Array.from(grid.scales)
  const zero = grid.zero - SIGNED_OFFSET
  // Loops, here and in `floatsOf`: `from` first makes a list of millions of numbers, which takes ten times as long.
  const bytes = new Int8Array(values.length)
  for (let i = 0; i < values.length; i++)
    bytes[i] = Math.round(values[i]! / scales[Math.floor(i / perChannel)]!) + zero
  const biasScales = scales.map((scale) => inputScale * scale)
  const biasSteps = Int32Array.from(biases, (value, channel) => Math.round(value / biasScales[channel]!))
  const restore = (name: string, parameters: string[]) =>
    result.node('DequantizeLinear', parameters, name, { axis: { int: 0 } })
  return [
    restore(`${output}/filters/restored`, [
      result.integers(`${output}/filters/bytes`, filters.dims, bytes),
      result.floats(`${output}/filters/scale`, [channels], scales),
      result.integers(`${output}/filters/zero`, [channels], new Int8Array(channels).fill(zero)),
    ]),
    restore(`${output}/bias/restored`, [
      result.integers(`${output}/bias/steps`, [channels], biasSteps),
      result.floats(`${output}/bias/scale`, [channels], biasScales),
      result.integers(`${output}/bias/zero`, [channels], new Int32Array(channels)),
    ]),
  ]
}

/** A scale has to be positive, which a folded factor may not leave it. */
function isUsable(grid: ByteGrid | undefined): grid is ByteGrid {
  return grid !== undefined && Array.from(grid.scales).every((scale) => scale > 0)
}

/** The finest step of each channel, symmetric about 0. */
function symmetricGrid(values: Float32Array, channels: number): ByteGrid {
  const perChannel = values.length / channels
  const scales = Array.from({ length: channels }, (_, channel) => {
    const own = values.subarray(channel * perChannel, (channel + 1) * perChannel)
    const largest = own.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    // A channel of zeros has no scale of its own.
    return largest / WEIGHT_STEPS || 1
  })
  return { scales, zero: SIGNED_OFFSET }
}

function floatsOf({ rawData, dims }: Constant): Float32Array {
  const view = new DataView(rawData.buffer, rawData.byteOffset)
  const count = dims.reduce((product, dim) => product * dim, 1)
  const values = new Float32Array(count)
  for (let i = 0; i < count; i++) values[i] = view.getFloat32(i * Float32Array.BYTES_PER_ELEMENT, true)
  return values
}
