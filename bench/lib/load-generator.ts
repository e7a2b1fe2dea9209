/** Starts the load generator for a benchmark. */
import { HelperProcess } from './helper-process.js'
import type { LoadOrder, LoadResult } from './load-orders.js'

export type LoadGenerator = HelperProcess<LoadOrder, LoadResult>

export function startLoadGenerator(): LoadGenerator {
  return HelperProcess.start(new URL('./load-process.js', import.meta.url))
}
