/**
 * Counts the threads that read the bytes of a picture. A decoder holds a bare pointer to them, so they must not be
 * freed before the last reader has finished.
 */

const readers = new WeakMap<Uint8Array, Set<Promise<unknown>>>()

/** Runs `read`; until it has settled, `whenUnread` waits for it. */
export function reading<T>(bytes: Uint8Array, read: () => Promise<T>): Promise<T> {
  const others = readers.get(bytes) ?? new Set()
  readers.set(bytes, others)
  const done = read().finally(() => others.delete(done))
  others.add(done)
  return done
}

/**
 * Resolves when no thread reads these bytes any more, whether the reading succeeded or failed: only then may their
 * memory be freed.
 */
export async function whenUnread(bytes: Uint8Array): Promise<void> {
  const others = readers.get(bytes)
  while (others && others.size > 0) await Promise.allSettled(others)
}
