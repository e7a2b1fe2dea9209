/** Finds the nearest existing folder of a path. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** The folder itself where it exists, else the nearest existing folder above it. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path))
}
