/**
 * `npm run test:mutation -- <room>`: changes one thing at a time in the sources of a room and checks whether its tests notice. The
 * tool is installed here at its first use and not with the project: nobody else needs its 167 packages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOMS } from './rooms.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const [room, ...options] = process.argv.slice(2)
if (!Object.hasOwn(ROOMS, room ?? '')) {
  console.error(`Name a room: npm run test:mutation -- <${Object.keys(ROOMS).join(' | ')}>`)
  process.exit(2)
}

const marker = join(folder, 'node_modules', '.package-lock.json')
if (!existsSync(marker) || statSync(marker).mtimeMs < statSync(join(folder, 'package-lock.json')).mtimeMs)
  // Its runner finds Vitest in the project's folder above: a second copy would run nothing.
  run('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], folder)

const { mutate, tests } = ROOMS[room]
const results = join(root, 'dist', 'mutation')
mkdirSync(results, { recursive: true })
const config = {
  packageManager: 'npm',
  mutate,
  testRunner: 'vitest',
  plugins: [join(folder, 'node_modules', '@stryker-mutator', 'vitest-runner', 'dist', 'src', 'index.js')],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  // The rooms' tests start services and engines, which take whole cores.
  concurrency: 1,
  coverageAnalysis: 'perTest',
  timeoutMS: 60_000,
  disableTypeChecks: false,
  // Stryker would rewrite references in it with TypeScript's API, which TypeScript 7 lacks. There are none to rewrite.
  tsconfigFile: 'no-tsconfig.json',
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: join(results, `${room}.json`) },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  tempDirName: 'dist/mutation/sandbox',
  ignorePatterns: ['bench/results', 'docs/images', 'test/mutation/node_modules', 'dist/mutation', 'data'],
  symlinkNodeModules: true,
}
const file = join(results, `${room}.config.json`)
writeFileSync(file, JSON.stringify(config, null, 2))
run(
  process.execPath,
  [join(folder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js'), 'run', file, ...options],
  root,
  {
    COUNTERSIGN_MUTATION_TESTS: JSON.stringify(tests),
  },
)

function run(program, parameters, cwd, env = {}) {
  const { status } = spawnSync(program, parameters, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  if (status !== 0) process.exit(status ?? 1)
}
