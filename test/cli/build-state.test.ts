/** Questions that npm scripts ask about a checkout before they start anything, in a copy with only the files that they read. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-checkout-'))
  mkdirSync(join(root, 'scripts'), { recursive: true })
  mkdirSync(join(root, 'src'))
  for (const name of ['bootstrap.mjs', 'build-state.mjs', 'write-build.mjs'])
    cpSync(packageFile('scripts', name), join(root, 'scripts', name))
  write('package.json', JSON.stringify({ engines: { node: '>=20.15.0' } }))
  write('tsconfig.json', JSON.stringify({ include: ['src', 'test/faults/main.ts'] }))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function age(path: string, seconds: number): void {
  const time = new Date(Date.now() - seconds * 1000)
  utimesSync(join(root, path), time, time)
}

function answer(question: 'areNativePartsReady' | 'isBuilt'): boolean {
  const module = pathToFileURL(join(root, 'scripts', 'build-state.mjs'))
  const code = `import { ${question} } from '${module}'; console.log(${question}())`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  return JSON.parse(stdout)
}

const SQLITE = join('node_modules', 'better-sqlite3', 'index.js')

describe('areNativePartsReady', () => {
  it('is true where SQLite loads', () => {
    write(SQLITE, 'module.exports = class { close() {} }')
    expect(answer('areNativePartsReady')).toBe(true)
  })

  it('is false where SQLite is missing or compiled for another Node', () => {
    expect(answer('areNativePartsReady')).toBe(false)
    write(SQLITE, "module.exports = class { constructor() { throw new Error('NODE_MODULE_VERSION 115') } }")
    expect(answer('areNativePartsReady')).toBe(false)
  })

  it('is false where the kernels are older than their sources', () => {
    write(SQLITE, 'module.exports = class { close() {} }')
    write('native/src/kernels.cc', '')
    const kernels = 'native/build/Release/countersign_kernels.node'
    write(kernels, '')
    expect(answer('areNativePartsReady')).toBe(true)
    age(kernels, 60)
    expect(answer('areNativePartsReady')).toBe(false)
  })
})

describe('isBuilt', () => {
  it('is true where no file is newer than the build', () => {
    expect(answer('isBuilt')).toBe(false)
    write('dist/.built', String(Date.now() + 1000))
    expect(answer('isBuilt')).toBe(true)
  })

  it.each(['src/app/service.ts', 'test/faults/campaign.ts', 'tsconfig.json'])(
    'is false where %s is newer than the build',
    (path) => {
      const files = ['bootstrap.mjs', 'build-state.mjs', 'write-build.mjs'].map((name) => `scripts/${name}`)
      for (const old of [...files, 'tsconfig.json']) age(old, 120)
      write('dist/.built', String(Date.now() - 60_000))
      expect(answer('isBuilt')).toBe(true)
      write(path, JSON.stringify({ include: ['src', 'test/faults/main.ts'] }))
      expect(answer('isBuilt')).toBe(false)
    },
  )
})

it('names the required Node to one that is too old, before anything is installed', () => {
  write('package.json', JSON.stringify({ engines: { node: '>=99.1.0' } }))
  const bootstrap = join(root, 'scripts', 'bootstrap.mjs')
  const { status, stderr } = spawnSync(process.execPath, [bootstrap, 'serve'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `Countersign needs Node 99.1.0 or later; this is ${process.version}.\n`,
  })
})
