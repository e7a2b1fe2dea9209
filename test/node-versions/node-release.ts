/** Other versions of Node from the npm registry: the binary with its headers, started only by its path. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** @returns the folder of `node`, or why there is none */
export function fetchNode(major: number, folder: string): { bin: string } | { reason: string } {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  try {
    execFileSync(
      'npm',
      [
        'install',
        '--prefix',
        folder,
        '--no-save',
        '--ignore-scripts',
        '--loglevel=error',
        `${name}@${major}`,
      ],
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
    )
  } catch (error) {
    return {
      reason: (error as { stderr?: string }).stderr?.trim().split('\n')[0] || (error as Error).message,
    }
  }
  const bin = join(folder, 'node_modules', name, 'bin')
  return existsSync(bin) ? { bin } : { reason: `${name}@${major} holds no ${bin}` }
}
