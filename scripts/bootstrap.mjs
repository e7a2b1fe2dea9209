/**
 * Runs npm scripts on a fresh clone: installs and builds when needed, then runs the command.
 * Plain JavaScript without dependencies, because nothing is installed yet.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, watch } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import {
  areNativePartsReady,
  installedCount,
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
  screenshots,
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
  release: () => [process.execPath, [join(root, 'scripts/release.mjs'), ...args]],
  'release-notes': () => [process.execPath, [join(root, 'scripts/release-notes.mjs'), ...args]],
  'supply-chain': () => [process.execPath, [join(root, 'dist/test/supply-chain/main.js'), ...args]],
}

if (!['dev', 'site', 'build'].includes(command) && !Object.hasOwn(COMMANDS, command)) {
  console.error(
    `Unknown command ${command}. Known are: dev, site, build, ${Object.keys(COMMANDS).join(', ')}. For the commands of countersign: npx countersign --help`,
  )
  process.exit(2)
}

const PROGRESS_MS = 30_000
/** The ends of the tools that run now. */
const running = new Set()

/** @param progress what is said every 30 s, where the tool itself says nothing for minutes */
async function step(title, program, parameters, progress) {
  console.error(`> ${title}`)
  const started = Date.now()
  const child = spawn(program, parameters, {
    cwd: root,
    // The output of the tools goes to stderr: stdout belongs to the requested command.
    stdio: ['ignore', 2, 2],
    shell: windows,
  })
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const timer =
    progress &&
    setInterval(() => console.error(`> Still at it after ${seconds()} s: ${progress()}`), PROGRESS_MS)
  const ended = once(child, 'exit').catch((error) => [error.message])
  running.add(ended)
  const [status] = await ended
  running.delete(ended)
  clearInterval(timer)
  if (status === 0) return
  console.error(`${title} failed.`)
  // A compiler that is left behind would write into the folder that the next try compiles in.
  await Promise.all(running)
  process.exit(Number(status) || 1)
}
const CAPTURE = 'clients/capture'
const HOSTED_PAGE = 'clients/capture/page/build.mjs'
const DASHBOARD = 'src/dashboard/web/vite.config.ts'
const PARENT_POLL_MS = 500

const bin = (name) => join(root, 'node_modules', '.bin', windows ? `${name}.cmd` : name)

if (!isInstalled())
  await step(
    'Installing packages',
    'npm',
    [
      // Install scripts of packages never run, with any version of npm: two of them download files that no lockfile has a checksum for.
      ...['ci', '--no-audit', '--no-fund'],
      // The version of Node was checked above; npm's own warnings about versions would hide what matters.
      '--loglevel=error',
    ],
    () => `${installedCount()} packages are unpacked`,
  )
// SQLite is one file for its compiler, which keeps one core busy for a minute; the build takes the others meanwhile.
await Promise.all([compileNativeParts(), build()])
recordCommit()

async function compileNativeParts() {
  if (!areNativePartsReady())
    await step('Compiling the native parts (a minute or two)', 'npm', ['run', '--silent', 'install'])
}

async function build() {
  const isAsked = command === 'build'
  if (isAsked || !isBuilt()) {
    const started = Date.now()
    await step('Building', bin('tsc'), ['-p', 'tsconfig.json'])
    await step('Bundling a library', process.execPath, ['scripts/bundle-typebox.mjs'])
    await step('Building the capture component', bin('tsc'), ['-p', CAPTURE])
    await step('Building the hosted page', process.execPath, [HOSTED_PAGE])
    await step('Building the dashboard', bin('vite'), ['build', '--config', DASHBOARD, '--logLevel', 'warn'])
    // npx sets this bit when it first meets a folder and never again, so another build would lose it.
    chmodSync(join(root, 'dist/src/cli/main.js'), 0o755)
    recordBuild(started)
  }
  if (isAsked || (needsSite() && !isSiteBuilt())) {
    const started = Date.now()
    await step('Building the documentation', bin('vitepress'), ['build', 'docs', '--logLevel', 'warn'])
    recordSite(started)
  }
}

/** A run of only some tests starts without it: the site takes ten seconds, and few tests read it. */
function needsSite() {
  return (
    ['serve', 'dev', 'site', 'pages', 'release'].includes(command) ||
    (command === 'test' && args.length === 0)
  )
}

/** Runs the whole gate without arguments, or the named tests only. */
async function test() {
  if (args.length === 0) {
    await step('Linting', bin('biome'), ['check', '.'])
    await step('Type-checking the tests', bin('tsc'), ['-p', join(root, 'test', 'tsconfig.json')])
    await step('Type-checking the dashboard', bin('tsc'), ['-p', join(root, 'src', 'dashboard', 'web')])
    await step('Type-checking the documentation site', bin('tsc'), ['-p', join(root, 'docs', '.vitepress')])
    return [bin('vitest'), ['run', '--project', 'rules']]
  }
  return [bin('vitest'), ['run', ...args]]
}

/** Writes the generated documents, by the tests that compare them. */
function docs() {
  process.env.UPDATE_DOCS = '1'
  const makers = [
    ...['docs', 'openapi', 'postman', 'client/vectors', 'client/guides', 'client/sdk-reference'],
    ...['client/typed-actions', 'docs-drawings', 'features/evidence/evidence-document'],
    ...['bench/figures', 'ledger/ledger', 'ceilings', 'witnesses/witnesses'],
  ]
  const files = makers.map((name) => `test/${name}.test.ts`)
  // One after the other: some pages have parts of two makers.
  return [bin('vitest'), ['run', '--project', 'rules', '--no-file-parallelism', ...files]]
}

/** Takes the pictures of pages in docs/images, by the test that tries whether they can be taken. */
function screenshots() {
  process.env.UPDATE_DOCS = '1'
  return [bin('vitest'), ['run', '--project', 'pages', 'test/screenshots.browser.test.ts', ...args]]
}

if (command === 'dev') dev()
// Both are built by now.
else if (!['site', 'build'].includes(command)) forward(...(await COMMANDS[command]()))

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
