/** Questions that npm scripts ask about a checkout before they start anything, in a copy with only the files that they read. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { temporaryFolder } from '../support/temporary-folder.js'

let root: string
beforeEach(() => {
  root = temporaryFolder()
  mkdirSync(join(root, 'scripts'), { recursive: true })
  mkdirSync(join(root, 'src'))
  for (const name of ['bootstrap.mjs', 'build-state.mjs', 'write-build.mjs'])
    cpSync(packageFile('scripts', name), join(root, 'scripts', name))
  write('package.json', JSON.stringify({ engines: { node: '>=20.15.0' } }))
  write('tsconfig.json', JSON.stringify({ include: ['src', 'clients', 'test/faults/main.ts'] }))
})

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function age(path: string, seconds: number): void {
  const time = new Date(Date.now() - seconds * 1000)
  utimesSync(join(root, path), time, time)
}

/** The module of the copy, which asks about the checkout that it lies in. */
const state = (): Promise<typeof import('../../scripts/build-state.mjs')> =>
  import(pathToFileURL(join(root, 'scripts', 'build-state.mjs')).href)

const answer = async (question: 'areNativePartsReady' | 'isBuilt') => (await state())[question]()

const SQLITE = join('node_modules', 'better-sqlite3', 'index.js')
const BUNDLE = join('dist', 'node_modules', 'typebox', 'package.json')

describe('areNativePartsReady', () => {
  it('is true where SQLite loads', async () => {
    write(SQLITE, 'module.exports = class { close() {} }')
    expect(await answer('areNativePartsReady')).toBe(true)
  })

  it('is false where SQLite is missing or compiled for another Node', async () => {
    expect(await answer('areNativePartsReady')).toBe(false)
    write(SQLITE, "module.exports = class { constructor() { throw new Error('NODE_MODULE_VERSION 115') } }")
    expect(await answer('areNativePartsReady')).toBe(false)
  })

  it('is false where the kernels are older than their sources', async () => {
    write(SQLITE, 'module.exports = class { close() {} }')
    write('native/src/kernels.cc', '')
    const kernels = 'native/build/Release/countersign_kernels.node'
    write(kernels, '')
    expect(await answer('areNativePartsReady')).toBe(true)
    age(kernels, 60)
    expect(await answer('areNativePartsReady')).toBe(false)
  })
})

describe('isBuilt', () => {
  const record = async (startedMs: number) => (await state()).recordBuild(startedMs)
  beforeEach(() => {
    for (const path of ['src/app/service.ts', 'test/faults/campaign.ts']) write(path, 'as it was built')
    write(BUNDLE, '{}')
  })

  it('is true once a build is recorded, and stays so for copies and checkouts, which have other dates', async () => {
    expect(await answer('isBuilt')).toBe(false)
    await record(Date.now() + 1000)
    expect(await answer('isBuilt')).toBe(true)
    age('src/app/service.ts', -60)
    expect(await answer('isBuilt')).toBe(true)
  })

  it.each([
    ['another content', 'src/app/service.ts'],
    ['another content', 'test/faults/campaign.ts'],
    ['a new file', 'src/app/other.ts'],
    ['other settings', 'tsconfig.json'],
  ])('is false after %s: %s', async (_, path) => {
    await record(Date.now() + 1000)
    write(path, JSON.stringify({ include: ['src', 'clients', 'test/faults/main.ts'], compilerOptions: {} }))
    expect(await answer('isBuilt')).toBe(false)
  })

  it.each([
    ['a file', 'src/app/service.ts'],
    ['the bundled library', BUNDLE],
  ])('is false where %s went away', async (_, path) => {
    await record(Date.now() + 1000)
    rmSync(join(root, path))
    expect(await answer('isBuilt')).toBe(false)
  })

  it('stays true when pip or Go writes next to the SDKs of other languages', async () => {
    await record(Date.now() + 1000)
    write('clients/python/countersign.egg-info/PKG-INFO', '')
    write('clients/go/vendor/modules.txt', '')
    expect(await answer('isBuilt')).toBe(true)
  })

  it('is false for a build during which a file was changed', async () => {
    await record(Date.now() - 60_000)
    expect(await answer('isBuilt')).toBe(false)
  })
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
