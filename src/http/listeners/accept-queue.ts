/** Waits until a listener can be closed without cutting connections that the kernel has accepted and this process has not. */

/** A turn of the event loop that took no longer had hardly anything to do, so that hardly anything was waiting. */
const SHORT_TURN_MS = 0.1
const PATIENCE_MS = 5000

/**
 * The kernel resets connections of its accept queue when the listener closes. Every turn of the event loop accepts some of them.
 * Resolves right after a turn that was short and accepted none, or after five seconds without such a turn.
 * @param accepted number of connections so far; where a transport does not count them, each turn must accept all that wait
 */
export async function acceptQueueDrained(accepted: () => number = () => 0): Promise<void> {
  const giveUpAtMs = performance.now() + PATIENCE_MS
  for (;;) {
    const [beganMs, before] = [performance.now(), accepted()]
    await new Promise((resolve) => setImmediate(resolve))
    const endedMs = performance.now()
    if ((endedMs - beganMs < SHORT_TURN_MS && accepted() === before) || endedMs > giveUpAtMs) return
  }
}
