/** Tries which networks of the lane do several inputs in one run. */
import type { Network } from '../pipeline/networks/network.js'
import { MAX_ROWS } from './batch-queue.js'

/** Side in pixels of the example for a network that takes pictures of any size; a multiple of every stride. */
const EXAMPLE_SIDE = 320

/**
 * Returns whether a network does several rows in one run, and runs it once with each number of rows that a batch can
 * have: accelerators choose and compile their kernels for each shape, which takes up to seconds.
 * @param mostRows largest number of rows to run; 2 or more
 */
export async function takesBatches(network: Network, mostRows = MAX_ROWS): Promise<boolean> {
  const [rows, ...row] = network.inputShape
  if (rows !== null) return false
  // The shape of a detector's input depends on the picture, so only one example of it is tried.
  const shape = row.map((side, i) => side ?? (i === 0 ? 3 : EXAMPLE_SIDE))
  const length = shape.reduce((product, side) => product * side, 1)
  for (let count = 1; count <= mostRows; count *= 2) {
    const outputs = await network.run(new Float32Array(count * length), [count, ...shape])
    // A graph may flatten its rows into one although its input has a free number of them.
    for (const { dims } of outputs.values()) if (dims[0] !== count) return false
  }
  return true
}
