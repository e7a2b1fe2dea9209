/** Checks whether a path exists. An error of the check is never taken for "no". */
import { statSync } from 'node:fs'
import { ConfigError } from './config-error.js'

/** @returns false where nothing exists at the path @throws ConfigError where this user may not look, or the file system fails */
export function isThere(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw new ConfigError(`Cannot check whether ${path} exists: ${message}`)
  }
}
