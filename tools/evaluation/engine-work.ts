/** Work of an evaluation for an engine. */
import { DEFAULT_TASKS_PER_WORKER } from '../../src/biometrics/engine/dispatcher.js'
import type { Engine } from '../../src/biometrics/engine/engine.js'
import type { EngineOptions } from '../../src/biometrics/types.js'

/** Works on each item with all workers of the engine busy; after a failure no further item is begun. */
export async function forEachBusily<Item>(
  items: readonly Item[],
  { workers, tasksPerWorker = DEFAULT_TASKS_PER_WORKER }: EngineOptions,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const call = async () => {
    while (next < items.length) {
      const index = next++
      await work(items[index]!, index)
    }
  }
  try {
    // One task more than the workers may hold, so that none of them waits for the disk.
    await Promise.all(Array.from({ length: workers * tasksPerWorker + 1 }, call))
  } finally {
    next = items.length
  }
}

/** An embedding of nobody, to verify with where no comparison is wanted. */
export function anyone({ pack }: Engine): Float32Array {
  return new Float32Array(pack.manifest.embedder.dimensions).fill(1)
}
