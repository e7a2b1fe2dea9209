/** A model pack that recognizes people as the baseline does, and whose embeddings cannot be compared with those of any other pack. */
import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { PackManifest } from '../../models/pack/pack-schema.js'
import { OnnxGraph } from '../../tools/pack-builders/onnx/onnx-writer.js'
import { writeBroughtPack } from './packs.js'

/** Numbers of fields, from onnx.proto. */
const GRAPH_OF_MODEL = 7
const NODE = 1
const INITIALIZER = 5
const OUTPUT = 12
const NAME_OF_VALUE = 1

/**
 * Writes the baseline pack as `<id>@1.0.0` with other signs of the embedding's values. Scores within the pack are those of the baseline;
 * a face scores low against the same face of another pack, or of another turned pack.
 */
export async function writeTurnedPack(dir: string, modelsDir: string, id: string): Promise<void> {
  await writeBroughtPack(dir, modelsDir, () => ({ id }))
  await rm(join(dir, 'calibration.json'), { force: true })
  const file = join(dir, 'pack.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as PackManifest
  const { embedder } = manifest
  const signs = signsOf(id, embedder.dimensions)
  for (const network of [embedder, ...(embedder.quantised ? [embedder.quantised] : [])]) {
    const turned = turn(await readFile(join(dir, network.file)), signs)
    await writeFile(join(dir, network.file), turned)
    network.sha256 = createHash('sha256').update(turned).digest('hex')
  }
  await writeFile(file, JSON.stringify(manifest))
}

/** Half of the signs differ between two ids, or nearly so. */
function signsOf(id: string, count: number): number[] {
  const bits = createHash('sha256').update(id).digest()
  return Array.from({ length: count }, (_, i) => ((bits[(i >> 3) % bits.length]! >> (i & 7)) & 1 ? 1 : -1))
}

/** Multiplies the output of a network with constants. */
function turn(model: Uint8Array, factors: readonly number[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const { number, wire, value } of fieldsOf(model))
    if (number === GRAPH_OF_MODEL) writer.tag(number, wire).bytes(turnGraph(value as Uint8Array, factors))
    else copy(writer, { number, wire, value })
  return writer.finish()
}

function turnGraph(graph: Uint8Array, factors: readonly number[]): Uint8Array {
  const fields = [...fieldsOf(graph)]
  const output = fields.find(({ number }) => number === OUTPUT)!.value as Uint8Array
  const name = nameOf(output)
  const added = graphOf(name, factors)
  const writer = new BinaryWriter()
  for (const field of fields)
    if (field.number === OUTPUT) writer.tag(OUTPUT, WireType.LengthDelimited).bytes(renamed(output, TURNED))
    else copy(writer, field)
  for (const field of added) copy(writer, field)
  return writer.finish()
}

const TURNED = 'turned'

/** The node and the constant that turn a value. */
function graphOf(name: string, factors: readonly number[]): Field[] {
  const graph = new OnnxGraph('turn', '')
  graph.input(name, ['n', factors.length])
  graph.node('Mul', [name, graph.floats('signs', [factors.length], factors)], TURNED)
  const model = [...fieldsOf(graph.encode())].find(({ number }) => number === GRAPH_OF_MODEL)!
  return [...fieldsOf(model.value as Uint8Array)].filter(
    ({ number }) => number === NODE || number === INITIALIZER,
  )
}

interface Field {
  number: number
  wire: WireType
  value: Uint8Array | bigint | string
}

function* fieldsOf(message: Uint8Array): Generator<Field> {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag()
    // ONNX models have no other wire types at these levels.
    yield { number, wire, value: wire === WireType.Varint ? reader.uint64() : reader.bytes() }
  }
}

function copy(writer: BinaryWriter, { number, wire, value }: Field): void {
  if (wire === WireType.Varint) writer.tag(number, wire).uint64(value as bigint)
  else writer.tag(number, wire).bytes(value as Uint8Array)
}

function nameOf(value: Uint8Array): string {
  return new TextDecoder().decode(
    [...fieldsOf(value)].find(({ number }) => number === NAME_OF_VALUE)!.value as Uint8Array,
  )
}

function renamed(value: Uint8Array, name: string): Uint8Array {
  const writer = new BinaryWriter()
  for (const field of fieldsOf(value))
    if (field.number === NAME_OF_VALUE) writer.tag(NAME_OF_VALUE, WireType.LengthDelimited).string(name)
    else copy(writer, field)
  return writer.finish()
}
