/** The writer's graphs run, and its mistakes are caught when they are made. */
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { OnnxGraph } from '../../../tools/pack-builders/onnx/onnx-writer.js'

test('a graph with constants, all kinds of attributes and a free dimension runs', async () => {
  const graph = new OnnxGraph('test', 'pad, rectify, flatten')
  const x = graph.input('x', ['N', 1, 1, 2])
  const padded = graph.node(
    'Pad',
    [x, graph.integers('pads', [8], BigInt64Array.of(0n, 0n, 0n, 0n, 0n, 0n, 0n, 1n))],
    'padded',
  )
  const leaky = graph.node('LeakyRelu', [padded], 'leaky', { alpha: { float: 0.5 } })
  const pooled = graph.node('MaxPool', [leaky], 'pooled', { kernel_shape: { ints: [1, 2] } })
  const flat = graph.node('Flatten', [pooled], 'flat', { axis: { int: 1 } })
  graph.output(graph.node('Mul', [flat, graph.floats('factors', [2], [10, -1])], 'y'), ['N', 2])
  const session = await InferenceSession.create(graph.encode())
  const { y } = await session.run({ x: new Tensor('float32', [-4, 3, -4, -6], [2, 1, 1, 2]) })
  expect(y!.dims).toEqual([2, 2])
  expect([...(y!.data as Float32Array)]).toEqual([30, -3, -20, -0])
  await session.release()
})

test('unknown, repeated and misshapen values are refused', () => {
  const graph = new OnnxGraph('test', '')
  graph.input('x', [1])
  expect(() => graph.input('x', [1])).toThrow(TypeError)
  expect(() => graph.node('Relu', ['y'], 'z')).toThrow(TypeError)
  expect(() => graph.output('y', [1])).toThrow(TypeError)
  expect(() => graph.floats('c', [2, 2], [1, 2, 3])).toThrow(TypeError)
})
