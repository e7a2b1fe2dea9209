/**
 * Keeps the pool from being torn down while a worker is inside ONNX Runtime's loader: terminating a thread there aborts
 * the whole process. Two shared counters: [0] the pool is closing, [1] workers loading right now.
 */
const closing = 0
const loading = 1

/** A fresh gate, to be shared with every worker through `workerData`. */
export function createLoadGate(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
}

/**
 * Worker side. Announces first and looks second, while the main thread closes first and looks second: whatever the
 * order, at least one of the two sees the other.
 * @returns false when the pool is closing: load nothing
 */
export function enterLoadGate(gate: Int32Array<SharedArrayBuffer>): boolean {
  Atomics.add(gate, loading, 1)
  if (Atomics.load(gate, closing) === 0) return true
  leaveLoadGate(gate)
  return false
}

export function leaveLoadGate(gate: Int32Array<SharedArrayBuffer>): void {
  Atomics.sub(gate, loading, 1)
  Atomics.notify(gate, loading)
}

/** Main side: no worker starts loading from here on; resolves when none is loading any more. */
export async function closeLoadGate(gate: Int32Array<SharedArrayBuffer>): Promise<void> {
  Atomics.store(gate, closing, 1)
  while (Atomics.load(gate, loading) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}
