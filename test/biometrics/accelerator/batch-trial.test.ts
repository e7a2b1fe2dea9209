/** Which networks do several inputs in one run. */
import { expect, it } from 'vitest'
import { takesBatches } from '../../../src/biometrics/accelerator/batch-trial.js'
import { Network, type NetworkOutput } from '../../../src/biometrics/pipeline/networks/network.js'

/** A network that gives one number for each of its rows, and notes the shapes that it was run with. */
class Counter extends Network {
  readonly shapes: Array<readonly number[]> = []

  constructor(
    readonly inputShape: ReadonlyArray<number | null>,
    private readonly outputDims: (rows: number) => readonly number[],
  ) {
    super()
  }

  override async run(data: Float32Array, dims: readonly number[]): Promise<Map<string, NetworkOutput>> {
    expect(data).toHaveLength(dims.reduce((product, side) => product * side, 1))
    this.shapes.push(dims)
    const [rows] = dims as [number]
    return new Map([['numbers', { data: new Float32Array(rows), dims: this.outputDims(rows) }]])
  }

  override async release(): Promise<void> {}
}

it('runs a network with a free number of rows once with each number that a batch can have', async () => {
  const network = new Counter([null, 3, 8, 8], (rows) => [rows, 1])
  expect(await takesBatches(network)).toBe(true)
  expect(network.shapes).toEqual([1, 2, 4, 8, 16, 32].map((rows) => [rows, 3, 8, 8]))
})

it('tries a network for pictures of any size with one size', async () => {
  const network = new Counter([null, null, null, null], (rows) => [rows, 1])
  expect(await takesBatches(network)).toBe(true)
  expect(network.shapes[0]).toEqual([1, 3, 320, 320])
})

it('gives a network with a fixed number of rows one input at a time', async () => {
  const network = new Counter([1, 3, 8, 8], (rows) => [rows, 1])
  expect(await takesBatches(network)).toBe(false)
  expect(network.shapes).toEqual([])
})

it('gives a network that flattens its rows into one output row one input at a time', async () => {
  expect(await takesBatches(new Counter([null, 3, 8, 8], (rows) => [1, rows]))).toBe(false)
})
