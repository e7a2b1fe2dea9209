/** Checks package.json and package-lock.json: exact versions, a checksum for every package, and the install scripts that may run. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

export interface LockedPackage {
  version: string
  integrity?: string
  /** Repository and commit of a package that comes from Git. */
  resolved?: string
  license?: string
  dev?: boolean
  inBundle?: boolean
  hasInstallScript?: boolean
}

export interface Manifest {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  /** npm runs no install script of a package that is not `true` here. */
  allowScripts: Record<string, boolean>
}

const readJson = (name: string) => JSON.parse(readFileSync(packageFile(name), 'utf8'))

export const manifest = (): Manifest => readJson('package.json')

/** Packages by path, without the package itself, which is the entry ``. */
export function lockedPackages(): Map<string, LockedPackage> {
  const packages = new Map<string, LockedPackage>(Object.entries(readJson('package-lock.json').packages))
  packages.delete('')
  return packages
}

/** The name of the package at this path of the lockfile. */
export const nameAt = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** A URL of the registry, also under another name, or a tag on GitHub. */
const ONE_VERSION = /^(npm:[\w./@-]+@|github:[\w./-]+#v)?\d+\.\d+\.\d+(-[\w.]+)?$/

/** Problems of the lockfile, one sentence each. */
export function lockfileIssues(
  { dependencies, devDependencies, allowScripts }: Manifest,
  packages: Map<string, LockedPackage>,
): string[] {
  const issues: string[] = []
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    if (!ONE_VERSION.test(version)) issues.push(`${name} is not pinned to one version: ${version}`)
  for (const [path, { integrity, resolved = '', inBundle, hasInstallScript }] of packages) {
    const name = nameAt(path)
    // A bundled package lies inside another one, whose checksum covers it.
    const isPinned = integrity?.startsWith('sha512-') || /#[0-9a-f]{40}$/.test(resolved)
    if (!inBundle && !isPinned) issues.push(`${name} has neither SHA-512 nor commit in the lockfile`)
    if (hasInstallScript && allowScripts[name] === undefined)
      issues.push(`${name} has an install script that nobody decided on`)
  }
  return issues
}
