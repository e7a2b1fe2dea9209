/**
 * The embedder of a large pack, with random weights: the 50 layers that ArcFace's models have, 44 million weights and 6
 * billion multiplications a face. It recognizes nobody; it takes as long as one that does.
 */
import { OnnxGraph } from '../../tools/pack-builders/onnx/onnx-writer.js'

export const RESNET50_INPUT_PX = 112
export const RESNET50_DIMENSIONS = 512

/** Blocks and channels of the four stages, each of which halves the sides first. */
const STAGES = [
  { blocks: 3, channels: 64 },
  { blocks: 4, channels: 128 },
  { blocks: 14, channels: 256 },
  { blocks: 3, channels: 512 },
] as const
const LAST_SIDE_PX = 7

/** Builds [batch,3,112,112] to [batch,512]. The same call always gives the same bytes. */
export function buildResnet50Graph(): OnnxGraph {
  return new Builder().build()
}

class Builder {
  private readonly graph = new OnnxGraph('resnet50', 'ResNet of 50 layers for faces, with random weights')
  private seed = 1

  build(): OnnxGraph {
    const { graph } = this
    const input = graph.input('input', ['batch', 3, RESNET50_INPUT_PX, RESNET50_INPUT_PX])
    let channels: number = STAGES[0].channels
    let value = this.relu(this.convolve('stem', input, 3, channels))
    for (const [stage, { blocks, channels: wanted }] of STAGES.entries()) {
      for (let block = 0; block < blocks; block++) {
        value = this.block(`stage${stage}/block${block}`, value, channels, wanted, block === 0 ? 2 : 1)
        channels = wanted
      }
    }
    const flat = graph.node('Flatten', [value], 'flat', { axis: { int: 1 } })
    const length = channels * LAST_SIDE_PX ** 2
    const weights = this.weights('embed', [length, RESNET50_DIMENSIONS], length)
    graph.output(graph.node('MatMul', [flat, weights], 'embedding'), ['batch', RESNET50_DIMENSIONS])
    return graph
  }

  private block(name: string, input: string, channels: number, wanted: number, stride: number): string {
    const inner = this.relu(this.convolve(`${name}/first`, input, channels, wanted))
    const outer = this.convolve(`${name}/second`, inner, wanted, wanted, { stride })
    const isSame = stride === 1 && channels === wanted
    const shortcut = isSame
      ? input
      : this.convolve(`${name}/shortcut`, input, channels, wanted, { stride, kernelPx: 1 })
    return this.graph.node('Add', [outer, shortcut], name)
  }

  private convolve(
    name: string,
    input: string,
    channels: number,
    wanted: number,
    { stride = 1, kernelPx = 3 } = {},
  ): string {
    const pad = kernelPx >> 1
    const filters = this.weights(name, [wanted, channels, kernelPx, kernelPx], channels * kernelPx ** 2)
    return this.graph.node('Conv', [input, filters], name, {
      kernel_shape: { ints: [kernelPx, kernelPx] },
      strides: { ints: [stride, stride] },
      pads: { ints: [pad, pad, pad, pad] },
    })
  }

  private relu(value: string): string {
    return this.graph.node('Relu', [value], `${value}/relu`)
  }

  /** @param inputs number of values that each output is a sum of: with more of them the weights are smaller */
  private weights(name: string, dims: readonly number[], inputs: number): string {
    const values = new Float32Array(dims.reduce((product, side) => product * side, 1))
    const scale = Math.sqrt(3 / inputs)
    for (let i = 0; i < values.length; i++) values[i] = scale * (2 * this.random() - 1)
    return this.graph.floats(`${name}/weights`, dims, values)
  }

  /** Marsaglia's xorshift with 32 bits: 0 to 1. */
  private random(): number {
    let x = this.seed
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.seed = x
    return (x >>> 0) / 2 ** 32
  }
}
