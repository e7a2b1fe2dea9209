/** The package as it is published: what is in it, and that an application can use the SDK from it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { compile } from '../support/compiler.js'
import { linkPackages, npmPack } from '../support/npm-pack.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
const folder = temporaryFolder()
let files: string[]

beforeAll(async () => {
  if (!existsSync(packageFile('dist', 'clients', 'node', 'index.js')))
    throw new Error('dist is missing; build first: npm run build')
  const packed = npmPack(packageFile(), folder)
  files = packed.files.map(({ path }) => path)
  const installed = join(folder, 'node_modules', 'countersign')
  await mkdir(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components', '1'])
  // The packages that npm would install with it.
  linkPackages(folder, ['jose', 'hono', 'express', '@types/express', 'fastify'])
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
})

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
  const compiled = (files: string[], module: string, resolution: string) => {
    const paths = ['--outDir', join(folder, 'out'), '--rootDir', folder]
    const modules = ['--module', module, '--moduleResolution', resolution]
    return compile(files, ['--exactOptionalPropertyTypes', ...paths, ...modules], folder)
  }

  it.each([
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])('compiles against its types and runs (%s, %s), and a mistake does not', async (module, resolution) => {
    await writeFile(join(folder, 'app.ts'), CONSUMER)
    await writeFile(join(folder, 'wrong.ts'), CONSUMER.replace('action: { amount: 1 }', 'acton: 1'))
    const complaints = compiled(['app.ts', 'wrong.ts'], module, resolution)
    expect(complaints).toMatch(/^wrong\.ts.*acton/)
    expect(complaints).not.toContain('app.ts')
    const said = execFileSync(process.execPath, [join(folder, 'out', 'app.js')], { encoding: 'utf8' })
    expect(said).toBe('sandbox function,function,function,function,function\n')
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
