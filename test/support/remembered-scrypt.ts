/**
 * Loaded before every file of tests. The hash of a password takes a fifth of a second of a core on purpose, and tests sign in with
 * the same few passwords hundreds of times: what scrypt has derived once from the same arguments is not derived again.
 */
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Callback = (error: Error | null, key: Buffer) => void

const derive = crypto.scrypt as (
  text: BinaryLike,
  salt: BinaryLike,
  length: number,
  options: ScryptOptions,
  callback: Callback,
) => void

/** All files of a worker share what was derived. */
const shared = globalThis as typeof globalThis & { derivedByScrypt?: Map<string, Promise<Buffer>> }

if (!shared.derivedByScrypt) {
  shared.derivedByScrypt = new Map()
  Object.assign(crypto, { scrypt: remembering })
  syncBuiltinESMExports()
}

function remembering(...[text, salt, length, options, callback]: Parameters<typeof derive>): void {
  const derived = shared.derivedByScrypt!
  const name = JSON.stringify([text, salt, length, options])
  const key =
    derived.get(name) ??
    new Promise<Buffer>((resolve, reject) =>
      derive(text, salt, length, options, (error, bytes) => (error ? reject(error) : resolve(bytes))),
    )
  derived.set(name, key)
  // A copy: who asked may overwrite the bytes.
  key.then(
    (bytes) => callback(null, Buffer.from(bytes)),
    (error) => callback(error, Buffer.alloc(0)),
  )
}

/** Makes the next hash take its time again. */
export function forgetHashes(): void {
  shared.derivedByScrypt!.clear()
}
