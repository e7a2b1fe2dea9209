/** `npm run test:nodes`: the checks on other versions of Node, each in a copy of the checkout; prints the totals last. */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'
import { checksOf, type Place } from './checks.js'
import { fetchNode } from './node-release.js'

/** Default versions: the lines with long-term support on which the gate does not run the suite. */
const MAJORS = [24, 26]
/** Files that a fresh clone does not have. */
const LEFT_OUT = ['node_modules', '.git', 'data', join('native', 'build')]

const totals = { passed: 0, failed: 0, skipped: 0 }
const majors = process.argv.slice(2).map(Number)
// Side by side: installing waits for the network, and compiling SQLite keeps one core busy.
await Promise.all(
  (majors.length > 0 ? majors : MAJORS).map(async (major, i) => {
    const folder = await mkdtemp(join(tmpdir(), `countersign-node-${major}-`))
    try {
      // The build is the same for every version of Node: the first one makes it.
      await tryNode(major, folder, i === 0 ? ['dist'] : [])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }),
)
if (totals.failed > 0) process.exitCode = 1
const { passed, failed, skipped } = totals
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)

async function tryNode(major: number, folder: string, unbuilt: string[]): Promise<void> {
  const node = fetchNode(major, folder)
  const place: Place = {
    checkout: join(folder, 'checkout'),
    dataDir: join(folder, 'data'),
    bin: 'bin' in node ? node.bin : '',
  }
  const checks = checksOf(place)
  if ('reason' in node) {
    console.log(`Node ${major}: skipped, because it cannot be had here: ${node.reason}`)
    totals.skipped += checks.length
    return
  }
  await mkdir(place.dataDir, { mode: 0o700 })
  await cp(packageFile(), place.checkout, {
    recursive: true,
    filter: (path) => {
      const inside = relative(packageFile(), path)
      const isInstalled = basename(inside) === 'node_modules' && dirname(inside) !== 'dist'
      return ![...LEFT_OUT, ...unbuilt].includes(inside) && !isInstalled
    },
  })
  for (const { title, run } of checks) {
    try {
      await run()
      totals.passed++
      console.log(`Node ${major}: passed: ${title}`)
    } catch (error) {
      totals.failed++
      console.log(`Node ${major}: FAILED: ${title}: ${(error as Error).message}`)
    }
  }
}
