/** Finds files of the package, from the sources as well as from the built files. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of a file that the package ships. */
export function packageFile(...segments: string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) throw new Error('package.json was not found')
    folder = dirname(folder)
  }
  return join(folder, ...segments)
}
