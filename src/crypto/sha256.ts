/** SHA-256 of what may be large, without holding up the event loop. */
import { createHash, webcrypto } from 'node:crypto'

const { subtle } = webcrypto
/** Half a millisecond without SHA instructions; a handful of them may follow each other. */
const MAX_HASHED_HERE_BYTES = 2 ** 18

/** Elsewhere than on this thread where it takes longer than handing it over: 8 MiB take some 15 ms without SHA instructions. */
export async function sha256(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length <= MAX_HASHED_HERE_BYTES) return createHash('sha256').update(bytes).digest()
  return Buffer.from(await subtle.digest('SHA-256', bytes))
}
