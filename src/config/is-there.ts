/** Whether something is at a path, which a path that may not be looked at does not answer. */
import { statSync } from 'node:fs'
import { ConfigError } from './config-error.js'

/** @returns false where there is nothing @throws ConfigError where this user may not look, or the file system fails */
export function isThere(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw new ConfigError(`Cannot look at ${path}, so nobody knows whether it is there: ${message}`)
  }
}
