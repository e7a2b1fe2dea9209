/**
 * Writes dist/build.json, which names what the build was made from: the commit in BUILD_COMMIT, for a build without a checkout;
 * else that of the checkout, with "-dirty" where files differ from it; else "unknown".
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const FILE = join(ROOT, 'dist', 'build.json')

export function recordCommit() {
  const text = `${JSON.stringify({ commit: commit() })}\n`
  mkdirSync(dirname(FILE), { recursive: true })
  if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) writeFileSync(FILE, text)
}

function commit() {
  const { BUILD_COMMIT: given } = process.env
  if (given && /^[0-9a-f]{7,40}$/.test(given)) return given.slice(0, 12)
  // A package inside another checkout must not name the commit of that one.
  if (!existsSync(join(ROOT, '.git'))) return 'unknown'
  const { status, stdout } = spawnSync(
    'git',
    ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
  return status === 0 ? stdout.trim() : 'unknown'
}

if (process.argv[1] === fileURLToPath(import.meta.url)) recordCommit()
