/**
 * Runs campaigns as the first command of somebody who has just cloned the repository, in a separate clone. Packages and native parts
 * are those of this checkout, whose first command has installed them; what is compiled from the sources is built once. Everything else
 * is removed before each command, so that no command can rely on files that another one has made. Ends with "N passed, N failed".
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Small sizes: whether a command works at all is asked here, the campaigns of the suite ask for more. */
const COMMANDS = [
  'npm run test:faults -- --kills 2',
  'npm run test:hostile -- --inputs 200',
  'npm run test:liveness -- --photos 2 --rounds 3',
]
/** Files of `dist` that are compiled from the sources; the others are made by commands. */
const BUILT = ['src', 'clients', 'models', 'tools', 'test', 'bench', 'node_modules', '.built', 'build.json']
/** A command that takes longer stands still. */
const LONGEST_MS = 15 * 60_000

const repository = fileURLToPath(new URL('../..', import.meta.url))
// The folder has a folder of its own around it: `../shared` of the clone is nobody's.
const place = mkdtempSync(join(tmpdir(), 'countersign-clone-'))
const clone = join(place, 'countersign')
const sum = { passed: 0, failed: 0 }
try {
  call('git', ['clone', '--quiet', repository, clone], place)
  // Without its times: what is copied now is newer than the clone.
  for (const folder of ['node_modules', 'native/build'])
    call('cp', ['-r', join(repository, folder), join(clone, folder)], place)
  for (const command of COMMANDS) {
    call('git', ['clean', '-fdxq', '-e', 'node_modules', '-e', 'native/build', '-e', '/dist'], clone)
    rmSync(join(clone, 'node_modules', '.cache'), { recursive: true, force: true })
    const dist = join(clone, 'dist')
    for (const name of existsSync(dist) ? readdirSync(dist) : [])
      if (!BUILT.includes(name)) rmSync(join(dist, name), { recursive: true })
    console.log(`\nAs the first command of a clone: ${command}`)
    const status = await run(command)
    if (status !== 0) console.log(`${command} ended with ${status}.`)
    sum[status === 0 ? 'passed' : 'failed']++
  }
} finally {
  rmSync(place, { recursive: true, force: true })
}
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed === 0 ? 0 : 1

function call(program, parameters, cwd) {
  const { status } = spawnSync(program, parameters, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${program} ${parameters[0]} ended with ${status}`)
}

/** @returns the exit code, or the signal that ended it */
function run(command) {
  const settings = Object.entries(process.env).filter(([name]) => !/^(?:COUNTERSIGN|npm)_/.test(name))
  const child = spawn(command, {
    shell: true,
    cwd: clone,
    env: Object.fromEntries(settings),
    stdio: ['ignore', 'inherit', 'inherit'],
    // A group of its own, so that everything that it has started ends with it.
    detached: true,
  })
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), LONGEST_MS)
  return new Promise((resolve) =>
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve(code ?? signal)
    }),
  )
}
