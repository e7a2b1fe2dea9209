/** The SDK packages of other languages, built and installed without a network, as an application would install them. */
import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../src/lib/package-root.js'

const run = promisify(execFile)
const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0

/** The first Python of the path, and the system's where the first one lacks something. */
const PYTHONS = ['python3', '/usr/bin/python3']
const having = (modules: string) => PYTHONS.find((python) => works(python, '-c', `import ${modules}`))

/** setuptools before 70.1 makes wheels with the package `wheel`. */
const builder = having('setuptools, wheel')
const installer = having('venv, ensurepip')
const hasGo = works('go', 'version')

/** A Python with mypy, where there is one. */
export const typeChecker = having('mypy')
export const canInstallPython = builder !== undefined && installer !== undefined
export const canBuildGo = hasGo

/** Folder of the package `cryptography` of the Python that makes virtual environments; empty where that Python has none. */
export function cryptographyFolder(): string {
  const find = 'import cryptography, os; print(os.path.dirname(os.path.dirname(cryptography.__file__)))'
  return spawnSync(installer!, ['-c', find], { encoding: 'utf8' }).stdout.trim()
}

export interface PythonPackage {
  /** Interpreter of a fresh virtual environment that has the package. */
  python: string
  wheel: string
  sdist: string
}

const BUILD = `
import os, sys
from setuptools import build_meta
kind, out = sys.argv[1:]
print(getattr(build_meta, 'build_' + kind)(out))
`

/** @param folder an empty one, for everything that is made */
export async function installPython(folder: string): Promise<PythonPackage> {
  const source = join(folder, 'source')
  // setuptools writes into the folder that it builds, so it gets a copy.
  await cp(packageFile('clients', 'python'), source, {
    recursive: true,
    filter: (path) => !/__pycache__|\.egg-info|\/build$/.test(path),
  })
  const out = join(folder, 'dist')
  await mkdir(out)
  await run(builder!, ['-c', BUILD, 'sdist', out], { cwd: source })
  const sdist = join(out, (await readdir(out)).find((name) => name.endsWith('.tar.gz'))!)
  // From the source archive, so that it is complete.
  const unpacked = join(folder, 'unpacked')
  await mkdir(unpacked)
  await run('tar', ['-xzf', sdist, '-C', unpacked, '--strip-components', '1'])
  await run(builder!, ['-c', BUILD, 'wheel', out], { cwd: unpacked })
  const wheel = join(out, (await readdir(out)).find((name) => name.endsWith('.whl'))!)
  const environment = join(folder, 'venv')
  await run(installer!, ['-m', 'venv', environment])
  const python = join(environment, 'bin', 'python')
  const quietly = ['--quiet', '--disable-pip-version-check', '--no-index', '--no-deps']
  await run(python, ['-m', 'pip', 'install', ...quietly, wheel])
  return { python, wheel, sdist }
}

/** Installs the package at the first call, in a folder below this one. @returns gives its interpreter */
export function pythonBelow(folder: string): () => Promise<string> {
  let installed: Promise<string> | undefined
  return () => {
    installed ??= mkdtemp(join(folder, 'python-')).then(async (made) => (await installPython(made)).python)
    return installed
  }
}

/** Nothing is fetched, and nothing is written but the cache. */
export const GO_ENV = {
  ...process.env,
  GOCACHE: join(tmpdir(), 'countersign-go-cache'),
  GOFLAGS: '-mod=readonly',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
}

/** Builds the program in a folder of the checkout. @param folder one below it is made @returns the program's path */
export async function buildGo(source: string, folder: string): Promise<string> {
  const program = join(await mkdtemp(join(folder, 'go-')), 'program')
  await run('go', ['build', '-o', program, '.'], { cwd: source, env: GO_ENV })
  return program
}

export async function go(args: string[], source: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await run('go', args, { cwd: source, env: { ...GO_ENV, ...env } })
  return stdout
}
