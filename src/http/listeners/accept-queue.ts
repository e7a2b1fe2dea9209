/** When a listener can be closed without anybody standing before it. */

/** A turn of the event loop that took no longer had hardly anything to do: what came meanwhile is what comes in this time. */
const SHORT_TURN_MS = 0.1
const PATIENCE_MS = 5000

/**
 * The kernel resets what it has taken and we have not. Every turn of the event loop takes something of what waits: resolves right
 * after a turn that was short and took nothing, or after five seconds without any.
 * @param taken how many connections so far; where nobody counts them, each turn must take all that wait
 */
export async function acceptQueueDrained(taken: () => number = () => 0): Promise<void> {
  const giveUpAtMs = performance.now() + PATIENCE_MS
  for (;;) {
    const [beganMs, before] = [performance.now(), taken()]
    await new Promise((resolve) => setImmediate(resolve))
    const endedMs = performance.now()
    if ((endedMs - beganMs < SHORT_TURN_MS && taken() === before) || endedMs > giveUpAtMs) return
  }
}
