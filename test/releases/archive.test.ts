/** The archive that `npm run release` makes: what is in it, and that it serves where there is neither a compiler nor a network. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { VERSION } from '../../src/lib/version.js'

const MINUTES = 10 * 60_000

const place = mkdtempSync(join(tmpdir(), 'countersign-archive-'))
const folder = join(place, `countersign-${VERSION}`)
/** The only programs on the path: what the command itself needs. */
const bin = join(place, 'bin')
const home = join(place, 'home')
let said: string
beforeAll(() => {
  // From the build of this run, not by npm: nothing is built or installed again.
  said = execFileSync(process.execPath, [packageFile('scripts', 'release.mjs'), '--out', place], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  execFileSync('tar', ['-xzf', said.split('\n')[0]!, '-C', place])
  for (const path of [bin, home]) mkdirSync(path)
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const name of ['dirname', 'readlink']) symlinkSync(`/usr/bin/${name}`, join(bin, name))
}, MINUTES)
afterAll(() => rmSync(place, { recursive: true, force: true }))

const manifest = () => JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'))

describe('the archive', () => {
  it('has the sum that is printed, and each file as its manifest says', () => {
    const file = said.split('\n')[0]!
    const sum = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    expect(said).toContain(`SHA-256 ${sum(file)}`)
    expect(readFileSync(`${file}.sha256`, 'utf8')).toContain(sum(file))
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile() && path !== join(folder, 'release.json'))
    const found = Object.fromEntries(paths.map((path) => [relative(folder, path), sum(path)]))
    expect(found).toEqual(manifest().files)
  })

  it('has no package that only development needs, and binaries for only this platform', () => {
    const { dependencies } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
    const names = manifest().packages.map(({ path }: { path: string }) => path.replace('node_modules/', ''))
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)))
    const tools = [
      'vite',
      'vitepress',
      'vitest',
      'typescript',
      'playwright-core',
      '@biomejs/biome',
      '@types/node',
    ]
    expect(tools.filter((name) => names.includes(name))).toEqual([])
    const files = Object.keys(manifest().files)
    expect(files.filter((path) => /darwin|win32/.test(path) && /\.(?:node|dll|dylib|so)/.test(path))).toEqual(
      [],
    )
  })

  it('says which Node it is for, where another one or none is found', () => {
    writeFileSync(join(place, 'other-node'), '#!/bin/sh\necho v99.0.0\n', { mode: 0o755 })
    for (const node of [join(place, 'other-node'), join(place, 'no-node')]) {
      const { status, stderr } = spawnSync(join(folder, 'countersign'), ['--version'], {
        env: { PATH: bin, NODE: node },
        encoding: 'utf8',
      })
      expect(status).toBe(1)
      expect(stderr).toContain(`is for Node ${process.versions.node.split('.')[0]}`)
    }
  })
})

it(
  'serves from an empty folder without a compiler or a network, and goes on when the link to it is switched',
  () => {
    const link = join(place, 'current')
    symlinkSync(folder, link)
    const walk = [process.execPath, packageFile('test', 'releases', 'walk-archive.mjs'), link, home]
    // Where a namespace may be made, nothing but loopback is there.
    const namespace = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$0" "$@"']
    const isAllowed = spawnSync(namespace[0]!, [...namespace.slice(1), 'true']).status === 0
    const [program, ...args] = [...(isAllowed ? namespace : []), ...walk] as [string, ...string[]]
    const options = {
      env: { PATH: isAllowed ? process.env.PATH : bin, WALK_PATH: bin },
      encoding: 'utf8',
    } as const
    const { stdout, stderr } = spawnSync(program, args, options)
    expect(stderr).toBe('')
    const { readyMs, ...found } = JSON.parse(stdout)
    console.log(`The archive was ready after ${readyMs} ms${isAllowed ? ', without a network' : ''}.`)
    expect(found).toEqual({
      calls: [
        'enroll 201',
        'verify 200 approved',
        'enroll 201',
        'verify 200 approved',
        'verify 200 rejected',
        'verify 200 rejected',
      ],
      doctor: { ok: true, kernels: 'built' },
      pages: [200, 200, 200],
      code: 0,
    })
  },
  MINUTES,
)

it('doctor asks to unpack an incomplete archive again, and not to run npm, which is not there', () => {
  rmSync(join(folder, 'node_modules', 'sharp'), { recursive: true })
  const { stdout } = spawnSync(join(folder, 'countersign'), ['doctor', '--json'], {
    cwd: home,
    env: { PATH: bin, HOME: home },
    encoding: 'utf8',
  })
  expect(JSON.parse(stdout).findings).toContainEqual(
    expect.objectContaining({ check: 'sharp', remedy: expect.stringMatching(/^unpack the archive/) }),
  )
})
