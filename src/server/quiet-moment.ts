/** When a listener can be closed without anybody standing before it. */

/** A turn of the event loop that took no longer had hardly anything to do: what came meanwhile is what comes in this time. */
const SHORT_TURN_MS = 0.1
const PATIENCE_MS = 1000

/**
 * The kernel resets what it has taken and we have not. Every turn of the event loop takes all that waits: resolves right after a
 * turn that was short, or after a second without any.
 */
export async function quietMoment(): Promise<void> {
  const giveUpAtMs = performance.now() + PATIENCE_MS
  for (let beganMs = performance.now(); ; beganMs = performance.now()) {
    await new Promise((resolve) => setImmediate(resolve))
    const endedMs = performance.now()
    if (endedMs - beganMs < SHORT_TURN_MS || endedMs > giveUpAtMs) return
  }
}
