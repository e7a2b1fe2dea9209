/**
 * `npm run release`: one archive that serves on a machine of this platform with this major version of Node, without a compiler and
 * without a network: the package, its production modules, what is compiled, the standard model pack, the SDKs, and a command that starts it.
 * It goes to dist/release, or to --out.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'

const root = fileURLToPath(new URL('../', import.meta.url))
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist', 'release') } } })
const { platform, arch } = process
const { modules: abi, node } = process.versions
const major = node.split('.')[0]
const ours = JSON.parse(read('package.json'))
const folder = `countersign-${ours.version}`
const archive = join(resolve(values.out), `${folder}-${platform}-${arch}-node${major}.tar.gz`)

/** Files that no process loads: types, maps, and what addons are compiled from. */
const NOT_LOADED =
  /\.(?:map|[cm]?ts)$|better-sqlite3\/(?:deps|src|build)\/|onnxruntime-node\/script\/|face-api\/(?:dist|src|types)\//
/** Two packages bring binaries for every platform. */
const FOREIGN = [
  new RegExp(`/bin/napi-v\\d+/(?!${platform}/${arch}/)`),
  new RegExp(`/uws_(?!${platform}_${arch}_${abi}\\.)\\w+\\.node$`),
]
/** `pip install` from a clone leaves these. */
const WRITTEN_BY_PIP = /^clients\/python\/(?:build|dist)\/|\.whl$/
const COMPILED = [
  'node_modules/better-sqlite3/build/Release/better_sqlite3.node',
  'native/build/Release/countersign_kernels.node',
]
/** npm's own date for the files of a package. */
const DATE = new Date('1985-10-26T08:15:00Z')

const lock = Object.entries(JSON.parse(read('package-lock.json')).packages)
/** Packages for other platforms are in the lockfile as well, and are not installed. */
const modules = lock.filter(
  ([path, { dev, devOptional }]) => path && !dev && !devOptional && existsSync(join(root, path)),
)
/** The path of each file in the archive, and its content. */
const files = new Map()
const place = mkdtempSync(join(tmpdir(), 'countersign-release-'))
try {
  // npm leaves out what is called node_modules; the bundled library is ours.
  for (const path of [...packagedFiles(), ...filesIn('dist/node_modules/typebox')])
    files.set(path, read(path))
  for (const [path] of modules)
    for (const inside of filesIn(path))
      if (![NOT_LOADED, ...FOREIGN].some((left) => left.test(inside))) files.set(inside, read(inside))
  for (const path of COMPILED) files.set(path, read(path))
  for (const path of ['clients/python', 'clients/go'].flatMap(filesIn))
    if (!WRITTEN_BY_PIP.test(path)) files.set(path, read(path))
  addClient()
  addModelPack()
  const { name, version, license, type, engines, bin, exports, imports, dependencies } = ours
  files.set(
    'package.json',
    json({ name, version, license, type, engines, bin, exports, imports, dependencies }),
  )
  files.set('countersign', Buffer.from(launcher()))
  files.set('release.json', json(manifest()))
  await write()
} finally {
  rmSync(place, { recursive: true, force: true })
}

function read(path) {
  return readFileSync(join(root, path))
}

function run(program, args, options = {}) {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    ...options,
  })
}

function json(value) {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}

/** The files that npm would publish, as package.json names them. */
function packagedFiles() {
  const report = JSON.parse(
    run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']),
  )
  // npm 12 reports by package name, earlier ones as a list.
  return (Array.isArray(report) ? report : Object.values(report))[0].files.map(({ path }) => path)
}

/** Files in a folder. Packages inside another package have entries of their own in the lockfile. */
function filesIn(path) {
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => {
    const inside = `${path}/${entry.name}`
    if (entry.isFile()) return [inside]
    const isLeftOut = /^(?:node_modules|__pycache__|.*\.egg-info)$/.test(entry.name)
    return entry.isDirectory() && !isLeftOut ? filesIn(inside) : []
  })
}

function addClient() {
  const client = run(process.execPath, [join(root, 'scripts', 'pack-client.mjs')]).trim()
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', place], { cwd: client })
  const file = `countersign-client-${ours.version}.tgz`
  files.set(`sdk/${file}`, readFileSync(join(place, file)))
}

/** Its networks come from npm packages. A start copies them to its own models folder, and asks no registry. */
function addModelPack() {
  const env = { ...process.env, COUNTERSIGN_MODELS_DIR: place, NODE_ENV: 'production' }
  run(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'models', 'build', 'standard'], { env })
  for (const name of readdirSync(join(place, 'standard')))
    files.set(`packs/standard/${name}`, readFileSync(join(place, 'standard', name)))
  const pack = JSON.parse(files.get('packs/standard/pack.json'))
  const networks = Object.values(pack).filter((part) => part?.licence)
  const said = networks.map((part) => `${part.file}\n  ${part.licence}\n  ${part.origin}\n`)
  files.set(
    'packs/LICENSES.txt',
    Buffer.from(`${said.join('\n')}\n${read('node_modules/@vladmandic/face-api/LICENSE')}`),
  )
}

function launcher() {
  return `#!/bin/sh
# Starts countersign with the Node that its compiled parts are for. NODE may name one that is not the \`node\` of the PATH.
set -eu
folder=$(dirname "$(readlink -f "$0")")
node=\${NODE:-node}
if [ "$("$node" -p process.versions.modules 2>&1)" != ${abi} ]; then
  echo "error: This archive of Countersign is for Node ${major}, and $node is $("$node" --version 2>&1)." >&2
  echo "What to do: Install Node ${major}, or name it: NODE=/path/to/node $0. Other versions of Node have archives of their own." >&2
  exit 1
fi
exec "$node" "$folder/dist/src/cli/main.js" "$@"
`
}

function manifest() {
  return {
    version: ours.version,
    ...JSON.parse(read('dist/build.json')),
    ...{ platform, arch, node: Number(major), abi: Number(abi) },
    packages: modules.map(([path, { version, license }]) => ({ path, version, license })),
    files: Object.fromEntries([...files].map(([path, content]) => [path, sha256(content)])),
  }
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex')
}

async function write() {
  mkdirSync(resolve(values.out), { recursive: true })
  const tar = pack()
  const written = pipeline(tar, createGzip(), createWriteStream(archive))
  for (const path of [...files.keys()].sort()) {
    const mode = ['countersign', 'dist/src/cli/main.js'].includes(path) ? 0o755 : 0o644
    tar.entry({ name: `${folder}/${path}`, mode, mtime: DATE }, files.get(path))
  }
  tar.finalize()
  await written
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(archive)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  const sum = hash.digest('hex')
  writeFileSync(`${archive}.sha256`, `${sum}  ${archive.slice(resolve(values.out).length + 1)}\n`)
  writeFileSync(archive.replace('.tar.gz', '.json'), files.get('release.json'))
  console.log(`${archive}\n${bytes} bytes, ${files.size} files, SHA-256 ${sum}`)
}
