/**
 * Runs npm scripts on a fresh clone: installs and builds when needed, then runs the command.
 * Plain JavaScript without dependencies, because nothing is installed yet.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, watch } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import {
  areNativePartsReady,
  isBuilt,
  isInstalled,
  isNodeTooOld,
  isSiteBuilt,
  oldestNode,
  recordBuild,
  recordSite,
  ROOT as root,
} from './build-state.mjs'
import { recordCommit } from './write-build.mjs'

const [command = 'serve', ...args] = process.argv.slice(2)
const windows = process.platform === 'win32'

if (isNodeTooOld()) {
  console.error(`Countersign needs Node ${oldestNode()} or later; this is ${process.version}.`)
  process.exit(1)
}

// npm and its tools start the `node` of the PATH, and what they compile must fit the one that runs here.
process.env.PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)

const COMMANDS = {
  serve: () => [process.execPath, [join(root, 'dist/src/cli/main.js'), 'serve', ...args]],
  test,
  docs,
  postgres: () => [bin('vitest'), ['run', '--project', 'postgres', ...args]],
  pages: () => [bin('vitest'), ['run', '--project', 'pages', ...args]],
  films: () => [bin('vitest'), ['run', '--project', 'films', ...args]],
  campaigns: () => [bin('vitest'), ['run', '--project', 'campaigns', ...args]],
  bench: () => [process.execPath, [join(root, 'dist/bench/main.js'), ...args]],
  hostile: () => [process.execPath, [join(root, 'dist/test/hostile/main.js'), ...args]],
  liveness: () => [process.execPath, [join(root, 'dist/test/liveness/main.js'), ...args]],
  faults: () => [process.execPath, [join(root, 'dist/test/faults/main.js'), ...args]],
  fuzz: () => [process.execPath, [join(root, 'dist/test/fuzz/main.js'), ...args]],
  chaos: () => [process.execPath, [join(root, 'dist/test/chaos/main.js'), ...args]],
  powerloss: () => [process.execPath, [join(root, 'dist/test/powerloss/main.js'), ...args]],
  nodes: () => [process.execPath, [join(root, 'dist/test/node-versions/main.js'), ...args]],
  mutation: () => [process.execPath, [join(root, 'test/mutation/main.mjs'), ...args]],
  'release-database': () => [process.execPath, [join(root, 'dist/test/releases/make-database.js')]],
  'pack-client': () => [process.execPath, [join(root, 'scripts/pack-client.mjs')]],
  'release-notes': () => [process.execPath, [join(root, 'scripts/release-notes.mjs'), ...args]],
  'supply-chain': () => [process.execPath, [join(root, 'dist/test/supply-chain/main.js'), ...args]],
}

if (!['dev', 'site'].includes(command) && !Object.hasOwn(COMMANDS, command)) {
  console.error(
    `Unknown command ${command}. Known are: dev, site, ${Object.keys(COMMANDS).join(', ')}. For the commands of countersign: npx countersign --help`,
  )
  process.exit(2)
}

function step(title, program, parameters) {
  console.error(`> ${title}`)
  const { status } = spawnSync(program, parameters, {
    cwd: root,
    // The output of the tools goes to stderr: stdout belongs to the requested command.
    stdio: ['ignore', 2, 2],
    shell: windows,
  })
  if (status !== 0) {
    console.error(`${title} failed.`)
    process.exit(status ?? 1)
  }
}

const CAPTURE = 'src/capture'
const HOSTED_PAGE = 'src/capture/page/build.mjs'
const DASHBOARD = 'src/dashboard/web/vite.config.ts'
const PARENT_POLL_MS = 500

const bin = (name) => join(root, 'node_modules', '.bin', windows ? `${name}.cmd` : name)

if (!isInstalled())
  // Install scripts of packages never run, with any version of npm: two of them download files that no lockfile has a checksum for.
  step('Installing packages', 'npm', [
    ...['ci', '--no-audit', '--no-fund'],
    // The version of Node was checked above; npm's own warnings about versions would hide what matters.
    '--loglevel=error',
  ])
if (!areNativePartsReady())
  step('Compiling the native parts (a minute or two)', 'npm', ['run', '--silent', 'install'])
if (!isBuilt()) {
  const started = Date.now()
  step('Building', bin('tsc'), ['-p', 'tsconfig.json'])
  step('Building the capture component', bin('tsc'), ['-p', CAPTURE])
  step('Building the hosted page', process.execPath, [HOSTED_PAGE])
  step('Building the dashboard', bin('vite'), ['build', '--config', DASHBOARD, '--logLevel', 'warn'])
  // npx sets this bit when it first meets a folder and never again, so another build would lose it.
  chmodSync(join(root, 'dist/src/cli/main.js'), 0o755)
  recordBuild(started)
}
if (needsSite() && !isSiteBuilt()) {
  const started = Date.now()
  step('Building the documentation', bin('vitepress'), ['build', 'docs', '--logLevel', 'warn'])
  recordSite(started)
}
recordCommit()

/** A run of only some tests starts without it: the site takes ten seconds, and few tests read it. */
function needsSite() {
  return ['serve', 'dev', 'site', 'pages'].includes(command) || (command === 'test' && args.length === 0)
}

/** Runs the whole gate without arguments, or the named tests only. */
function test() {
  if (args.length === 0) {
    step('Linting', bin('biome'), ['check', '.'])
    step('Type-checking the tests', bin('tsc'), ['-p', join(root, 'test', 'tsconfig.json')])
    step('Type-checking the dashboard', bin('tsc'), ['-p', join(root, 'src', 'dashboard', 'web')])
    step('Type-checking the documentation site', bin('tsc'), ['-p', join(root, 'docs', '.vitepress')])
    return [bin('vitest'), ['run', '--project', 'rules']]
  }
  return [bin('vitest'), ['run', ...args]]
}

/** Writes the generated documents, by the tests that compare them. */
function docs() {
  process.env.UPDATE_DOCS = '1'
  const makers = [
    ...['docs', 'openapi', 'postman', 'client/vectors', 'client/guides', 'client/sdk-reference'],
    'client/typed-actions',
    ...['evaluation/accuracy-page', 'evaluation/quality-page', 'bench/figures'],
  ]
  const files = makers.map((name) => `test/${name}.test.ts`)
  // One after the other: some pages have parts of two makers.
  return [bin('vitest'), ['run', '--project', 'rules', '--no-file-parallelism', ...files]]
}

if (command === 'dev') dev()
// The site is built by now.
else if (command !== 'site') forward(...COMMANDS[command]())

/** Runs a command with this terminal and exits as it exited. */
function forward(program, parameters) {
  const child = spawn(program, parameters, { stdio: 'inherit', shell: windows && program.endsWith('.cmd') })
  onEnd((signal) => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}

/** A terminal sends its signals to the children too; other signals are passed on. */
function onEnd(end) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal))
  // `kill` of an npm process ends npm and its shell without a signal to this process; then its parent changes.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && end('SIGTERM'), PARENT_POLL_MS).unref()
}

/** Pause without compiler output after which the service is restarted, in milliseconds. */
const SETTLE_MS = 500

/**
 * Compiles service, capture component and dashboard on change, and restarts the service when the output changed. `node --watch` is no option:
 * the engine process would inherit its request to report every import, and fail.
 */
function dev() {
  const compilers = [
    ['tsc', '-p', 'tsconfig.json', '--watch', '--preserveWatchOutput'],
    ['tsc', '-p', CAPTURE, '--watch', '--preserveWatchOutput'],
    ['vite', 'build', '--config', DASHBOARD, '--watch', '--logLevel', 'warn'],
    [process.execPath, HOSTED_PAGE, '--watch'],
  ].map(([program, ...parameters]) =>
    spawn(program === process.execPath ? program : bin(program), parameters, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: windows,
      // A process group of its own: npm starts the compiler as a child and does not pass signals on.
      detached: !windows,
    }),
  )
  const parameters = [join(root, 'dist/src/cli/main.js'), 'serve', '--demo', ...args]
  let service
  let timer
  const start = () => {
    service = spawn(process.execPath, parameters, { stdio: 'inherit' })
  }
  const restart = () => {
    if (service.exitCode !== null || service.signalCode !== null) return start()
    // Finishes the build under way; later changes are there for the next one.
    if (service.listenerCount('exit') === 0) service.once('exit', start)
    service.kill('SIGTERM')
  }
  const changes = watch(join(root, 'dist'), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(restart, SETTLE_MS)
  })
  onEnd((signal) => {
    changes.close()
    clearTimeout(timer)
    service.removeAllListeners('exit')
    service.kill(signal)
    for (const compiler of compilers) windows ? compiler.kill() : process.kill(-compiler.pid, signal)
  })
  start()
}
