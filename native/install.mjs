/**
 * Builds the native kernels at install. Never fails the install: without a compiler the TypeScript twins serve, and
 * `countersign doctor` says what that costs.
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const windows = process.platform === 'win32'
// npm puts its own node-gyp on the path of install scripts.
const { status, error } = spawnSync('node-gyp', ['rebuild', '--silent'], {
  cwd: dirname(fileURLToPath(import.meta.url)),
  stdio: ['ignore', 'ignore', 'pipe'],
  shell: windows,
})
if (error || status !== 0)
  console.error(
    'countersign: the native kernels could not be built; their TypeScript twins will serve. See `countersign doctor`.',
  )
