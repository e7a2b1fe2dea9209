/**
 * Runs every part of the gate one after the other, and prints as the last line the sum of their passed and failed tests. `.ci/run` ends
 * with it. A part that fails or counts no test is a failure, so that tests cannot vanish.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const RUNS = [
  'npm test',
  'npm run test:postgres',
  'npm run test:pages',
  'npm run test:films',
  'npm run test:campaigns',
  'npm run test:nodes',
  'node test/support/first-commands.mjs',
]
const TOTALS = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm

/**
 * How vitest, the steps before it and the runs of our own name what failed. A failed test is named with the lines after it, which say why, as
 * far as the place in the test; an error that no test waits for with one line.
 */
const FAILURES =
  /^(?:\s*FAIL\s.*(?:\n(?!\s*(?:FAIL\s|⎯)).*){0,24}|.*: failed\b.*|.*: error TS\d+: .*|[A-Z][a-z -]+ failed\.|failed, because it may not be skipped.*|.*Unhandled (?:Error|Rejection)\b.*\n.*)$/gm

const sum = { passed: 0, failed: 0, skipped: 0 }
/** Said again at the end, so that the last lines of a long log tell what to look at. */
const failures = new Set()
for (const command of RUNS) {
  console.log(`\n$ ${command}`)
  const { status, counted, named } = await run(command)
  if (status !== 0) for (const name of named) failures.add(`${command}: ${name}`)
  sum.passed += counted?.passed ?? 0
  sum.skipped += counted?.skipped ?? 0
  sum.failed += counted?.failed ?? 0
  if (!counted) failures.add(`${command} counted no tests.`)
  else if (status !== 0 && counted.failed === 0)
    failures.add(`${command} ended with ${status}, although none of its tests failed.`)
  if (!counted || (status !== 0 && counted.failed === 0)) sum.failed++
}
if (failures.size > 0) console.log(`\nWhat failed:\n${[...failures].join('\n')}`)
process.exitCode = sum.failed === 0 ? 0 : 1
console.log(
  `\n${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ''}`,
)

async function run(command) {
  const child = spawn(command, {
    shell: true,
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    // A test that is skipped here must be one of those that may be.
    env: { ...process.env, COUNTERSIGN_TEST_GATE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  // vitest names what failed on its standard error.
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => {
      process[name].write(text)
      output += text
    })
  const status = await new Promise((resolve) => child.once('close', resolve))
  const plain = stripVTControlCharacters(output)
  const named = [...plain.matchAll(FAILURES)].map(([lines]) => lines.trim())
  const last = [...plain.matchAll(TOTALS)].at(-1)
  if (!last) return { status, counted: null, named }
  const [passed, failed, skipped] = last.slice(1).map((count) => Number(count ?? 0))
  return { status, counted: { passed, failed, skipped }, named }
}
