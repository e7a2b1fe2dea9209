/** Whether a checkout is installed and built, and still up to date. Has no dependencies, because it runs before anything is installed. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

const STAMP = join(ROOT, 'dist', '.built')
const DOCS = join(ROOT, 'docs')
/** Where the documentation is built, and when that began. */
const SITE_STAMP = join(ROOT, 'dist', '.site-built')
const KERNELS = join(ROOT, 'native', 'build', 'Release', 'countersign_kernels.node')

/** The oldest Node that package.json's `engines` allows, as `20.15.0`. */
export function oldestNode() {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return engines.node.replace('>=', '')
}

export function isNodeTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldestNode().split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}

/** npm writes this file at the end of an install, so its age says what was installed. */
export function isInstalled() {
  const marker = join(ROOT, 'node_modules', '.package-lock.json')
  return existsSync(marker) && statSync(marker).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs
}

/**
 * The addon of SQLite is compiled for only one version of Node, so only loading it shows whether it fits this one. Missing kernels count
 * as ready: where they cannot be compiled, every start would try again.
 */
export function areNativePartsReady() {
  if (existsSync(KERNELS) && newestSource(join(ROOT, 'native', 'src')) > statSync(KERNELS).mtimeMs)
    return false
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3')
    new Database(':memory:').close()
    return true
  } catch {
    return false
  }
}

/** Whether dist was built from the present sources; otherwise tests would run an older command. */
export function isBuilt() {
  if (!existsSync(STAMP)) return false
  const builtMs = Number(readFileSync(STAMP, 'utf8'))
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'))
  const folders = include.map((path) => join(ROOT, path.endsWith('.ts') ? dirname(path) : path))
  return (
    folders.filter(existsSync).every((folder) => newestSource(folder) <= builtMs) &&
    statSync(join(ROOT, 'tsconfig.json')).mtimeMs <= builtMs
  )
}

/** @param startedMs start of the build: files changed after it are newer than the build */
export function recordBuild(startedMs) {
  writeFileSync(STAMP, String(startedMs))
}

/** Whether the built documentation is that of the present Markdown. */
export function isSiteBuilt() {
  return existsSync(SITE_STAMP) && newestSource(DOCS) <= Number(readFileSync(SITE_STAMP, 'utf8'))
}

/** @param startedMs start of the build, as for `recordBuild` */
export function recordSite(startedMs) {
  writeFileSync(SITE_STAMP, String(startedMs))
}

function newestSource(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (['node_modules', 'results', '__pycache__'].includes(entry.name)) continue
    const path = join(folder, entry.name)
    newest = Math.max(newest, entry.isDirectory() ? newestSource(path) : statSync(path).mtimeMs)
  }
  return newest
}
