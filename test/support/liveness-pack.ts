/** The baseline pack with a liveness network that anybody can foresee: what is bright is live. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OnnxGraph } from '../../tools/pack-builders/onnx/onnx-writer.js'
import { writeBroughtPack } from './packs.js'

/** Mean of blue, green and red at which it is undecided. */
const UNDECIDED = 60
const SIDE = 80

/** @param changes to the pack's liveness role */
export async function writeLivenessPack(dir: string, modelsDir: string, changes: object = {}): Promise<void> {
  const graph = new OnnxGraph('liveness', 'brightness')
  const input = graph.input('input', [1, 3, SIDE, SIDE])
  const means = graph.node('Flatten', [graph.node('GlobalAveragePool', [input], 'pooled')], 'means')
  const brighter = graph.floats('brighter', [3, 3], [0, 1, 0, 0, 1, 0, 0, 1, 0])
  const bias = graph.floats('bias', [1, 3], [0, -3 * UNDECIDED, 0])
  const sum = graph.node('MatMul', [means, brighter], 'sum')
  graph.output(graph.node('Add', [sum, bias], 'logits'), [1, 3])
  const network = graph.encode()
  const file = 'liveness.onnx'
  await writeBroughtPack(dir, modelsDir, () => ({
    liveness: {
      decoder: 'minifasnet',
      networks: [
        {
          file,
          sha256: createHash('sha256').update(network).digest('hex'),
          licence: 'for tests',
          origin: 'written by the test',
          input: { width: SIDE, height: SIDE, color: 'bgr', mean: [0, 0, 0], scale: [1, 1, 1] },
          cropScale: 2.7,
        },
      ],
      liveClass: 1,
      threshold: 0.5,
      ...changes,
    },
  }))
  await writeFile(join(dir, file), network)
}
