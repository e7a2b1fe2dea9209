/** Hides each native part in turn, in a copy of the built package. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AddonRecord, OWN_BINARY, recordedAddon } from '../../src/cli/doctor/http-addon.js'
import type { Finding } from '../../src/cli/lib/finding.js'
import { type CommandResult, poll, until, type Workplace, workplace } from '../support/command.js'
import { face } from '../support/faces.js'
import { copyPackage, type PackageCopy } from '../support/package-copy.js'
import { childrenOf } from '../support/process-tree.js'
import { overUws } from '../support/transports.js'

let copy: PackageCopy
let place: Workplace
beforeAll(async () => {
  copy = await copyPackage()
  place = await workplace({}, copy.main)
  await writeFile(place.path('ada.jpg'), await face('ada'))
})
afterEach(() => copy?.restore())
afterAll(async () => {
  await place?.dispose()
  await copy?.dispose()
})

const UNLOADABLE = "throw new Error('libfoo.so.1: cannot open shared object file')"

/** Each part breaks at its import, SQLite at its first use. */
const BROKEN: Record<string, string> = {
  'uWebSockets.js': UNLOADABLE,
  'onnxruntime-node': UNLOADABLE,
  sharp: UNLOADABLE,
  'better-sqlite3': `module.exports = class { constructor() { ${UNLOADABLE} } }`,
}

const HIDDEN: Record<string, (part: string) => Promise<void>> = {
  'is missing': (part) => copy.remove(part),
  'does not load': (part) => copy.replace(part, BROKEN[part]!),
}

async function examine() {
  const { code, json, stderr } = await place.spawn(['doctor', '--json'])
  const findings = json.findings as Finding[]
  return { code, stderr, findings, problems: findings.filter(({ status }) => status === 'problem') }
}

const PARTS = Object.keys(BROKEN)
const WAYS = Object.keys(HIDDEN)
const POINTS_TO_DOCTOR = { code: 1, stdout: '', stderr: expect.stringContaining('countersign doctor') }

describe.each(['onnxruntime-node', 'sharp'])('where only %s', (part) => {
  it.each(WAYS)('%s, comparing points to doctor', { timeout: 90_000 }, async (how) => {
    await HIDDEN[how]!(part)
    const photo = place.path('ada.jpg')
    expect(await place.spawn(['compare', photo, photo])).toMatchObject(POINTS_TO_DOCTOR)
  })
})

describe.each(WAYS)('where every native part %s', (how) => {
  const USAGE = ['--help', '--version', 'serve --help', 'tenant create --help']
  const WRONG = ['serve --deamon', 'nonsense']
  const LINES = [...USAGE, ...WRONG, 'completion bash', 'tenant create acme', 'doctor --json']
  let results: Map<string, CommandResult>
  const resultOf = (line: string) => results.get(line)!
  const findings = () => resultOf('doctor --json').json.findings as Finding[]
  beforeAll(async () => {
    for (const part of PARTS) await HIDDEN[how]!(part)
    const answers = await place.spawnAll(LINES.map((line) => line.split(' ')))
    results = new Map(LINES.map((line, i) => [line, answers[i]!]))
  })

  it.each(USAGE)('%s works', (line) => {
    expect(resultOf(line)).toMatchObject({ code: 0, stderr: '' })
  })

  it('every command still prints its help', () => {
    const { code, stdout } = resultOf('completion bash')
    expect(code).toBe(0)
    for (const option of ['--demo', '--rate-limit', '--fmr', '--anchor', '--finish', '--mirror'])
      expect(stdout).toContain(option)
  })

  it.each(WRONG)('%s is wrong usage, as ever', (line) => {
    expect(resultOf(line)).toMatchObject({ code: 2, stdout: '' })
  })

  it('a command that needs the database points to doctor', () => {
    expect(resultOf('tenant create acme')).toMatchObject(POINTS_TO_DOCTOR)
  })

  it('doctor names each part', () => {
    expect(resultOf('doctor --json')).toMatchObject({ code: 1, stderr: '' })
    for (const part of PARTS.filter((part) => part !== 'uWebSockets.js'))
      expect(findings()).toContainEqual(
        expect.objectContaining({
          ...{ check: part, status: 'problem' },
          remedy: expect.stringContaining('npm ci'),
        }),
      )
  })

  it('doctor only warns of the HTTP server, since node:http serves', () => {
    expect(findings()).toContainEqual(
      expect.objectContaining({
        ...{ check: 'HTTP server', status: 'warning' },
        detail: expect.stringContaining('uWebSockets.js'),
      }),
    )
  })
})

it('node:http serves where uWebSockets.js is missing', { timeout: 90_000 }, async () => {
  await copy.remove('uWebSockets.js')
  const { admin, signal, exited } = await place.serve()
  expect((await fetch(`${admin}/livez`)).status).toBe(200)
  signal('SIGTERM')
  expect(await exited).toMatchObject({ code: 0 })
})

it('doctor survives a part that crashes the process which loads it', async () => {
  await copy.replace('onnxruntime-node', "process.kill(process.pid, 'SIGILL')")
  const { code, problems } = await examine()
  expect(code).toBe(1)
  expect(problems).toEqual([
    expect.objectContaining({ check: 'onnxruntime-node', detail: expect.stringContaining('SIGILL') }),
  ])
})

overUws(() => {
  /** Doctor's findings where the record of the addon's release is another. */
  async function examineWith(changes: Partial<AddonRecord>): Promise<Finding[]> {
    const record = join(copy.folder, 'native', 'uwebsockets.json')
    await writeFile(record, JSON.stringify({ ...recordedAddon(), ...changes }))
    try {
      const { code, findings, problems } = await examine()
      expect(code).toBe(problems.length > 0 ? 1 : 0)
      return findings
    } finally {
      await writeFile(record, JSON.stringify(recordedAddon()))
    }
  }

  it('doctor warns of a release of the HTTP addon that differs from the one on record', async () => {
    const findings = await examineWith({ version: '0.0.1' })
    expect(findings.find(({ check }) => check === 'HTTP addon')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`instead of ${recordedAddon().package} 0.0.1`),
    })
  })

  it('doctor reports a binary of the HTTP addon that differs from the one on record', async () => {
    const findings = await examineWith({
      sha256: { ...recordedAddon().sha256, [OWN_BINARY]: '0'.repeat(64) },
    })
    expect(findings.filter((finding) => finding.status === 'problem')).toEqual([
      {
        check: 'HTTP addon',
        status: 'problem',
        detail: expect.stringContaining(`${OWN_BINARY} differs from the one on record`),
        remedy: expect.stringContaining('npm ci'),
      },
    ])
  })
})

// The children of a process are found in /proc.
describe.skipIf(process.platform !== 'linux')('an install in the folder of a running service', () => {
  it('an engine that is lost while its packages are away comes back with them, without a restart, and the service warns of its files', {
    timeout: 120_000,
  }, async () => {
    // The service that node:http serves because the other server does not load.
    await HIDDEN['does not load']!('uWebSockets.js')
    const server = await place.serve()
    expect(server.stderr()).toMatch(/HTTP +node:http/)
    const readyz = async () => (await (await fetch(`${server.admin}/readyz`)).json()) as { status: string }
    try {
      await copy.remove('onnxruntime-node')
      await copy.remove('.package-lock.json')
      for (const engine of childrenOf(server.pid)) process.kill(engine, 'SIGKILL')
      await server.logged('not ready')
      // A second process has failed as well.
      await until(() => (server.stdout().match(/"kind":"engine_process_lost"/g)?.length ?? 0) >= 3)
      expect(await readyz()).toEqual({
        status: 'not_ready',
        reasons: ['engine_down'],
        warnings: ['files_replaced'],
      })
      await copy.restore()
      expect(await poll(readyz, ({ status }) => status === 'ready')).toEqual({
        status: 'ready',
        warnings: ['files_replaced'],
      })
      const { json } = await place.spawn(['doctor', '--json'], {
        COUNTERSIGN_ADMIN_LISTEN: new URL(server.admin).host,
      })
      expect(json.findings).toContainEqual(
        expect.objectContaining({
          status: 'warning',
          detail: 'the files of the running service were replaced since it started',
        }),
      )
    } finally {
      server.signal('SIGTERM')
      await server.exited
    }
  })
})
