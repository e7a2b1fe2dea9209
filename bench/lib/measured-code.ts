/** Says how much of the code that a result was measured on has changed since, without the history of the repository. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

/** Folders of the code that computes on pictures. */
export const ENGINE_ROOMS = ['src/biometrics', 'src/lib', 'models/pack', 'native/src']
/** Folders of the code that serves a request, over SQLite. */
export const SERVICE_ROOMS = [
  ...ENGINE_ROOMS,
  ...[
    'api',
    'audit',
    'crypto',
    'http',
    'idempotency',
    'keys',
    'storage',
    'tenants',
    'users',
    'verification',
  ].map((room) => `src/${room}`),
]

/** The lines of code that were measured, as a sample that any checkout can take again. */
export interface MeasuredCode {
  /** Folders, by path inside the repository. */
  rooms: string[]
  /** Number of different lines of code, of which the sample holds about one in `SAMPLED_OF`. */
  lines: number
  /** Hashes of the sampled lines, separated by spaces. */
  sample: string
}

/** A line is in the sample if its hash begins with five zero bits: all checkouts choose the same lines. */
const SAMPLED_OF = 32
const HASH_DIGITS = 8
/** A comment or an empty line, neither of which changes what is measured. */
const NO_CODE = /^(?:$|\/\/|\/\*|\*(?:\s|\/|$))/

/** @param rooms folders by path inside the repository */
export function measuredCodeOf(rooms: readonly string[]): MeasuredCode {
  const lines = new Set(rooms.flatMap(sourcesIn).flatMap(codeOf))
  const sample = [...lines]
    .map((line) => createHash('sha256').update(line).digest())
    .filter((hash) => hash[0]! < 256 / SAMPLED_OF)
    .map((hash) => hash.toString('hex').slice(0, HASH_DIGITS))
  return { rooms: [...rooms], lines: lines.size, sample: sample.sort().join(' ') }
}

/**
 * Share of the lines then and now, taken together, that stand on one side only: 0 to 1, an estimate within some 0.02.
 * @param everywhere all code of today: a line that has only moved to another folder has not changed
 */
export function changedShare(then: MeasuredCode, now: MeasuredCode, everywhere = now): number {
  const before = new Set(then.sample.split(' '))
  const moved = everywhere.sample.split(' ').filter((hash) => before.has(hash))
  const after = new Set([...now.sample.split(' '), ...moved])
  const all = new Set([...before, ...after])
  return 1 - [...before].filter((hash) => after.has(hash)).length / all.size
}

function sourcesIn(room: string): string[] {
  return readdirSync(packageFile(...room.split('/')), { withFileTypes: true }).flatMap((entry) => {
    const path = `${room}/${entry.name}`
    if (entry.isDirectory()) return sourcesIn(path)
    return /\.(?:ts|cc|h)$/.test(entry.name) ? [path] : []
  })
}

function codeOf(path: string): string[] {
  return readFileSync(packageFile(...path.split('/')), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !NO_CODE.test(line))
}
