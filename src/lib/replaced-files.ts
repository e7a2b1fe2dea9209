/** Notices that an install, a build or an unpacked archive has replaced the files that this process runs from. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from './package-root.js'

/** At least one of these files is written again by each of them. */
const WATCHED = ['package.json', 'dist/build.json', 'node_modules/.package-lock.json']
/** Found at the start: the folder may be gone later. */
const ROOT = packageFile()

/** The state of the files. It costs some 20 µs, and reads no content. */
export function filesState(): string {
  return WATCHED.map((path) => {
    const stats = statSync(join(ROOT, path), { throwIfNoEntry: false })
    return stats ? `${stats.ino}:${stats.mtimeMs}` : 'missing'
  }).join()
}
