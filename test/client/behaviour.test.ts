/** The SDKs for Python and Go keep to the behaviour of the one for TypeScript, whose test runs the same scenarios; behaviour/README.md says how. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import {
  buildGo,
  canBuildGo,
  canInstallPython,
  cryptographyFolder,
  go,
  pythonBelow,
  typeChecker,
} from '../support/language-packages.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type Driver, DriverProcess } from './behaviour/driver.js'
import { keepsToTheSuite, openStand, type Stand } from './behaviour/suite.js'

const run = promisify(execFile)
const DRIVERS = packageFile('test', 'client', 'behaviour')
const VECTORS = packageFile('docs', 'examples', 'vectors.json')
/** How the packages' own tests start their fake. */
const COUNTERSIGN_COMMAND = `${process.execPath} ${packageFile('dist', 'src', 'cli', 'main.js')}`

let stand: Stand
const folder = temporaryFolder()
const python = pythonBelow(folder)

beforeAll(async () => {
  stand = await openStand()
})
afterAll(() => stand?.running.stop())

interface Language {
  name: string
  isThere: boolean
  /** Program and arguments of its driver. */
  driver(): Promise<[string, string[]]>
}

const LANGUAGES: Language[] = [
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
    driver: async () => [await buildGo(join(DRIVERS, 'go'), folder), []],
  },
]

describe.each(LANGUAGES)('the SDK for $name', ({ isThere, driver: start }) => {
  let driver: Driver

  beforeAll(async () => {
    if (isThere) driver = new DriverProcess(...(await start()))
  })
  afterAll(() => driver?.stop())

  keepsToTheSuite(
    () => stand,
    () => driver,
    isThere,
  )
})

it.skipIf(!canInstallPython)(
  'the package for Python installs from its wheel with its types, and passes its tests and the vectors',
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
)

it.skipIf(!typeChecker)('the types of the package for Python pass mypy in strict mode', async () => {
  const args = ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy'), 'countersign']
  const { stdout } = await run(typeChecker!, args, { cwd: packageFile('clients', 'python') })
  expect(stdout).toMatch(/^Success/)
})

describe('the module for Go', () => {
  const source = packageFile('clients', 'go')

  it.skipIf(!canBuildGo)('is formatted, and passes go vet, its tests and the vectors', async () => {
    const { stdout } = await run('gofmt', ['-l', '.', join(DRIVERS, 'go')], { cwd: source })
    expect(stdout).toBe('')
    expect(await go(['vet', './...'], source)).toBe('')
    const env = { COUNTERSIGN_VECTORS: VECTORS, COUNTERSIGN_COMMAND }
    const said = await go(['test', '-count=1', './...'], source, env)
    expect(said).toMatch(/^ok\b/)
  })

  it.skipIf(!canBuildGo)('needs nothing but the standard library', async () => {
    expect((await go(['list', '-m', 'all'], source)).trim()).toBe('example.com/countersign')
  })
})
