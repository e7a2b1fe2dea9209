/** SHA-256 of buffers of any size, without blocking the event loop. */
import { createHash, webcrypto } from 'node:crypto'

const { subtle } = webcrypto
/** Larger buffers are hashed on another thread. This size takes half a millisecond on a CPU without SHA instructions. */
const MAX_HASHED_HERE_BYTES = 2 ** 18

/** Hashes on this thread, or on another one where handing the buffer over is cheaper: 8 MiB take 15 ms on a CPU without SHA instructions. */
export async function sha256(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length <= MAX_HASHED_HERE_BYTES) return createHash('sha256').update(bytes).digest()
  return Buffer.from(await subtle.digest('SHA-256', bytes))
}
