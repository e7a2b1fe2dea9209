/** `npm run release-notes`: both packages as they are published, their notes, and that an application can use the SDK from either. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { VERSION } from '../../src/lib/version.js'
import { compile } from '../support/compiler.js'
import { linkPackages, npm } from '../support/installed-packages.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const SERVICE = `countersign-${VERSION}.tgz`
const CLIENT = `countersign-client-${VERSION}.tgz`
const PACKAGES = [SERVICE, CLIENT]

const folder = temporaryFolder()
const made = (name: string) => join(folder, 'once', name)
const make = (name: string) =>
  execFileSync(
    process.execPath,
    [packageFile('scripts', 'release-notes.mjs'), '--draft', '--out', join(folder, name)],
    { encoding: 'utf8' },
  )
const read = (name: string) => readFileSync(made(name))
/** Paths of the files in a package. */
const filesIn = (name: string) =>
  execFileSync('tar', ['-tzf', made(name)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
let notes: string

beforeAll(() => {
  notes = make('once')
}, 120_000)

describe('the notes', () => {
  it('name the SHA-512 and the files of both packages, as the statement does', () => {
    expect(readdirSync(made('')).sort()).toEqual([...PACKAGES, 'provenance.json'].sort())
    const { subject, predicate } = JSON.parse(read('provenance.json').toString())
    for (const [i, name] of PACKAGES.entries()) {
      const sum = (encoding: 'base64' | 'hex') => createHash('sha512').update(read(name)).digest(encoding)
      expect(notes).toContain(`### ${name}\n\n${read(name).length} bytes, \`sha512-${sum('base64')}\``)
      expect(subject[i]).toEqual({ name, digest: { sha512: sum('hex') } })
      const listed = notes.slice(notes.indexOf(`### ${name}`)).split('### ')[1]!
      const paths = [...listed.matchAll(/^- `(.+)` \(\d+\)$/gm)].map(([, path]) => path)
      expect(paths.sort()).toEqual(filesIn(name).sort())
    }
    const [source] = predicate.buildDefinition.resolvedDependencies
    expect(notes).toContain(`Made of commit ${source.digest.gitCommit}`)
  })

  it('begin with everything that the changelog asks an operator to do', () => {
    const unreleased = readFileSync(packageFile('CHANGELOG.md'), 'utf8').split(/^## /m)[1]!
    const asked = unreleased.match(/\bTo do\b/g)!.length
    const said = notes.slice(notes.indexOf('## To do'), notes.indexOf('## Changes'))
    expect(said.match(/^- To do/gm)).toHaveLength(asked)
  })

  it('have the same checksums when they are made again', () => {
    const sums = (text: string) => text.match(/sha512-\S+/g)
    expect(sums(make('again'))).toEqual(sums(notes))
  }, 120_000)
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

describe('the package countersign', () => {
  const application = join(folder, 'with-service')
  const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  let files: string[]

  beforeAll(async () => {
    files = filesIn(SERVICE)
    const installed = join(application, 'node_modules', 'countersign')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', made(SERVICE), '-C', installed, '--strip-components', '1'])
    // The packages that npm would install with it.
    linkPackages(application, ['jose', 'hono', 'express', '@types/express', 'fastify'])
    await writeFile(join(application, 'package.json'), '{"type":"module"}')
  })

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

  describe('an application that installed it', () => {
    const compiled = (files: string[], module: string, resolution: string) => {
      const paths = ['--outDir', join(application, 'out'), '--rootDir', application]
      const modules = ['--module', module, '--moduleResolution', resolution]
      return compile(files, ['--exactOptionalPropertyTypes', ...paths, ...modules], application)
    }

    it.each([
      ['NodeNext', 'NodeNext'],
      ['ESNext', 'Bundler'],
    ])('compiles against its types and runs (%s, %s), and a mistake does not', async (module, resolution) => {
      await writeFile(join(application, 'app.ts'), CONSUMER)
      await writeFile(join(application, 'wrong.ts'), CONSUMER.replace('action: { amount: 1 }', 'acton: 1'))
      const complaints = compiled(['app.ts', 'wrong.ts'], module, resolution)
      expect(complaints).toMatch(/^wrong\.ts.*acton/)
      expect(complaints).not.toContain('app.ts')
      const said = execFileSync(process.execPath, [join(application, 'out', 'app.js')], { encoding: 'utf8' })
      expect(said).toBe('sandbox function,function,function,function,function\n')
    })

    it('can import only the SDK', () => {
      const program = ['countersign/client', 'countersign/dist/src/app/service.js']
        .map(
          (name) =>
            `await import('${name}').then(() => console.log('here'), ({ code }) => console.log(code))`,
        )
        .join('\n')
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
        cwd: application,
        encoding: 'utf8',
      })
      expect(stdout).toBe('here\nERR_PACKAGE_PATH_NOT_EXPORTED\n')
    })
  })
})

const MAX_UNPACKED_BYTES = 500_000
/** Sizes that docs/guides/capture.md states. */
const MAX_CAPTURE_BYTES = 46_000
const MAX_CAPTURE_GZIP_BYTES = 17_000

const APP = `
import { Countersign } from 'countersign-client'
import { stepUp as onExpress } from 'countersign-client/express'
import { stepUp as onFastify } from 'countersign-client/fastify'
import { stepUp as onHono } from 'countersign-client/hono'
import { FakeCountersign } from 'countersign-client/testing'

interface Transfer { type: 'transfer'; amount: string }
const countersign = new Countersign({
  apiKey: 'svc-sbx-1', baseUrl: 'https://example.test/v1', signingSecret: { id: 'sec_1', secret: 'svc-sec-1' },
})
export async function amountOf(image: Uint8Array, action: Transfer): Promise<string> {
  const answer = await countersign.verify<Transfer>({ user_id: 'u', image, action })
  if (answer.verdict === 'rejected') return \`\${answer.reason.toUpperCase()} \${answer.score ?? 'not compared'}\`
  const nothing: null = answer.reason
  const score: number = answer.score
  const claims = await countersign.verifyVerdict(answer, { userId: 'u', action })
  const amount: string = claims.action.amount
  return [amount, claims.score.toFixed(2), score, nothing].join()
}
export const protect = onExpress({ verifier: countersign, user: () => 'u', action: (): Transfer => ({ type: 'transfer', amount: '1' }) })
console.log(new FakeCountersign().client().environment, [onExpress, onFastify, onHono].map((it) => typeof it).join())
`

const PAGE = `
import type { CaptureDetail, CountersignCapture } from 'countersign-client/capture'
import { CountersignCapture as Class } from 'countersign-client/capture'
export function framesOf(detail: CaptureDetail): Blob[] {
  return detail.mode === 'photo' ? detail.images : detail.frames.map(({ image }) => image)
}
export const listen = (capture: CountersignCapture) =>
  capture.addEventListener('cs-error', ({ detail }) => detail.recoverable && capture.retry())
console.log(typeof Class)
`
const number = "'number' is not assignable to type 'string'"
const reason = 'const nothing: null = answer.reason'
/** Programs with one mistake, and what the compiler says of it. */
const MISTAKES: Array<[mistake: string, file: string, complaint: string, program: string]> = [
  ['an action of another type', 'type.ts', number, APP.replace('action })', 'action: { amount: 1 } })')],
  ['a reason of an approval', 'reason.ts', "is possibly 'null'", APP.replace(reason, 'answer.reason.length')],
  ['a claim that the action lacks', 'claim.ts', 'amuont', APP.replace('action.amount', 'action.amuont')],
  [
    'a member that an event lacks',
    'event.ts',
    'recovers',
    PAGE.replace('detail.recoverable', 'detail.recovers'),
  ],
]

describe('the package countersign-client', () => {
  const application = join(folder, 'with-client')
  const installed = (name = '') => join(application, 'node_modules', 'countersign-client', name)
  let files: string[]
  let complaints: string[]
  const complaintsOf = (file: string) => complaints.filter((line) => line.startsWith(`${file}(`)).join('\n')
  const manifest = () => JSON.parse(readFileSync(installed('package.json'), 'utf8'))

  beforeAll(async () => {
    files = filesIn(CLIENT)
    mkdirSync(application)
    await writeFile(join(application, 'package.json'), '{"name":"app","type":"module"}')
    // jose from this installation, so that nothing is fetched.
    const jose = packageFile('node_modules', 'jose')
    npm(application, 'install', '--offline', '--no-audit', '--no-fund', made(CLIENT), `file:${jose}`)
    // The frameworks are the application's own.
    linkPackages(application, ['express', '@types/express', 'fastify', 'hono'])
    // All at once: most of the compiler's time goes into its start.
    const programs = [['app.ts', APP], ['page.ts', PAGE], ...MISTAKES.map(([, file, , text]) => [file, text])]
    for (const [file, text] of programs) await writeFile(join(application, file!), text!)
    const options = ['--exactOptionalPropertyTypes', '--module', 'NodeNext', '--rootDir', application]
    complaints = compile(
      programs.map(([file]) => file!),
      options,
      application,
    ).split('\n')
  })

  it('is under 500 kB, and holds code, types, readme and licence', () => {
    const bytes = files.map((path) => statSync(installed(path)).size)
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(MAX_UNPACKED_BYTES)
    const others = files.filter(
      (path) =>
        !/^lib\/((capture|clients\/capture|clients\/node|clients\/node\/testing|src\/contract|src\/contract\/actions)\/)?[\w-]+\.(js|d\.ts)$/.test(
          path,
        ),
    )
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
  })

  it('depends only on jose', () => {
    expect(Object.keys(manifest().dependencies)).toEqual(['jose'])
    const { packages } = JSON.parse(readFileSync(join(application, 'package-lock.json'), 'utf8'))
    const installed = Object.entries<{ link?: boolean }>(packages)
      .filter(([path]) => path.startsWith('node_modules/'))
      .map(([path]) => path)
    expect(installed.sort()).toEqual(['node_modules/countersign-client', 'node_modules/jose'])
  })

  it('holds every file that its manifest points to', () => {
    const pointed = manifest().exports as Record<string, string | Record<string, string>>
    const paths = files.map((path) => `./${path}`)
    const missing = Object.values(pointed)
      .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
      .filter((path) => !paths.includes(path))
    expect(missing).toEqual([])
  })

  const run = (file: string) => execFileSync(process.execPath, [file], { cwd: application, encoding: 'utf8' })

  it('compiles under strict NodeNext, where types follow verdict and action, and runs', () => {
    expect(complaintsOf('app.ts')).toBe('')
    expect(run('app.js')).toBe('sandbox function,function,function\n')
  })

  it.each(MISTAKES)('has types by which the compiler refuses %s', (_mistake, file, complaint) => {
    expect(complaintsOf(file)).toContain(complaint)
  })

  it('has complaints of the compiler only about mistakes', () => {
    const wrong = MISTAKES.map(([, file]) => file)
    expect(complaints.filter((line) => /^\S/.test(line) && !wrong.includes(line.split('(')[0]!))).toEqual([])
  })

  describe('the capture component in it', () => {
    const captureFile = () => readFileSync(installed('lib/capture/capture.js'))

    it('is one small file that imports nothing, as it can be copied to any web server', () => {
      const code = captureFile()
      expect(files.filter((path) => /^lib\/capture\/.*\.js$/.test(path))).toHaveLength(1)
      const unwanted = [/\bimport\b[^.]/, /\/\*[\s\S]*?\*\//, /sourceMappingURL/]
      expect(unwanted.filter((one) => one.test(code.toString()))).toEqual([])
      expect(code.length).toBeLessThan(MAX_CAPTURE_BYTES)
      expect(gzipSync(code).length).toBeLessThan(MAX_CAPTURE_GZIP_BYTES)
    })

    it('has the call for passkeys next to it, as a file that imports nothing either', () => {
      const code = readFileSync(installed('lib/passkey.js'), 'utf8')
      expect(code).toContain('usePasskey')
      expect(code).not.toMatch(/\bimport\b[^.]/)
    })

    it('has types under strict NodeNext, and can be imported where there is no page', () => {
      expect(complaintsOf('page.ts')).toBe('')
      expect(run('page.js')).toBe('function\n')
    })
  })
})
