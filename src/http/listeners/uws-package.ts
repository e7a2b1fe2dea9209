/** Finds the uWebSockets.js package and its version by reading its files, without running any of its code. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const NAME = 'uWebSockets.js'

/** @throws Error when the package is not installed */
export function uwsFolder(): string {
  // The package exports neither its binaries nor its package.json, so that no resolver finds them.
  const folders = createRequire(import.meta.url).resolve.paths(NAME) ?? []
  const folder = folders.map((modules) => join(modules, NAME)).find(existsSync)
  if (!folder) throw new Error(`${NAME} is not installed`)
  return folder
}

/** Name and version of the package that is installed under the name: a repack, or the upstream release. */
export function uwsRelease(folder = uwsFolder()): { package: string; version: string } {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
  }
  return { package: name, version }
}
