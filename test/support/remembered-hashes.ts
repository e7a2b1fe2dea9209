/**
 * Loaded before every file of tests. Each start of a service, and each command with an engine, checks the files of its pack against
 * their hashes: for the baseline these are 30 MB, and a tenth of what such a test takes of a core. Bytes that were hashed before are
 * compared with those, one by one, which takes a tenth of hashing them again. A byte that differs is found either way.
 */
import crypto, { type BinaryToTextEncoding } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Smaller contents are hashed at once. */
const LEAST_BYTES = 500_000
/** The files of the baseline are four; others come and go. */
const MAX_KEPT = 6

interface Hashed {
  bytes: Buffer
  digest: Buffer
}

/** All files of a worker share what was hashed, the last used first. */
const shared = globalThis as typeof globalThis & { hashedContents?: Hashed[] }

if (!shared.hashedContents) {
  const hashed: Hashed[] = []
  shared.hashedContents = hashed
  const { createHash } = crypto
  const digestOf = (bytes: Buffer): Buffer => {
    const at = hashed.findIndex((one) => one.bytes.equals(bytes))
    const [found = { bytes: Buffer.from(bytes), digest: createHash('sha256').update(bytes).digest() }] =
      at < 0 ? [] : hashed.splice(at, 1)
    hashed.unshift(found)
    hashed.splice(MAX_KEPT)
    return found.digest
  }
  Object.assign(crypto, {
    createHash(algorithm: string, options?: object) {
      const hash = createHash(algorithm, options)
      if (algorithm !== 'sha256' || options) return hash
      const update: (data: string | Uint8Array, encoding?: string) => unknown = hash.update.bind(hash)
      const digest: (encoding?: BinaryToTextEncoding) => string | Buffer = hash.digest.bind(hash)
      let isFresh = true
      /** A large content, as long as it is the only one. */
      let only: Buffer | undefined
      return Object.assign(hash, {
        update(data: string | Uint8Array, encoding?: string) {
          if (isFresh && data instanceof Uint8Array && data.byteLength >= LEAST_BYTES) {
            only = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
          } else {
            if (only) update(only)
            only = undefined
            update(data, encoding)
          }
          isFresh = false
          return hash
        },
        digest(encoding?: BinaryToTextEncoding) {
          if (!only) return digest(encoding)
          const found = digestOf(only)
          return encoding ? found.toString(encoding) : Buffer.from(found)
        },
      })
    },
  })
  syncBuiltinESMExports()
}
