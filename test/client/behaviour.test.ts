/** One suite of behaviour that the SDKs for TypeScript, Python and Go keep to, against a real service; behaviour/README.md says how. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import {
  buildGo,
  canBuildGo,
  canInstallPython,
  cryptographyFolder,
  go,
  installPython,
  typeChecker,
} from '../support/language-packages.js'
import { startService, type TestService } from '../support/service.js'
import { Driver } from './behaviour/driver.js'
import { CALLS } from './behaviour/scenarios/calls.js'
import { CAPTURE_SESSIONS } from './behaviour/scenarios/capture-sessions.js'
import { PASSKEYS } from './behaviour/scenarios/passkeys.js'
import { RETRIES } from './behaviour/scenarios/retries.js'
import { TRUST } from './behaviour/scenarios/trust.js'
import { newWorld, type Photos } from './behaviour/world.js'
import { startProxy } from './proxy.js'

const run = promisify(execFile)
const DRIVERS = packageFile('test', 'client', 'behaviour')
const VECTORS = packageFile('docs', 'examples', 'vectors.json')
const BUILD_MS = 240_000
/** How the packages' own tests start their fake. */
const COUNTERSIGN_COMMAND = `${process.execPath} ${packageFile('dist', 'src', 'cli', 'main.js')}`

let running: TestService
let photos: Photos
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-sdk-'))
  running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
    // A busy machine takes its time with twenty frames.
    COUNTERSIGN_DEADLINE_MS: '60000',
  })
  // The clock starts at a whole second, so that times in seconds do not depend on when the test began.
  running.clock.advance(1000 - (running.clock.now() % 1000))
  photos = {
    blank: base64(await plain()),
    ada: base64(await face('ada')),
    adaToday: base64(await face('adaToday')),
    grace: base64(await face('grace')),
  }
})
afterAll(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

interface Language {
  name: string
  isThere: boolean
  /** Program and arguments of its driver. */
  driver(): Promise<[string, string[]]>
}

let installed: Promise<string> | undefined
const python = () => {
  installed ??= mkdtemp(join(folder, 'python-')).then(async (made) => (await installPython(made)).python)
  return installed
}

const LANGUAGES: Language[] = [
  {
    name: 'TypeScript',
    isThere: true,
    driver: async () => [process.execPath, [join(DRIVERS, 'driver.mjs')]],
  },
  {
    name: 'Python',
    isThere: canInstallPython,
    driver: async () => [await python(), ['-I', join(DRIVERS, 'driver.py')]],
  },
  {
    name: 'Python with asyncio',
    isThere: canInstallPython,
    driver: async () => [await python(), ['-I', join(DRIVERS, 'driver.py'), 'async']],
  },
  {
    name: 'Go',
    isThere: canBuildGo,
    driver: async () => [await buildGo(join(DRIVERS, 'go'), await mkdtemp(join(folder, 'go-'))), []],
  },
]

describe.each(LANGUAGES)('the SDK for $name', ({ isThere, driver: start }) => {
  let driver: Driver

  beforeAll(async () => {
    if (isThere) driver = new Driver(...(await start()))
  }, BUILD_MS)
  afterAll(() => driver?.stop())

  for (const { title, run: scenario } of [...CALLS, ...RETRIES, ...TRUST, ...CAPTURE_SESSIONS, ...PASSKEYS])
    it.skipIf(!isThere)(title, async () => {
      const tenant = await running.tenant()
      const proxy = await startProxy(running.service.url('sandbox'))
      try {
        await scenario(newWorld({ running, tenant, proxy, photos, driver }))
        expect(driver.complaints).toBe('')
      } finally {
        await proxy.stop()
      }
    })
})

describe('the package for Python', () => {
  it.skipIf(!canInstallPython)(
    'installs from its wheel with its types, and passes its tests and the vectors',
    async () => {
      const { stdout } = await run(await python(), ['-I', join(DRIVERS, 'driver.py'), 'where'])
      expect(stdout).toContain(folder)
      await run(await python(), [
        '-I',
        '-c',
        'import importlib.resources as r; r.read_text("countersign", "py.typed")',
      ])
      const tests = packageFile('clients', 'python', 'tests')
      // Only the vectors of public verdicts need this package.
      const env = {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: cryptographyFolder(),
        COUNTERSIGN_VECTORS: VECTORS,
        COUNTERSIGN_COMMAND,
      }
      const { stderr } = await run(await python(), ['-m', 'unittest', 'discover', '-s', tests, '-t', tests], {
        cwd: folder,
        env,
      })
      expect(stderr).toMatch(/\nOK\n$/)
    },
    BUILD_MS,
  )
})

describe('the types of the package for Python', () => {
  it.skipIf(!typeChecker)('pass mypy in strict mode', async () => {
    const args = ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy'), 'countersign']
    const { stdout } = await run(typeChecker!, args, { cwd: packageFile('clients', 'python') })
    expect(stdout).toMatch(/^Success/)
  })
})

describe('the module for Go', () => {
  const source = packageFile('clients', 'go')

  it.skipIf(!canBuildGo)(
    'is formatted, and passes go vet, its tests and the vectors',
    async () => {
      const { stdout } = await run('gofmt', ['-l', '.', join(DRIVERS, 'go')], { cwd: source })
      expect(stdout).toBe('')
      expect(await go(['vet', './...'], source)).toBe('')
      const env = { COUNTERSIGN_VECTORS: VECTORS, COUNTERSIGN_COMMAND }
      const said = await go(['test', '-count=1', './...'], source, env)
      expect(said).toMatch(/^ok\b/)
    },
    BUILD_MS,
  )

  it.skipIf(!canBuildGo)('needs nothing but the standard library', async () => {
    expect((await go(['list', '-m', 'all'], source)).trim()).toBe('example.com/countersign')
  })
})
