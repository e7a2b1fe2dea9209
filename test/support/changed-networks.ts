/** ONNX files with a fault. Messages that follow one another are merged by the format, so each fault is appended to a whole file. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

const FLOAT32 = 1

/** Adds an output of another element type, which a Cast makes of the embedding. @param elementType number in onnx.proto */
export function outputOfType(network: Buffer, name: string, elementType: number, from = 'embedding'): Buffer {
  const cast = new BinaryWriter()
  text(cast, 1, from)
  text(cast, 2, name)
  text(cast, 4, 'Cast')
  cast.tag(5, WireType.LengthDelimited).fork()
  text(cast, 1, 'to')
  cast.tag(3, WireType.Varint).int64(elementType).tag(20, WireType.Varint).int32(2).join()
  return appended(network, (graph) => {
    graph.tag(1, WireType.LengthDelimited).bytes(cast.finish())
    graph.tag(12, WireType.LengthDelimited).bytes(tensor(name, elementType))
  })
}

/** Adds a node of another domain, to the graph or to a graph inside one of its nodes. */
export function foreignNode(network: Buffer, domain: string, place: 'graph' | 'nested' = 'graph'): Buffer {
  const node = new BinaryWriter()
  text(node, 4, 'Conv')
  text(node, 7, domain)
  const bytes = node.finish()
  return appended(network, (graph) => {
    if (place === 'graph') graph.tag(1, WireType.LengthDelimited).bytes(bytes)
    else
      graph
        .tag(1, WireType.LengthDelimited)
        .fork()
        .tag(5, WireType.LengthDelimited)
        .fork()
        .tag(6, WireType.LengthDelimited)
        .fork()
        .tag(1, WireType.LengthDelimited)
        .bytes(bytes)
        .join()
        .join()
        .join()
  })
}

/** A network of one operator that says it was made for these versions. */
export function withOpset(opset: number, irVersion: number): Uint8Array {
  const model = new BinaryWriter()
  model.tag(1, WireType.Varint).int64(irVersion)
  model.tag(7, WireType.LengthDelimited).fork()
  model.tag(1, WireType.LengthDelimited).fork()
  text(model, 1, 'x')
  text(model, 2, 'y')
  text(model, 4, 'Relu')
  model.join()
  text(model, 2, 'graph')
  model.tag(11, WireType.LengthDelimited).bytes(tensor('x', FLOAT32))
  model.tag(12, WireType.LengthDelimited).bytes(tensor('y', FLOAT32))
  model.join()
  model.tag(8, WireType.LengthDelimited).fork()
  text(model, 1, '')
  return model.tag(2, WireType.Varint).int64(opset).join().finish()
}

function appended(network: Buffer, change: (graph: BinaryWriter) => void): Buffer {
  const graph = new BinaryWriter()
  change(graph)
  const model = new BinaryWriter()
  model.tag(7, WireType.LengthDelimited).bytes(graph.finish())
  return Buffer.concat([network, model.finish()])
}

/** A ValueInfoProto: a tensor of four numbers. */
function tensor(name: string, elementType: number): Uint8Array {
  const info = new BinaryWriter()
  text(info, 1, name)
  info.tag(2, WireType.LengthDelimited).fork()
  info.tag(1, WireType.LengthDelimited).fork()
  info.tag(1, WireType.Varint).int32(elementType)
  return info.join().join().finish()
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value)
}
