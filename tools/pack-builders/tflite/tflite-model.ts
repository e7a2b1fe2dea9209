/** Reads TensorFlow Lite models: the operators of the one subgraph, in an order in which they can run, and its tensors. */
import { FlatTable } from './flat-table.js'

/** Identifier of the file, at its fifth to eighth byte. */
const IDENTIFIER = 'TFL3'

/** Positions of fields in tensorflow/lite/schema/schema.fbs. */
const FIELD = {
  model: { operatorCodes: 1, subgraphs: 2, buffers: 4 },
  operatorCode: { builtinCode: 0 },
  subgraph: { tensors: 0, inputs: 1, outputs: 2, operators: 3 },
  tensor: { shape: 0, type: 1, buffer: 2 },
  operator: { code: 0, inputs: 1, outputs: 2, options: 4 },
  buffer: { data: 0 },
  conv2d: { padding: 0, strideWidth: 1, strideHeight: 2, activation: 3 },
  depthwiseConv2d: { padding: 0, strideWidth: 1, strideHeight: 2, depthMultiplier: 3, activation: 4 },
  binary: { activation: 0 },
} as const

/** BuiltinOperator of the schema, as far as it is read; all fit the field that older readers know. */
const OPERATOR = {
  0: 'add',
  3: 'conv2d',
  4: 'depthwiseConv2d',
  18: 'mul',
  19: 'relu',
  22: 'reshape',
  41: 'sub',
  101: 'abs',
} as const

const TENSOR_TYPE = { float32: 0, int32: 2 } as const
const PADDING = { same: 0, valid: 1 } as const
const NO_ACTIVATION = 0
const FLOAT32_BYTES = 4

export type TfliteOperatorType = (typeof OPERATOR)[keyof typeof OPERATOR]

export interface TfliteTensor {
  shape: readonly number[]
  /** Constant data; null for computed tensors and for the shapes that `reshape` reads. */
  constant: Float32Array | null
}

export interface TfliteOperator {
  type: TfliteOperatorType
  /** Indices of tensors. */
  inputs: readonly number[]
  output: number
  /** Strides and padding of convolutions, the same for rows and columns. */
  window: { stride: number; padding: 'same' | 'valid' } | null
}

export interface TfliteModel {
  tensors: readonly TfliteTensor[]
  operators: readonly TfliteOperator[]
  input: number
  output: number
}

/** @throws Error naming what the file holds and this reader does not know */
export function readTfliteModel(bytes: Uint8Array): TfliteModel {
  const model = FlatTable.root(bytes, IDENTIFIER)
  const [subgraph, ...more] = model.tables(FIELD.model.subgraphs)
  if (!subgraph || more.length > 0) throw new Error('the model must have one subgraph')
  const codes = model
    .tables(FIELD.model.operatorCodes)
    .map((code) => code.int8(FIELD.operatorCode.builtinCode))
  const buffers = model.tables(FIELD.model.buffers)
  const only = (indices: readonly number[], what: string) => {
    if (indices.length !== 1) throw new Error(`${what} has ${indices.length} tensors, expected one`)
    return indices[0]!
  }
  return {
    tensors: subgraph.tables(FIELD.subgraph.tensors).map((tensor) => readTensor(tensor, buffers)),
    operators: subgraph.tables(FIELD.subgraph.operators).map((operator, index) => {
      const code = codes[operator.int32(FIELD.operator.code)]
      const type = OPERATOR[code as keyof typeof OPERATOR]
      if (!type) throw new Error(`operator ${index} has the code ${code}, which is not known`)
      return {
        type,
        inputs: operator.int32s(FIELD.operator.inputs),
        output: only(operator.int32s(FIELD.operator.outputs), `the output of operator ${index}`),
        window: readOptions(type, operator.table(FIELD.operator.options)),
      }
    }),
    input: only(subgraph.int32s(FIELD.subgraph.inputs), 'the input'),
    output: only(subgraph.int32s(FIELD.subgraph.outputs), 'the output'),
  }
}

function readTensor(tensor: FlatTable, buffers: readonly FlatTable[]): TfliteTensor {
  const shape = tensor.int32s(FIELD.tensor.shape)
  const type = tensor.int8(FIELD.tensor.type)
  const bytes = buffers[tensor.int32(FIELD.tensor.buffer)]?.bytes(FIELD.buffer.data) ?? new Uint8Array(0)
  if (type === TENSOR_TYPE.int32 || bytes.byteLength === 0) return { shape, constant: null }
  if (type !== TENSOR_TYPE.float32) throw new Error(`a tensor has the type ${type}, expected float32`)
  const count = shape.reduce((product, side) => product * side, 1)
  if (bytes.byteLength !== count * FLOAT32_BYTES)
    throw new Error(`a tensor of ${count} numbers has ${bytes.byteLength} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    shape,
    constant: Float32Array.from({ length: count }, (_, i) => view.getFloat32(i * FLOAT32_BYTES, true)),
  }
}

/** Refuses activations inside an operator: this reader computes none, and leaving one out would go unnoticed. */
function readOptions(type: TfliteOperatorType, options: FlatTable | null): TfliteOperator['window'] {
  const isConvolution = type === 'conv2d' || type === 'depthwiseConv2d'
  const fields = isConvolution ? FIELD[type] : FIELD.binary
  const hasActivation = isConvolution || type === 'add' || type === 'sub' || type === 'mul'
  if (hasActivation && (options?.int8(fields.activation) ?? 0) !== NO_ACTIVATION)
    throw new Error(`an operator ${type} holds an activation`)
  if (!isConvolution) return null
  if (!options) throw new Error(`an operator ${type} has no options`)
  const { strideWidth, strideHeight, padding } = FIELD[type]
  const stride = options.int32(strideWidth)
  if (stride < 1 || options.int32(strideHeight) !== stride)
    throw new Error(`an operator ${type} has unequal strides`)
  if (type === 'depthwiseConv2d' && options.int32(FIELD.depthwiseConv2d.depthMultiplier) !== 1)
    throw new Error('a depthwise convolution multiplies its channels')
  return { stride, padding: options.int8(padding) === PADDING.same ? 'same' : 'valid' }
}
