/**
 * What npm scripts start with on a fresh clone: installs and builds when needed, then runs the command.
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
  oldestNode,
  recordBuild,
  ROOT as root,
} from './build-state.mjs'
import { recordCommit } from './write-build.mjs'

const [command = 'serve', ...args] = process.argv.slice(2)
const windows = process.platform === 'win32'

if (isNodeTooOld()) {
  console.error(`Countersign needs Node ${oldestNode()} or later; this is ${process.version}.`)
  process.exit(1)
}

// npm and the tools that it links start the `node` of the path: what they compile must fit the one that runs here.
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

if (command !== 'dev' && !Object.hasOwn(COMMANDS, command)) {
  console.error(
    `There is no ${command} to start: dev, ${Object.keys(COMMANDS).join(', ')}. What countersign itself knows: npx countersign --help`,
  )
  process.exit(2)
}

function step(title, program, parameters) {
  console.error(`> ${title}`)
  const { status } = spawnSync(program, parameters, {
    cwd: root,
    // What the tools say goes to stderr: stdout belongs to the command that was asked for.
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
  // No package's own script runs, whatever the version of npm: two of them download what no lockfile has a sum for.
  step('Installing packages', 'npm', [
    ...['ci', '--no-audit', '--no-fund'],
    // Our Node was checked above; what npm's versions warn of beside it would hide what matters.
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
  // npx makes it so when it first meets a folder, and never again: after another build it would be refused.
  chmodSync(join(root, 'dist/src/cli/main.js'), 0o755)
  recordBuild(started)
}
recordCommit()

/** The whole gate when nothing particular is asked for; a named test runs alone. */
function test() {
  if (args.length === 0) {
    step('Linting', bin('biome'), ['check', '.'])
    step('Type-checking the tests', bin('tsc'), ['-p', join(root, 'test', 'tsconfig.json')])
    step('Type-checking the dashboard', bin('tsc'), ['-p', join(root, 'src', 'dashboard', 'web')])
    return [bin('vitest'), ['run', '--project', 'rules']]
  }
  return [bin('vitest'), ['run', ...args]]
}

/** Writes what is generated: the tests that compare it are those that make it. */
function docs() {
  process.env.UPDATE_DOCS = '1'
  const makers = ['docs', 'openapi', 'postman', 'client/vectors', 'client/guides', 'client/sdk-reference']
  return [bin('vitest'), ['run', '--project', 'rules', ...makers.map((name) => `test/${name}.test.ts`)]]
}

if (command === 'dev') dev()
else forward(...COMMANDS[command]())

/** Runs the command with our terminal and leaves as it left. */
function forward(program, parameters) {
  const child = spawn(program, parameters, { stdio: 'inherit', shell: windows && program.endsWith('.cmd') })
  onEnd((signal) => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}

/** Signals of a terminal reach the children anyway, others are passed on. */
function onEnd(end) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal))
  // `kill` of an npm process ends npm and its shell without telling us; then the shell is no longer our parent.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && end('SIGTERM'), PARENT_POLL_MS).unref()
}

/** How long the compilers must have written nothing before the service is started anew. */
const SETTLE_MS = 500

/**
 * Compiles service, capture component and dashboard on change and restarts the service when what was built changed. Not by `node --watch`: the
 * engine's process would inherit its wish to be told of every import, and fail.
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
      // A group of its own: the compiler is a child of what npm links, which does not pass signals on.
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
    // It finishes what is under way; what changes meanwhile is there when the next one starts.
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
