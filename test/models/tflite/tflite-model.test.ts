import { expect, it } from 'vitest'
import { readTfliteModel } from '../../../tools/pack-builders/tflite/tflite-model.js'
import { readInputs } from '../../fuzz/corpus.js'

const [model] = readInputs('corpus', 'tflite')

it('reads a model of one convolution', () => {
  const { tensors, operators, input, output } = readTfliteModel(model!)
  expect(tensors.map(({ shape }) => shape)).toEqual([[1, 1, 1, 3], [1, 1, 1, 3], [1], [1, 1, 1, 1]])
  expect(tensors[1]!.constant).toEqual(Float32Array.of(1, 2, 3))
  expect(operators).toEqual([
    { type: 'conv2d', inputs: [0, 1, 2], output: 3, window: { stride: 1, padding: 'same' } },
  ])
  expect([input, output]).toEqual([0, 3])
})

it('refuses a vector that is longer than the file, and allocates no memory for it', () => {
  let refused = 0
  for (let at = 0; at + 4 <= model!.length; at += 4) {
    const damaged = Buffer.from(model!)
    damaged.writeUInt32LE(0x7fffffff, at)
    try {
      readTfliteModel(damaged)
    } catch (error) {
      if (/does not fit the file/.test((error as Error).message)) refused++
    }
  }
  expect(refused).toBeGreaterThan(5)
})
