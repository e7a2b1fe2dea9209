/** Checks whether the native addons load on this machine, without risk to the calling process. */
import { type ExecFileException, execFile } from 'node:child_process'
import { packageFile } from '../../lib/package-root.js'

export interface Addon {
  name: string
  /** Statement that makes the addon work: some load their binary only at the first use. */
  trial: string
}

export const NEEDED_ADDONS: readonly Addon[] = [
  { name: 'onnxruntime-node', trial: "await import('onnxruntime-node')" },
  { name: 'sharp', trial: "await import('sharp')" },
  {
    name: 'better-sqlite3',
    trial: "new (await import('better-sqlite3')).default(':memory:').close()",
  },
]
export const HTTP_ADDON: Addon = { name: 'uWebSockets.js', trial: "await import('uWebSockets.js')" }

const TRIAL_TIMEOUT_MS = 30_000

/**
 * Loads the addons in another process, since a binary made for another machine may crash the process that loads it. When it crashes,
 * each addon is tried in a process of its own.
 * @returns the error message of each addon that does not load, by its name
 */
export async function tryAddons(addons: readonly Addon[]): Promise<Map<string, string>> {
  const trials = addons.map(
    ({ name, trial }) =>
      `try { ${trial} } catch (error) { failures['${name}'] = String(error?.message || error) }`,
  )
  const code = `const failures = {}; ${trials.join('; ')}; console.log(JSON.stringify(failures))`
  const parameters = ['--input-type=module', '--eval', code]
  const options = { cwd: packageFile(), timeout: TRIAL_TIMEOUT_MS }
  const { error, stdout } = await new Promise<{ error: ExecFileException | null; stdout: string }>(
    (resolve) =>
      execFile(process.execPath, parameters, options, (error, stdout) => resolve({ error, stdout })),
  )
  if (error && addons.length > 1) {
    const alone = await Promise.all(addons.map((addon) => tryAddons([addon])))
    return new Map(alone.flatMap((failures) => [...failures]))
  }
  if (error)
    return new Map([[addons[0]!.name, `ends the process that loads it (${error.signal ?? error.code})`]])
  // Libraries may print lines before ours.
  const failures: Record<string, string> = JSON.parse(stdout.trim().split('\n').at(-1)!)
  return new Map(Object.entries(failures))
}
