/**
 * Loaded before every file of tests. `countersign doctor` loads the native parts in a process of its own, which takes a quarter of a
 * second of a core; where a command runs in the tests' own process, parts that have loaded once load again.
 */
import child from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'

type ExecFile = (file: string, parameters: string[], ...rest: unknown[]) => unknown
type Callback = (error: null, stdout: string, stderr: string) => void

/** How the code of a trial begins (`addon-trial.ts`). */
const TRIAL = 'const failures = {}'
/** The output of a trial in which every part loads. */
const ALL_LOAD = '{}'

/** All files of a worker share which trials went well. */
const shared = globalThis as typeof globalThis & { trialsWithoutFailure?: Set<string> }

if (!shared.trialsWithoutFailure) {
  const wentWell = new Set<string>()
  shared.trialsWithoutFailure = wentWell
  const run = child.execFile as ExecFile
  const remembering: ExecFile = (file, parameters, ...rest) => {
    const code = Array.isArray(parameters) ? parameters.at(-1) : undefined
    const callback = rest.at(-1) as Callback
    if (!code?.startsWith(TRIAL)) return run(file, parameters, ...rest)
    if (wentWell.has(code)) return setImmediate(callback, null, ALL_LOAD, '')
    const remember: Callback = (error, stdout, stderr) => {
      if (!error && stdout.trim() === ALL_LOAD) wentWell.add(code)
      callback(error, stdout, stderr)
    }
    return run(file, parameters, ...rest.slice(0, -1), remember)
  }
  // `promisify(execFile)` has a form of its own.
  Object.assign(remembering, { [promisify.custom]: (run as never)[promisify.custom] })
  Object.assign(child, { execFile: remembering })
  syncBuiltinESMExports()
}
