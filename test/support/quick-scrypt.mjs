/**
 * Loaded before every file of tests, and before the processes that tests start (`leash.mjs`). The hash of a password takes a fifth of a
 * second of a core on purpose, and tests make and check hundreds. A hash that is made here is derived at the lowest cost, and its salt says so
 * to the process that checks it. Every other hash, for example of a released version, has the cost that is asked for, once for the same arguments.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { randomBytes, scrypt } = crypto
const SALT_BYTES = 16
/** How the salt of a quick hash begins. */
const QUICK = Buffer.from('quick!')
const LOWEST_COST = { N: 2, r: 1, p: 1 }

/** All files of a worker share what was derived. */
if (!globalThis.derivedByScrypt) {
  globalThis.derivedByScrypt = new Map()
  const fresh = new WeakSet()
  Object.assign(crypto, {
    randomBytes(size, ...rest) {
      const bytes = randomBytes(size, ...rest)
      if (size === SALT_BYTES && bytes) fresh.add(bytes)
      return bytes
    },
    scrypt(text, salt, length, options, callback) {
      if (fresh.has(salt)) QUICK.copy(salt)
      const isQuick = Buffer.isBuffer(salt) && salt.subarray(0, QUICK.length).equals(QUICK)
      const cost = isQuick ? LOWEST_COST : options
      const name = JSON.stringify([text, salt, length, options])
      const key =
        globalThis.derivedByScrypt.get(name) ??
        new Promise((resolve, reject) =>
          scrypt(text, salt, length, cost, (error, bytes) => (error ? reject(error) : resolve(bytes))),
        )
      globalThis.derivedByScrypt.set(name, key)
      // A copy: who asked may overwrite the bytes.
      key.then(
        (bytes) => callback(null, Buffer.from(bytes)),
        (error) => callback(error, Buffer.alloc(0)),
      )
    },
  })
  syncBuiltinESMExports()
}

/** Makes the next hash take its time again. */
export function forgetHashes() {
  globalThis.derivedByScrypt.clear()
}
