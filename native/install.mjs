/**
 * Builds what is native: the kernels in src/, and SQLite. Kernels that cannot be compiled fail nothing: their TypeScript twins
 * serve, and `countersign doctor` says what that costs. SQLite that cannot be compiled fails the install: no sum is on record
 * for the binary that its publisher offers. `--trust-publisher` downloads that binary; never with `--from-source`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const PROGRESS_MS = 30_000
const fromSource = process.argv.includes('--from-source')
const trustsPublisher = process.argv.includes('--trust-publisher')

if (!areKernelsBuilt() && !(await compile(folder)))
  console.error(
    'countersign: the native kernels could not be built; their TypeScript twins will serve. See `countersign doctor`.',
  )
// When this package is a dependency, SQLite's own install script builds SQLite, and may be running right now.
if (!folder.includes(`${sep}node_modules${sep}`)) await installSqlite()

/** `npx` runs this script at its first use as well: a binary that a running service has loaded must not be compiled again. */
function areKernelsBuilt() {
  const built = join(folder, 'build', 'Release', 'countersign_kernels.node')
  if (!existsSync(built)) return false
  const sources = readdirSync(join(folder, 'src')).map((name) => join(folder, 'src', name))
  return [join(folder, 'binding.gyp'), ...sources].every(
    (source) => statSync(source).mtimeMs <= statSync(built).mtimeMs,
  )
}

async function installSqlite() {
  const { resolve } = createRequire(import.meta.url)
  const sqlite = dirname(resolve('better-sqlite3/package.json'))
  const loads = () => run(process.execPath, ['-e', "new (require('.'))(':memory:')"], sqlite)
  // node-gyp writes that file; where only the binary lies, it was downloaded.
  const isCompiled = existsSync(join(sqlite, 'build', 'config.gypi'))
  if (isCompiled && loads()) return
  const header = join(folder, 'object-wrap.h')
  const binary = join(sqlite, 'build', 'Release', 'better_sqlite3.node')
  const kept = fromSource ? null : keptBinary(sqlite, header)
  if (kept && copy(kept, binary) && loads()) return
  console.error('countersign: compiling SQLite; this takes a minute or two')
  if (process.platform === 'win32') process.env.CL = `/FI"${header}" ${process.env.CL ?? ''}`
  else process.env.CXXFLAGS = `-include '${header}' ${process.env.CXXFLAGS ?? ''}`
  const started = Date.now()
  const progress = setInterval(() => {
    console.error(`countersign: still compiling SQLite, for ${Math.round((Date.now() - started) / 1000)} s`)
  }, PROGRESS_MS)
  const isMade = await compile(sqlite)
  clearInterval(progress)
  if (isMade && loads()) {
    if (kept) copy(binary, kept)
    return
  }
  // A binary that is there already was trusted, or put there, before.
  if (!fromSource && loads()) return
  if (!fromSource && trustsPublisher) {
    console.error(
      "countersign: it could not be compiled; its publisher's binary will serve, which no recorded sum covers",
    )
    const download = createRequire(join(sqlite, 'package.json')).resolve('prebuild-install/bin.js')
    if (run(process.execPath, [download], sqlite, 'inherit') && loads()) return
  }
  console.error(
    'countersign: there is no SQLite. Compiling it needs a C++ compiler, make and python3 (`apt install g++ make python3`); ' +
      'then: npm run install. Or trust the binary of better-sqlite3 that GitHub serves, without a recorded sum: ' +
      'npm run install -- --trust-publisher',
  )
  process.exit(1)
}

/**
 * Where this user's other checkouts find a SQLite that was compiled here. Its name is a SHA-256 of everything that decides what the
 * compiler makes.
 */
function keptBinary(sqlite, header) {
  const { env, version, platform, arch } = process
  const flags = ['CC', 'CXX', 'CFLAGS', 'CXXFLAGS', 'CPPFLAGS', 'LDFLAGS'].map((name) => env[name])
  const sum = createHash('sha256').update(JSON.stringify([version, platform, arch, flags]))
  const sources = readdirSync(sqlite, { recursive: true })
    .filter((name) => /^(?:binding\.gyp|(?:deps|src)[\\/].*)$/.test(name))
    .map((name) => join(sqlite, name))
  for (const file of [header, ...sources.sort()])
    if (existsSync(file) && statSync(file).isFile()) sum.update(readFileSync(file))
  const cache = env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(cache, 'countersign', `better_sqlite3-${sum.digest('hex')}.node`)
}

/** In one step: a running service may have loaded the file that is replaced. */
function copy(from, to) {
  const unfinished = `${to}.${process.pid}`
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    copyFileSync(from, unfinished)
    renameSync(unfinished, to)
    return true
  } catch {
    // There is none, or the folder cannot be written.
    return false
  }
}

/** Compiles in the folder of a binding.gyp with npm's own node-gyp, which is on the path of npm's scripts. Resolves with whether it succeeded. */
function compile(cwd) {
  const headers = headersFolder()
  // Without headers next to Node, node-gyp downloads them. npm's settings take precedence over an option, so the variable is set.
  if (headers) process.env.npm_config_nodedir = headers
  else delete process.env.npm_config_nodedir
  const shell = process.platform === 'win32'
  const child = spawn('node-gyp', ['rebuild', '--release', '--silent'], { cwd, stdio: 'ignore', shell })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

/** The folder whose `include/node` holds the headers of the Node that runs here; undefined where there is none. */
function headersFolder() {
  const prefix = dirname(dirname(process.execPath))
  // The npm package `node` has its headers in the package of the platform.
  const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folders = [prefix, join(prefix, 'node_modules', platform), process.env.npm_config_nodedir]
  return folders.find((folder) => {
    const header = join(folder ?? '', 'include', 'node', 'node_version.h')
    if (!existsSync(header)) return false
    const version = /^#define NODE_MODULE_VERSION (\d+)/m.exec(readFileSync(header, 'utf8'))?.[1]
    return version === process.versions.modules
  })
}

function run(program, parameters, cwd, stderr = 'ignore') {
  return spawnSync(program, parameters, { cwd, stdio: ['ignore', 'ignore', stderr] }).status === 0
}
