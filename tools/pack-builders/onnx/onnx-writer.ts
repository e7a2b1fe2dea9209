/** Writes ONNX models: a graph of named nodes and constants, encoded as the protobuf messages of onnx.proto. */
import { endianness } from 'node:os'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** IR version 8 is the oldest that goes with opset 17 in the ONNX release table (ONNX 1.12). */
export const ONNX_IR_VERSION = 8
/** Version of the default operator set that the written graphs are expressed in. */
export const ONNX_OPSET = 17

/** A dimension: a length, or the name of a length that is known only at run time. */
export type Dimension = number | string

/** Operators mix integers and floats freely, and JavaScript's numbers do not show which of them a number is: say it. */
export type Attribute = { int: number } | { float: number } | { ints: readonly number[] }

export type Attributes = Readonly<Record<string, Attribute>>

/** Numbers of messages' fields, from onnx.proto. */
const FIELD = {
  model: { irVersion: 1, producerName: 2, graph: 7, opsetImport: 8 },
  operatorSet: { domain: 1, version: 2 },
  graph: { node: 1, name: 2, initializer: 5, docString: 10, input: 11, output: 12 },
  node: { input: 1, output: 2, name: 3, opType: 4, attribute: 5 },
  attribute: { name: 1, float: 2, int: 3, ints: 8, type: 20 },
  tensor: { dims: 1, dataType: 2, name: 8, rawData: 9 },
  valueInfo: { name: 1, type: 2 },
  type: { tensor: 1 },
  tensorType: { elementType: 1, shape: 2 },
  shape: { dim: 1 },
  dimension: { value: 1, param: 2 },
} as const

const ATTRIBUTE_TYPE = { float: 1, int: 2, ints: 7 } as const
const ELEMENT_TYPE = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const

type Integers = Uint8Array | Int8Array | Int32Array | BigInt64Array

export interface GraphNode {
  opType: string
  inputs: readonly string[]
  output: string
  attributes: Attributes
}

export interface Constant {
  name: string
  elementType: (typeof ELEMENT_TYPE)[keyof typeof ELEMENT_TYPE]
  dims: readonly number[]
  rawData: Uint8Array
  /** Where the values are on one. */
  grid?: ByteGrid | undefined
}

/** Values that were bytes once: value = (byte - zero) × scale of its first index. */
export interface ByteGrid {
  /** One for each index of the first dimension. */
  scales: ArrayLike<number>
  zero: number
}

export interface TensorInfo {
  name: string
  dims: readonly Dimension[]
}

/** Content of a graph; nodes in an order in which they can run. */
export interface GraphParts {
  name: string
  docString: string
  inputs: readonly TensorInfo[]
  outputs: readonly TensorInfo[]
  constants: readonly Constant[]
  nodes: readonly GraphNode[]
}

/**
 * A model under construction. Every value has one name; nodes are added in an order in which they can run, which
 * is what the format demands. The same calls always give the same bytes.
 */
export class OnnxGraph {
  private readonly name: string
  private readonly docString: string
  private readonly values = new Set<string>()
  private readonly inputs: TensorInfo[] = []
  private readonly outputs: TensorInfo[] = []
  private readonly constants: Constant[] = []
  private readonly nodes: GraphNode[] = []

  constructor(name: string, docString: string) {
    this.name = name
    this.docString = docString
  }

  /** The content, for code that derives another graph. */
  get parts(): GraphParts {
    return {
      name: this.name,
      docString: this.docString,
      inputs: this.inputs,
      outputs: this.outputs,
      constants: this.constants,
      nodes: this.nodes,
    }
  }

  /** Declares a float32 input and returns its name. */
  input(name: string, dims: readonly Dimension[]): string {
    this.define(name)
    this.inputs.push({ name, dims })
    return name
  }

  /** Declares an existing value as a float32 output. */
  output(name: string, dims: readonly Dimension[]): void {
    this.assertDefined(name)
    this.outputs.push({ name, dims })
  }

  /** Adds a float32 constant in row-major order, rounded to float32 here and only here; returns its name. */
  floats(name: string, dims: readonly number[], values: ArrayLike<number>, grid?: ByteGrid): string {
    assertElementCount(name, dims, values.length)
    const rawData = littleEndian(new Float32Array(values))
    return this.constant({ name, elementType: ELEMENT_TYPE.float32, dims, rawData, grid })
  }

  /** Adds a constant of whole numbers in row-major order, of the type of its array; returns its name. */
  integers(name: string, dims: readonly number[], values: Integers): string {
    assertElementCount(name, dims, values.length)
    return this.constant({ name, elementType: elementTypeOf(values), dims, rawData: littleEndian(values) })
  }

  /** Adds a constant of another graph under the same name, once. */
  adopt(constant: Constant): void {
    if (!this.values.has(constant.name)) this.constant(constant)
  }

  /** Adds a node with one output, which also names the node; returns that name. */
  node(opType: string, inputs: readonly string[], output: string, attributes: Attributes = {}): string {
    for (const input of inputs) this.assertDefined(input)
    this.define(output)
    this.nodes.push({ opType, inputs, output, attributes })
    return output
  }

  /** The model as the content of an .onnx file. */
  encode(): Uint8Array {
    const writer = new BinaryWriter()
    int64(writer, FIELD.model.irVersion, ONNX_IR_VERSION)
    text(writer, FIELD.model.producerName, 'countersign')
    message(writer, FIELD.model.graph, () => this.encodeGraph(writer))
    message(writer, FIELD.model.opsetImport, () => {
      text(writer, FIELD.operatorSet.domain, '')
      int64(writer, FIELD.operatorSet.version, ONNX_OPSET)
    })
    return writer.finish()
  }

  private encodeGraph(writer: BinaryWriter): void {
    for (const node of this.nodes) message(writer, FIELD.graph.node, () => encodeNode(writer, node))
    text(writer, FIELD.graph.name, this.name)
    for (const constant of this.constants) {
      message(writer, FIELD.graph.initializer, () => encodeConstant(writer, constant))
    }
    text(writer, FIELD.graph.docString, this.docString)
    for (const info of this.inputs) message(writer, FIELD.graph.input, () => encodeTensorInfo(writer, info))
    for (const info of this.outputs) message(writer, FIELD.graph.output, () => encodeTensorInfo(writer, info))
  }

  private constant(constant: Constant): string {
    this.define(constant.name)
    this.constants.push(constant)
    return constant.name
  }

  private define(name: string): void {
    if (name === '' || this.values.has(name)) throw new TypeError(`graph value '${name}' is empty or taken`)
    this.values.add(name)
  }

  private assertDefined(name: string): void {
    if (!this.values.has(name)) throw new TypeError(`graph value '${name}' is used before it exists`)
  }
}

function assertElementCount(name: string, dims: readonly number[], count: number): void {
  const expected = dims.reduce((product, dim) => product * dim, 1)
  if (count !== expected) throw new TypeError(`constant '${name}' has ${count} values, its shape ${expected}`)
}

function elementTypeOf(values: Integers) {
  if (values instanceof Uint8Array) return ELEMENT_TYPE.uint8
  if (values instanceof Int8Array) return ELEMENT_TYPE.int8
  return values instanceof Int32Array ? ELEMENT_TYPE.int32 : ELEMENT_TYPE.int64
}

/** The bytes in the order of the format, which is the same on every machine. */
function littleEndian(values: Integers | Float32Array): Uint8Array {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
  if (endianness() === 'LE' || values.BYTES_PER_ELEMENT === 1) return bytes
  const copy = Buffer.from(bytes)
  return values.BYTES_PER_ELEMENT === 4 ? copy.swap32() : copy.swap64()
}

function encodeNode(writer: BinaryWriter, node: GraphNode): void {
  for (const input of node.inputs) text(writer, FIELD.node.input, input)
  text(writer, FIELD.node.output, node.output)
  text(writer, FIELD.node.name, node.output)
  text(writer, FIELD.node.opType, node.opType)
  for (const [name, attribute] of Object.entries(node.attributes)) {
    message(writer, FIELD.node.attribute, () => encodeAttribute(writer, name, attribute))
  }
}

function encodeAttribute(writer: BinaryWriter, name: string, attribute: Attribute): void {
  text(writer, FIELD.attribute.name, name)
  if ('float' in attribute) {
    writer.tag(FIELD.attribute.float, WireType.Bit32).float(attribute.float)
    int64(writer, FIELD.attribute.type, ATTRIBUTE_TYPE.float)
  } else if ('int' in attribute) {
    int64(writer, FIELD.attribute.int, attribute.int)
    int64(writer, FIELD.attribute.type, ATTRIBUTE_TYPE.int)
  } else {
    // onnx.proto is proto2, where repeated numbers are not packed unless it says so.
    for (const value of attribute.ints) int64(writer, FIELD.attribute.ints, value)
    int64(writer, FIELD.attribute.type, ATTRIBUTE_TYPE.ints)
  }
}

function encodeConstant(writer: BinaryWriter, constant: Constant): void {
  for (const dim of constant.dims) int64(writer, FIELD.tensor.dims, dim)
  int64(writer, FIELD.tensor.dataType, constant.elementType)
  text(writer, FIELD.tensor.name, constant.name)
  writer.tag(FIELD.tensor.rawData, WireType.LengthDelimited).bytes(constant.rawData)
}

function encodeTensorInfo(writer: BinaryWriter, info: TensorInfo): void {
  text(writer, FIELD.valueInfo.name, info.name)
  message(writer, FIELD.valueInfo.type, () => {
    message(writer, FIELD.type.tensor, () => {
      int64(writer, FIELD.tensorType.elementType, ELEMENT_TYPE.float32)
      message(writer, FIELD.tensorType.shape, () => {
        for (const dim of info.dims) message(writer, FIELD.shape.dim, () => encodeDimension(writer, dim))
      })
    })
  })
}

function encodeDimension(writer: BinaryWriter, dim: Dimension): void {
  if (typeof dim === 'string') text(writer, FIELD.dimension.param, dim)
  else int64(writer, FIELD.dimension.value, dim)
}

function message(writer: BinaryWriter, field: number, writeContent: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork()
  writeContent()
  writer.join()
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value)
}

function int64(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int64(value)
}
