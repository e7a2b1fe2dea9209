/** Where a folder is, or will be made. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** The folder itself, else the one in which it will be made. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path))
}
