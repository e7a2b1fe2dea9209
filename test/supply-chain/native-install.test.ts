/** The install script for SQLite on machines without a compiler, in a copy of the files that it touches. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { type FilesServer, serveFiles } from '../support/files-server.js'

const BINARY = join('build', 'Release', 'better_sqlite3.node')

let root: string
let sqlite: string
let publisher: FilesServer
let binary: Buffer | null
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'countersign-install-'))
  sqlite = join(root, 'node_modules', 'better-sqlite3')
  mkdirSync(join(root, 'native'))
  cpSync(packageFile('native', 'install.mjs'), join(root, 'native', 'install.mjs'))
  for (const name of ['package.json', 'lib'])
    cpSync(packageFile('node_modules', 'better-sqlite3', name), join(sqlite, name), { recursive: true })
  for (const name of ['bindings', 'prebuild-install'])
    symlinkSync(packageFile('node_modules', name), join(root, 'node_modules', name), 'junction')
  binary = null
  publisher = await serveFiles((_request, response) =>
    binary ? response.end(binary) : response.writeHead(404).end(),
  )
})
afterEach(() => {
  publisher.close()
  rmSync(root, { recursive: true, force: true })
})

/** An environment without compiler and node-gyp, in which this test's server replaces the publisher's. */
async function install(...args: string[]) {
  const script = spawn(process.execPath, [join(root, 'native', 'install.mjs'), ...args], {
    env: {
      PATH: join(root, 'native'),
      XDG_CACHE_HOME: join(root, 'kept'),
      npm_config_cache: join(root, 'cache'),
      npm_config_better_sqlite3_binary_host: publisher.url,
    },
  })
  const [stderr, [status]] = await Promise.all([text(script.stderr), once(script, 'close')])
  return { status, stderr, requests: publisher.requests.length }
}

/** Copies the installed addon. */
function putBinary(): void {
  mkdirSync(dirname(join(sqlite, BINARY)), { recursive: true })
  cpSync(packageFile('node_modules', 'better-sqlite3', BINARY), join(sqlite, BINARY))
}

describe('an install without a compiler', () => {
  it('downloads no binary that no recorded sum covers, unless its publisher is trusted by an option', async () => {
    const refused = await install()
    expect(refused).toMatchObject({ status: 1, requests: 0 })
    expect(refused.stderr).toContain('--trust-publisher')
    const archive = join(root, 'binary.tar.gz')
    spawnSync('tar', ['czf', archive, BINARY], { cwd: packageFile('node_modules', 'better-sqlite3') })
    binary = readFileSync(archive)
    const { status, stderr, requests } = await install('--trust-publisher')
    expect({ status, requests }).toEqual({ status: 0, requests: 1 })
    expect(stderr).toContain('which no recorded sum covers')
    expect(existsSync(join(sqlite, BINARY))).toBe(true)
  })

  it('does not download a binary that is there already', async () => {
    putBinary()
    expect(await install()).toMatchObject({ status: 0, requests: 0 })
  })

  it('fails without the publisher, and says what is needed', async () => {
    const { status, stderr } = await install('--trust-publisher')
    expect(status).toBe(1)
    expect(stderr).toContain('apt install g++ make python3')
  })

  it('downloads nothing when it has to compile', async () => {
    const { status, stderr, requests } = await install('--from-source', '--trust-publisher')
    expect({ status, requests }).toEqual({ status: 1, requests: 0 })
    expect(stderr).toContain('apt install g++ make python3')
  })

  it('leaves the kernels out, and says so', async () => {
    putBinary()
    expect((await install()).stderr).toContain('See `countersign doctor`')
  })
})

describe('a SQLite that was compiled here', () => {
  /** A node-gyp that makes the installed addon. */
  beforeEach(() => {
    cpSync(packageFile('native', 'object-wrap.h'), join(root, 'native', 'object-wrap.h'))
    mkdirSync(join(sqlite, 'src'))
    writeFileSync(join(sqlite, 'src', 'better_sqlite3.cpp'), '// one')
    writeFileSync(
      join(root, 'native', 'node-gyp'),
      `#!${process.execPath}
const { cpSync, existsSync } = require('node:fs')
if (!existsSync('src/better_sqlite3.cpp')) process.exit(1)
cpSync(${JSON.stringify(packageFile('node_modules', 'better-sqlite3', BINARY))}, ${JSON.stringify(BINARY)})
`,
      { mode: 0o755 },
    )
  })
  const COMPILES = 'compiling SQLite'
  const afresh = () => rmSync(join(sqlite, 'build'), { recursive: true })

  it('serves other checkouts of this user, until what it is made of changes', async () => {
    expect(await install()).toMatchObject({ status: 0, stderr: expect.stringContaining(COMPILES) })
    afresh()
    expect(await install()).toMatchObject({ status: 0, stderr: expect.not.stringContaining(COMPILES) })
    expect(existsSync(join(sqlite, BINARY))).toBe(true)
    afresh()
    writeFileSync(join(sqlite, 'src', 'better_sqlite3.cpp'), '// two')
    expect((await install()).stderr).toContain(COMPILES)
  })

  it('is compiled again where what was kept does not load, or the source is asked for', async () => {
    await install()
    const [kept] = readdirSync(join(root, 'kept', 'countersign'))
    afresh()
    expect((await install('--from-source')).stderr).toContain(COMPILES)
    afresh()
    writeFileSync(join(root, 'kept', 'countersign', kept!), 'no addon')
    expect(await install()).toMatchObject({ status: 0, stderr: expect.stringContaining(COMPILES) })
  })
})

it('the install keeps a SQLite that was compiled here and loads', async () => {
  putBinary()
  writeFileSync(join(sqlite, 'build', 'config.gypi'), '')
  const { status, stderr, requests } = await install('--from-source')
  expect({ status, requests }).toEqual({ status: 0, requests: 0 })
  expect(stderr).not.toContain('SQLite')
})

it('the install leaves SQLite to its own script where this package is a dependency', async () => {
  const folder = join(root, 'node_modules', 'countersign', 'native')
  mkdirSync(folder, { recursive: true })
  cpSync(packageFile('native', 'install.mjs'), join(folder, 'install.mjs'))
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'install.mjs')], {
    env: { PATH: folder },
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  expect(stderr).not.toContain('SQLite')
})
