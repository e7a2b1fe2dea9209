/** Packages as npm packs them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'

export interface Packed {
  filename: string
  unpackedSize: number
  files: Array<{ path: string }>
}

export function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Packs the package in `source` into `folder`. */
export function npmPack(source: string, folder: string): Packed {
  const report = JSON.parse(npm(source, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder))
  // npm 12 reports by package name, earlier ones as a list.
  return (Array.isArray(report) ? report : Object.values(report))[0]
}

/** Puts packages of this installation into an application's folder, as npm would install them: nothing is fetched. */
export function linkPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(packageFile('node_modules', name), path)
  }
}
