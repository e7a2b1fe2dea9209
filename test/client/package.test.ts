/** The package as it is published: what is in it, and that an application can use the SDK from it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
let folder: string
let installed: string
let files: string[]

beforeAll(async () => {
  if (!existsSync(packageFile('dist', 'clients', 'node', 'index.js')))
    throw new Error('dist is missing; build first: npm run build')
  folder = await mkdtemp(join(tmpdir(), 'countersign-consumer-'))
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: packageFile(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const report = JSON.parse(packed)
  // npm 12 reports by package name, earlier ones as a list.
  const [entry] = Array.isArray(report)
    ? report
    : Object.values<{ filename: string; files: Array<{ path: string }> }>(report)
  files = entry!.files.map(({ path }: { path: string }) => path)
  installed = join(folder, 'node_modules', 'countersign')
  await mkdir(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, entry!.filename), '-C', installed, '--strip-components', '1'])
  for (const name of ['jose', 'hono', 'express', '@types/express', 'fastify']) await link(name)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The packages that npm would install with it, from this package's own dependencies: nothing is fetched. */
async function link(name: string): Promise<void> {
  const path = join(folder, 'node_modules', name)
  await mkdir(dirname(path), { recursive: true })
  await symlink(packageFile('node_modules', name), path)
}

describe('the package', () => {
  it('holds every file that its manifest points to', () => {
    const points = (value: unknown): string[] =>
      typeof value === 'string' ? [value] : Object.values(value as object).flatMap(points)
    const { '#native-kernels': _builtHere, ...shipped } = manifest.imports
    const pointed = [...points(manifest.exports), ...points(manifest.bin), ...points(shipped)]
    expect(pointed.map((path) => path.replace(/^\.\//, '')).filter((path) => !files.includes(path))).toEqual(
      [],
    )
    const script = /^node (\S+)$/.exec(manifest.scripts.install)![1]
    expect(files).toContain(script)
    expect(files).toContain('native/binding.gyp')
  })

  it('has every source that the native addon is built from', () => {
    const sources = readFileSync(packageFile('native', 'binding.gyp'), 'utf8').match(/src\/[\w.-]+/g)!
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.filter((path) => !files.includes(`native/${path}`))).toEqual([])
  })

  it('has no tests, benchmarks, data or build products', () => {
    expect(
      files.filter((path) =>
        /^(test|bench|data|native\/build|dist\/(bench|test|client-package)|node_modules)/.test(path),
      ),
    ).toEqual([])
    expect(files.filter((path) => /\.(map|onnx|db|key|node|tgz)$|\.built$/.test(path))).toEqual([])
  })
})

const CONSUMER = `
import { ApiError, Countersign, type ErrorCode, type VerifyResult, verifyVerdict } from 'countersign/client'
import { stepUp as expressStepUp } from 'countersign/client/express'
import { stepUp as fastifyStepUp, verdictOf } from 'countersign/client/fastify'
import { stepUp as honoStepUp } from 'countersign/client/hono'

const countersign = new Countersign({
  apiKey: 'svc-sbx-1', baseUrl: 'https://example.test/v1', signingSecret: ['svc-sec-1', { id: 'sec_2', secret: 'svc-sec-2' }],
})
export async function check(image: Uint8Array): Promise<VerifyResult['verdict'] | ErrorCode | string> {
  try {
    return (await countersign.verify({ user_id: 'u', image, action: { amount: 1 } })).verdict
  } catch (error) {
    return error instanceof ApiError ? error.code : 'other'
  }
}
export const used = [expressStepUp, fastifyStepUp, verdictOf, honoStepUp, verifyVerdict].map((it) => typeof it)
console.log(countersign.environment, used.join())
`

describe('an application that installed it', () => {
  const compile = (code: string, module: string, resolution: string) =>
    spawnSync(
      packageFile('node_modules', '.bin', 'tsc'),
      [
        ...[
          '--strict',
          '--exactOptionalPropertyTypes',
          '--skipLibCheck',
          '--ignoreConfig',
          '--outDir',
          join(folder, 'out'),
        ],
        ...[
          '--target',
          'ES2023',
          '--lib',
          'ES2024,DOM',
          '--module',
          module,
          '--moduleResolution',
          resolution,
        ],
        ...['--rootDir', folder, code],
      ],
      { encoding: 'utf8', cwd: folder },
    )

  it.each([
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])('compiles against its types and runs (%s, %s)', async (module, resolution) => {
    const file = join(folder, 'app.ts')
    await writeFile(file, CONSUMER)
    expect(compile(file, module, resolution).stdout).toBe('')
    const said = execFileSync(process.execPath, [join(folder, 'out', 'app.js')], { encoding: 'utf8' })
    expect(said).toBe('sandbox function,function,function,function,function\n')
  })

  it('gets a compiler error for a mistake', async () => {
    const file = join(folder, 'wrong.ts')
    await writeFile(file, CONSUMER.replace('action: { amount: 1 }', 'acton: 1'))
    expect(compile(file, 'NodeNext', 'NodeNext').stdout).toContain('acton')
  })

  it('can import only the SDK', () => {
    const reach = (specifier: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', `await import('${specifier}')`], {
        cwd: folder,
        encoding: 'utf8',
      }).stderr
    expect(reach('countersign/client')).toBe('')
    expect(reach('countersign/dist/src/app/service.js')).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })
})
