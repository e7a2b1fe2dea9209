/** `countersign-client`, the SDK as a package of its own: packed, installed by npm into an empty folder, compiled and run. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { compile } from '../support/compiler.js'
import { linkPackages, npm, npmPack, type Packed } from '../support/npm-pack.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const MAX_UNPACKED_BYTES = 500_000
/** Sizes that docs/guides/capture.md states. */
const MAX_CAPTURE_BYTES = 46_000
const MAX_CAPTURE_GZIP_BYTES = 17_000

const folder = temporaryFolder()
let packed: Packed
const manifest = () =>
  JSON.parse(readFileSync(join(folder, 'node_modules/countersign-client/package.json'), 'utf8'))

beforeAll(async () => {
  const source = execFileSync(process.execPath, [packageFile('scripts', 'pack-client.mjs')], {
    encoding: 'utf8',
  }).trim()
  packed = npmPack(source, folder)
  await writeFile(join(folder, 'package.json'), '{"name":"app","type":"module"}')
  // jose from this installation, so that nothing is fetched.
  const jose = packageFile('node_modules', 'jose')
  npm(folder, 'install', '--offline', '--no-audit', '--no-fund', `./${packed.filename}`, `file:${jose}`)
})

it('is under 500 kB, and holds code, types, readme and licence', () => {
  expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES)
  const others = packed.files
    .map(({ path }) => path)
    .filter(
      (path) =>
        !/^lib\/((capture|clients\/capture|clients\/node|clients\/node\/testing|src\/contract|src\/contract\/actions)\/)?[\w-]+\.(js|d\.ts)$/.test(
          path,
        ),
    )
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
})

it('depends only on jose', () => {
  expect(Object.keys(manifest().dependencies)).toEqual(['jose'])
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const installed = Object.entries<{ link?: boolean }>(packages)
    .filter(([path]) => path.startsWith('node_modules/'))
    .map(([path]) => path)
  expect(installed.sort()).toEqual(['node_modules/countersign-client', 'node_modules/jose'])
})

it('holds every file that its manifest points to', () => {
  const pointed = manifest().exports as Record<string, string | Record<string, string>>
  const files = packed.files.map(({ path }) => `./${path}`)
  const missing = Object.values(pointed)
    .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
    .filter((path) => !files.includes(path))
  expect(missing).toEqual([])
})

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
let complaints: string[]
const complaintsOf = (file: string) => complaints.filter((line) => line.startsWith(`${file}(`)).join('\n')

// All at once: most of the compiler's time goes into its start.
beforeAll(async () => {
  // The frameworks are the application's own.
  linkPackages(folder, ['express', '@types/express', 'fastify', 'hono'])
  const programs = [['app.ts', APP], ['page.ts', PAGE], ...MISTAKES.map(([, file, , text]) => [file, text])]
  for (const [file, text] of programs) await writeFile(join(folder, file!), text!)
  const options = ['--exactOptionalPropertyTypes', '--module', 'NodeNext', '--rootDir', folder]
  complaints = compile(
    programs.map(([file]) => file!),
    options,
    folder,
  ).split('\n')
})
const run = (file: string) => execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' })

it('compiles under strict NodeNext, where types follow verdict and action, and runs', () => {
  expect(complaintsOf('app.ts')).toBe('')
  expect(run('app.js')).toBe('sandbox function,function,function\n')
})

it.each(MISTAKES)('has types by which the compiler refuses %s', (_mistake, file, complaint) => {
  expect(complaintsOf(file)).toContain(complaint)
})

it('has complaints of the compiler only about mistakes', () => {
  const files = MISTAKES.map(([, file]) => file)
  expect(complaints.filter((line) => /^\S/.test(line) && !files.includes(line.split('(')[0]!))).toEqual([])
})

describe('the capture component in it', () => {
  const captureFile = () =>
    readFileSync(join(folder, 'node_modules/countersign-client/lib/capture/capture.js'))

  it('is one small file that imports nothing, as it can be copied to any web server', () => {
    const code = captureFile()
    expect(packed.files.filter(({ path }) => /^lib\/capture\/.*\.js$/.test(path))).toHaveLength(1)
    const unwanted = [/\bimport\b[^.]/, /\/\*[\s\S]*?\*\//, /sourceMappingURL/]
    expect(unwanted.filter((one) => one.test(code.toString()))).toEqual([])
    expect(code.length).toBeLessThan(MAX_CAPTURE_BYTES)
    expect(gzipSync(code).length).toBeLessThan(MAX_CAPTURE_GZIP_BYTES)
  })

  it('has the call for passkeys next to it, as a file that imports nothing either', () => {
    const code = readFileSync(join(folder, 'node_modules/countersign-client/lib/passkey.js'), 'utf8')
    expect(code).toContain('usePasskey')
    expect(code).not.toMatch(/\bimport\b[^.]/)
  })

  it('has types under strict NodeNext, and can be imported where there is no page', () => {
    expect(complaintsOf('page.ts')).toBe('')
    expect(run('page.js')).toBe('function\n')
  })
})
