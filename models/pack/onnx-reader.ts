/** Reads of an ONNX file what decides whether it can run here: versions, border tensors and the domains of its nodes. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** An input or output of the graph. */
export interface BorderTensor {
  side: 'input' | 'output'
  name: string
  /** Number of the element type in onnx.proto; null for a value that is no tensor. */
  elementType: number | null
}

export interface OnnxSummary {
  irVersion: number
  /** Version of the default operator set. */
  opset: number
  /** Inputs that have a constant of the same name are left out. */
  border: BorderTensor[]
  /** Domains of all nodes, those of nested graphs included; the default one is ''. */
  domains: Set<string>
}

interface Border {
  tensors: BorderTensor[]
  constants: Set<string>
}

/** Names of the default operator set's domain. */
const DEFAULT_DOMAINS = ['', 'ai.onnx']
/** Graphs nest through loops and branches; no real one comes near. */
const MAX_DEPTH = 16

/** Handlers by field number; a field without one is skipped. */
type Fields = Record<number, (reader: BinaryReader) => void>

/** @throws Error for bytes that are no ONNX model */
export function summarizeOnnx(bytes: Uint8Array): OnnxSummary {
  const summary: OnnxSummary = { irVersion: 0, opset: 0, border: [], domains: new Set() }
  const border: Border = { tensors: [], constants: new Set() }
  let hasGraph = false
  readFields(bytes, {
    1: (reader) => {
      summary.irVersion = Number(reader.int64())
    },
    7: (reader) => {
      hasGraph = true
      readGraph(reader.bytes(), summary, 0, border)
    },
    8: (reader) => {
      let [domain, version] = ['', 0]
      readFields(reader.bytes(), {
        1: (field) => {
          domain = field.string()
        },
        2: (field) => {
          version = Number(field.int64())
        },
      })
      if (DEFAULT_DOMAINS.includes(domain)) summary.opset = version
    },
    // A function is read as the graph that it is: its nodes have another number.
    25: (reader) => readFields(reader.bytes(), { 7: (field) => readNode(field.bytes(), summary, 1) }),
  })
  if (!hasGraph) throw new Error('it holds no graph')
  summary.border = border.tensors.filter(({ side, name }) => side === 'output' || !border.constants.has(name))
  return summary
}

/** @param border receives inputs, outputs and constants; undefined for a nested graph */
function readGraph(bytes: Uint8Array, summary: OnnxSummary, depth: number, border?: Border): void {
  if (depth > MAX_DEPTH) throw new Error(`its graphs are nested more than ${MAX_DEPTH} deep`)
  const nodes = { 1: (reader: BinaryReader) => readNode(reader.bytes(), summary, depth) }
  readFields(bytes, border ? { ...nodes, ...borderFields(border) } : nodes)
}

function borderFields({ tensors, constants }: Border): Fields {
  return {
    5: (reader) =>
      readFields(reader.bytes(), {
        8: (field) => {
          constants.add(field.string())
        },
      }),
    11: (reader) => {
      tensors.push(readBorder(reader.bytes(), 'input'))
    },
    12: (reader) => {
      tensors.push(readBorder(reader.bytes(), 'output'))
    },
  }
}

function readNode(bytes: Uint8Array, summary: OnnxSummary, depth: number): void {
  const nested = (reader: BinaryReader) => readGraph(reader.bytes(), summary, depth + 1)
  readFields(bytes, {
    5: (reader) => readFields(reader.bytes(), { 6: nested, 11: nested }),
    7: (reader) => {
      summary.domains.add(reader.string())
    },
  })
}

function readBorder(bytes: Uint8Array, side: BorderTensor['side']): BorderTensor {
  const tensor: BorderTensor = { side, name: '', elementType: null }
  readFields(bytes, {
    1: (reader) => {
      tensor.name = reader.string()
    },
    2: (reader) =>
      readFields(reader.bytes(), {
        1: (type) =>
          readFields(type.bytes(), {
            1: (field) => {
              tensor.elementType = field.int32()
            },
          }),
      }),
  })
  return tensor
}

function readFields(bytes: Uint8Array, fields: Fields): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    const read = fields[field]
    if (read && (wireType === WireType.LengthDelimited || wireType === WireType.Varint)) read(reader)
    else reader.skip(wireType, field)
  }
}
