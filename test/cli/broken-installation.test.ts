/** Hides each native part in turn, in a copy of the built package. */
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poll, type Workplace, workplace } from '../support/command.js'
import { face } from '../support/faces.js'
import { copyPackage, type PackageCopy } from '../support/package-copy.js'
import { childrenOf } from '../support/process-tree.js'

let copy: PackageCopy
let place: Workplace
beforeAll(async () => {
  copy = await copyPackage()
  place = await workplace({}, copy.main)
  await writeFile(place.path('ada.jpg'), await face('ada'))
})
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

/** A command that needs the part. */
const NEEDED_BY: Record<string, () => string[]> = {
  'onnxruntime-node': () => ['compare', place.path('ada.jpg'), place.path('ada.jpg')],
  sharp: () => ['compare', place.path('ada.jpg'), place.path('ada.jpg')],
  'better-sqlite3': () => ['tenant', 'create', 'acme'],
}

interface Finding {
  check: string
  status: string
  detail: string
  remedy?: string
}

async function examine() {
  const { code, json, stderr } = await place.spawn(['doctor', '--json'])
  const findings = json.findings as Finding[]
  return { code, stderr, findings, problems: findings.filter(({ status }) => status === 'problem') }
}

describe.each(Object.keys(NEEDED_BY))('where %s', (part) => {
  it.each(Object.keys(HIDDEN))('%s, what needs it points to doctor', { timeout: 90_000 }, async (how) => {
    await HIDDEN[how]!(part)
    try {
      const used = await place.spawn(NEEDED_BY[part]!())
      expect(used).toMatchObject({ code: 1, stdout: '' })
      expect(used.stderr).toContain('countersign doctor')
    } finally {
      await copy.restore()
    }
  })
})

it.each(Object.keys(HIDDEN))('doctor names each part that %s', { timeout: 90_000 }, async (how) => {
  const parts = Object.keys(NEEDED_BY)
  for (const part of parts) await HIDDEN[how]!(part)
  try {
    const { code, stderr, problems } = await examine()
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    for (const part of parts)
      expect(problems).toContainEqual(
        expect.objectContaining({ check: part, remedy: expect.stringContaining('npm ci') }),
      )
  } finally {
    await copy.restore()
  }
})

describe('a broken uWebSockets.js', () => {
  it.each(Object.keys(HIDDEN))('%s, node:http serves, and doctor warns', { timeout: 90_000 }, async (how) => {
    await HIDDEN[how]!('uWebSockets.js')
    try {
      const { code, stderr, findings } = await examine()
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'HTTP server',
          status: 'warning',
          detail: expect.stringContaining('uWebSockets.js'),
        }),
      )
      const { admin, signal, exited } = await place.serve()
      expect((await fetch(`${admin}/livez`)).status).toBe(200)
      signal('SIGTERM')
      expect(await exited).toMatchObject({ code: 0 })
    } finally {
      await copy.restore()
    }
  })
})

describe('an installation without native parts', () => {
  beforeAll(async () => {
    for (const part of Object.keys(BROKEN)) await copy.remove(part)
  })
  afterAll(() => copy.restore())

  it.each([['--help'], ['--version'], ['serve --help'], ['tenant create --help']])(
    '%s works',
    async (args) => {
      expect(await place.spawn(args.split(' '))).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it('every command still prints its help', async () => {
    const { code, stdout } = await place.spawn(['completion', 'bash'])
    expect(code).toBe(0)
    for (const option of ['--demo', '--rate-limit', '--fmr', '--anchor', '--finish', '--mirror'])
      expect(stdout).toContain(option)
  })

  it.each([['serve --deamon'], ['nonsense']])('%s is wrong usage, as ever', async (args) => {
    expect(await place.spawn(args.split(' '))).toMatchObject({ code: 2, stdout: '' })
  })
})

it('doctor survives a part that crashes the process which loads it', async () => {
  await copy.replace('onnxruntime-node', "process.kill(process.pid, 'SIGILL')")
  try {
    const { code, problems } = await examine()
    expect(code).toBe(1)
    expect(problems).toEqual([
      expect.objectContaining({ check: 'onnxruntime-node', detail: expect.stringContaining('SIGILL') }),
    ])
  } finally {
    await copy.restore()
  }
})

// The children of a process are found in /proc.
describe.skipIf(process.platform !== 'linux')('an install in the folder of a running service', () => {
  it('an engine that is lost while its packages are away comes back with them, without a restart, and the service warns of its files', {
    timeout: 120_000,
  }, async () => {
    const server = await place.serve()
    const readyz = async () => (await (await fetch(`${server.admin}/readyz`)).json()) as { status: string }
    try {
      await copy.remove('onnxruntime-node')
      await copy.remove('.package-lock.json')
      for (const engine of childrenOf(server.pid)) process.kill(engine, 'SIGKILL')
      await server.logged('not ready')
      // A second process has failed as well.
      await poll(
        async () => server.stdout().match(/"kind":"engine_process_lost"/g)?.length ?? 0,
        (count) => count >= 3,
      )
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
      await copy.restore()
      server.signal('SIGTERM')
      await server.exited
    }
  })
})
