/** Compares the 8-bit embedder with the float32 one from which it is made. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, inject, it } from 'vitest'
import { hasByteDotProducts } from '../../../models/pack/cpu-features.js'
import { loadModelPack } from '../../../models/pack/model-pack.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { buildEmbedderGraph, EMBEDDER_WEIGHTS } from '../../../tools/pack-builders/baseline/embedder-graph.js'
import { EMBEDDER_RANGES } from '../../../tools/pack-builders/baseline/embedder-ranges.js'
import { FaceApiWeights, findWeightsDir } from '../../../tools/pack-builders/baseline/face-api-weights.js'
import { OnnxGraph } from '../../../tools/pack-builders/onnx/onnx-writer.js'
import { keptActivations, measuredActivations, quantise } from '../../../tools/pack-builders/onnx/quantise.js'
import { chipsOf, inputOf, measureRanges } from '../activation-ranges.js'
import { DEMO_DIR, demoPhoto } from '../photos.js'

const RANGES_FILE = packageFile('tools', 'pack-builders', 'baseline', 'embedder-ranges.ts')

const packDir = join(inject('modelsDir'), 'baseline')

const embedderGraph = async () =>
  buildEmbedderGraph(await FaceApiWeights.load(findWeightsDir(), EMBEDDER_WEIGHTS))

describe('the ranges of the embedder', () => {
  it('the ranges are those of the photographs that come with the weights (UPDATE_RANGES=1 writes them)', async () => {
    const measured = await measureRanges(await embedderGraph(), packDir, fileURLToPath(DEMO_DIR))
    if (process.env.UPDATE_RANGES === '1') {
      const lines = Object.entries(measured).map(
        ([name, [least, greatest]]) =>
          `  '${name}': [${Number(least.toPrecision(5))}, ${Number(greatest.toPrecision(5))}],\n`,
      )
      const source = readFileSync(RANGES_FILE, 'utf8')
      writeFileSync(RANGES_FILE, source.replace(/\{\n[^}]*\}/, `{\n${lines.join('')}}`))
    }
    expect(Object.keys(EMBEDDER_RANGES)).toEqual(Object.keys(measured))
    for (const [name, [least, greatest]] of Object.entries(measured)) {
      const span = greatest - least
      const [from, to] = EMBEDDER_RANGES[name]!
      expect(Math.abs(from - least) / span, name).toBeLessThan(0.02)
      expect(Math.abs(to - greatest) / span, name).toBeLessThan(0.02)
    }
  })
})

const embed = async (session: InferenceSession, chip: Float32Array) =>
  Object.values(await session.run({ input: inputOf(chip) }))[0]!.data as Float32Array

// Without such instructions products of bytes saturate, and the service runs the float32 graph.
it.skipIf(!hasByteDotProducts)(
  'the 8-bit embedder puts a face where the float32 one puts it, within a twentieth of the distance that decides',
  async () => {
    const open = (file: string) => InferenceSession.create(join(packDir, file), { logSeverityLevel: 4 })
    const sessions = [await open('embedder.onnx'), await open('embedder-int8.onnx')] as const
    const chips = await chipsOf(await loadModelPack(packDir), [demoPhoto(3), demoPhoto(6)])
    for (let at = 0; at < chips.length; at += 2) {
      // A face is put where the mean of its chip and the mirror image is.
      const [float, byte] = await Promise.all(
        sessions.map(async (session) => {
          const [chip, mirrored] = [await embed(session, chips[at]!), await embed(session, chips[at + 1]!)]
          return chip.map((value, i) => (value + mirrored[i]!) / 2)
        }),
      )
      const apart = Math.hypot(...float!.map((value, i) => value - byte![i]!))
      expect(apart).toBeLessThan(0.03)
      expect(apart).toBeGreaterThan(0)
    }
    await Promise.all(sessions.map((session) => session.release()))
  },
)

describe('a quantised graph', () => {
  /** A convolution whose rectified output is pooled and widened, and added to itself. */
  function graph(): OnnxGraph {
    const made = new OnnxGraph('test', 'A test.')
    const x = made.input('x', ['N', 1, 4, 4])
    const filters = made.floats(
      'f',
      [2, 1, 3, 3],
      Float32Array.from({ length: 18 }, (_, i) => Math.sin(i) / 4),
    )
    const bias = made.floats('b', [2], [0.25, -0.125])
    const window = (kernel: number, stride: number) => ({
      kernel_shape: { ints: [kernel, kernel] },
      strides: { ints: [stride, stride] },
      pads: { ints: [kernel >> 1, kernel >> 1, kernel >> 1, kernel >> 1] },
    })
    const conv = made.node('Conv', [x, filters, bias], 'conv', window(3, 1))
    const relu = made.node('Relu', [conv], 'relu')
    const sum = made.node('Add', [relu, relu], 'sum')
    made.output(made.node('GlobalAveragePool', [sum], 'y'), ['N', 2, 1, 1])
    return made
  }

  it('a quantised graph keeps the activations between operators, and merges a rectifier with its input', () => {
    expect(keptActivations(graph())).toEqual(['x', 'relu', 'sum'])
    expect(measuredActivations(graph())).toEqual(['x', 'relu', 'sum'])
  })

  it.skipIf(!hasByteDotProducts)(
    'a quantised graph gives nearly the results of the float32 graph',
    async () => {
      const data = Float32Array.from({ length: 16 }, (_, i) => ((i * 37) % 16) / 8 - 0.9)
      const run = async (made: OnnxGraph) => {
        const session = await InferenceSession.create(made.encode(), { logSeverityLevel: 4 })
        const { y } = await session.run({ x: new Tensor('float32', data, [1, 1, 4, 4]) })
        await session.release()
        return [...(y!.data as Float32Array)]
      }
      const expected = await run(graph())
      const actual = await run(quantise(graph(), { x: [-1, 1], relu: [0, 2], sum: [0, 4] }))
      for (const [i, value] of actual.entries()) expect(value).toBeCloseTo(expected[i]!, 1.5)
      expect(actual).not.toEqual(expected)
    },
  )

  it('filters that were bytes keep their bytes', () => {
    const made = new OnnxGraph('test', 'A test.')
    const x = made.input('x', ['N', 1, 4, 4])
    const published = [3, 255, 0, 17]
    const [zero, scale] = [17, 0.1]
    const filters = made.floats(
      'f',
      [4, 1, 1, 1],
      published.map((byte) => (byte - zero) * scale),
      { scales: [scale, scale, scale, scale], zero },
    )
    const bias = made.floats('b', [4], [0, 0, 0, 0])
    made.output(made.node('Conv', [x, filters, bias], 'y'), ['N', 4, 4, 4])
    const { constants } = quantise(made, { x: [0, 1], y: [-3, 30] }).parts
    const bytes = constants.find(({ name }) => name === 'y/filters/bytes')!
    expect([...new Int8Array(bytes.rawData)]).toEqual(published.map((byte) => byte - 128))
    const zeros = constants.find(({ name }) => name === 'y/filters/zero')!
    expect([...new Int8Array(zeros.rawData)]).toEqual(Array(4).fill(zero - 128))
  })

  it('a graph is not quantised without the range of every activation', () => {
    expect(() => quantise(graph(), { x: [-1, 1], relu: [0, 2] })).toThrow("range of 'sum'")
  })
})

it('the pack has both graphs of the embedder', () => {
  const { embedder } = JSON.parse(readFileSync(join(packDir, 'pack.json'), 'utf8'))
  expect([embedder.file, embedder.quantised.file]).toEqual(['embedder.onnx', 'embedder-int8.onnx'])
})
