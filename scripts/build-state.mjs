/** Whether a checkout is installed and built, and still up to date. Has no dependencies, because it runs before anything is installed. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Where the SHA-256 of what was built is kept: of the sources, and of the documentation. */
const STAMP = join(ROOT, 'dist', '.built')
const SITE_STAMP = join(ROOT, 'dist', '.site-built')
/** The last file that `bundle-typebox.mjs` writes. */
const BUNDLE = join(ROOT, 'dist', 'node_modules', 'typebox', 'package.json')
const KERNELS = join(ROOT, 'native', 'build', 'Release', 'countersign_kernels.node')
/** No input of a build, by name: figures of benchmarks, and what the tool for the site writes. */
const NOT_BUILT = new Set(['results', 'cache', '.temp', 'node_modules'])
/** The SDKs of other languages, by path: their tools write next to them. */
const OTHER_LANGUAGES = new Set(['clients/python', 'clients/go'])

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

/** Number of packages that lie in node_modules, for a sign of life while npm works. */
export function installedCount() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  return Object.keys(packages).filter((path) => path && existsSync(join(ROOT, path, 'package.json'))).length
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
  return existsSync(BUNDLE) && isStamped(STAMP, buildInputs())
}

/** @param startedMs start of the build: with files that changed after it, the build counts as out of date */
export function recordBuild(startedMs) {
  stamp(STAMP, buildInputs(), startedMs)
}

/** Whether the built documentation is that of the present Markdown. */
export function isSiteBuilt() {
  return isStamped(SITE_STAMP, ['docs'])
}

/** @param startedMs start of the build, as for `recordBuild` */
export function recordSite(startedMs) {
  stamp(SITE_STAMP, ['docs'], startedMs)
}

/** Files and folders, as paths in the checkout. */
function buildInputs() {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'))
  return [
    'tsconfig.json',
    'package-lock.json',
    'scripts/bundle-typebox.mjs',
    ...include.map((path) => (path.endsWith('.ts') ? dirname(path) : path)),
  ]
}

function isStamped(file, inputs) {
  return existsSync(file) && readFileSync(file, 'utf8') === sumOf(filesIn(inputs))
}

function stamp(file, inputs, startedMs) {
  const files = filesIn(inputs)
  const isOld = files.some((path) => statSync(join(ROOT, path)).mtimeMs > startedMs)
  writeFileSync(file, isOld ? '' : sumOf(files))
}

/** The content counts: a checkout of another branch and back, or a copy, gives every file a new date. */
function sumOf(files) {
  const sum = createHash('sha256')
  for (const path of files) sum.update(`${path}\0`).update(readFileSync(join(ROOT, path)))
  return sum.digest('hex')
}

function filesIn(paths) {
  return paths.flatMap((path) => {
    if (!existsSync(join(ROOT, path))) return []
    if (statSync(join(ROOT, path)).isFile()) return [path]
    const names = readdirSync(join(ROOT, path)).filter(
      (name) => !NOT_BUILT.has(name) && !OTHER_LANGUAGES.has(`${path}/${name}`) && !name.endsWith('.test.ts'),
    )
    return filesIn(names.sort().map((name) => `${path}/${name}`))
  })
}

function newestSource(folder) {
  return Math.max(0, ...readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs))
}
