/** What the install script does for SQLite where nothing can be compiled, in a copy of what it touches. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
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

/** With neither compiler nor node-gyp on the path, and with our server where the publisher's is. */
async function install(...args: string[]) {
  const script = spawn(process.execPath, [join(root, 'native', 'install.mjs'), ...args], {
    env: {
      PATH: join(root, 'native'),
      npm_config_cache: join(root, 'cache'),
      npm_config_better_sqlite3_binary_host: publisher.url,
    },
  })
  const [stderr, [status]] = await Promise.all([text(script.stderr), once(script, 'close')])
  return { status, stderr, requests: publisher.requests.length }
}

/** What is installed here, put into the copy. */
function putBinary(): void {
  mkdirSync(dirname(join(sqlite, BINARY)), { recursive: true })
  cpSync(packageFile('node_modules', 'better-sqlite3', BINARY), join(sqlite, BINARY))
}

describe('without a compiler', () => {
  it("SQLite is the publisher's binary, and it is said", async () => {
    const archive = join(root, 'binary.tar.gz')
    spawnSync('tar', ['czf', archive, BINARY], { cwd: packageFile('node_modules', 'better-sqlite3') })
    binary = readFileSync(archive)
    const { status, stderr, requests } = await install()
    expect({ status, requests }).toEqual({ status: 0, requests: 1 })
    expect(stderr).toContain("its publisher's binary will serve")
    expect(existsSync(join(sqlite, BINARY))).toBe(true)
  })

  it('that is already there is not downloaded again', async () => {
    putBinary()
    expect(await install()).toMatchObject({ status: 0, requests: 0 })
  })

  it('and without the publisher the install fails, and says what is needed', async () => {
    const { status, stderr } = await install()
    expect(status).toBe(1)
    expect(stderr).toContain('apt install g++ make python3')
  })

  it('and told to compile, nothing is downloaded', async () => {
    const { status, stderr, requests } = await install('--from-source')
    expect({ status, requests }).toEqual({ status: 1, requests: 0 })
    expect(stderr).toContain('apt install g++ make python3')
  })

  it('the kernels are left out, and it is said', async () => {
    putBinary()
    expect((await install()).stderr).toContain('See `countersign doctor`')
  })
})

it('SQLite that was compiled here and loads is left alone', async () => {
  putBinary()
  writeFileSync(join(sqlite, 'build', 'config.gypi'), '')
  const { status, stderr, requests } = await install('--from-source')
  expect({ status, requests }).toEqual({ status: 0, requests: 0 })
  expect(stderr).not.toContain('SQLite')
})

it('as a dependency of something else SQLite is left to its own script', async () => {
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
