/** `npm run test:fuzz`: so many inputs for each target; progress and crashes on stderr, the result as the last line of stdout. */
import { Command, InvalidArgumentError } from 'commander'
import { packageFile } from '../../src/lib/package-root.js'
import { keepCrash, readInputs } from './corpus.js'
import { Coverage } from './coverage.js'
import { fuzz } from './fuzzer.js'

const PROGRESS_EVERY = 25_600

function parseCount(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError('Expected a whole number above 0.')
  return count
}

const { runs, seed, target } = new Command('npm run test:fuzz --')
  .option('--runs <n>', 'inputs of all targets together', parseCount, 100_000)
  .option('--seed <n>', 'the same seed gives the same inputs', Number, 1)
  .option('--target <name>', 'one alone')
  .parse()
  .opts<{ runs: number; seed: number; target?: string }>()

const coverage = Coverage.start([
  packageFile('dist', 'src'),
  packageFile('dist', 'models'),
  packageFile('dist', 'tools'),
])
// Not before: what is compiled by then is counted by whole functions.
const { TARGETS } = await import('./targets.js')
const chosen = TARGETS.filter(({ name }) => target === undefined || name === target)
if (chosen.length === 0)
  throw new TypeError(`--target is one of ${TARGETS.map(({ name }) => name).join(', ')}`)

let inputs = 0
let crashes = 0
const targets: Record<string, object> = {}
for (const one of chosen) {
  const before = coverage.size
  const startedMs = performance.now()
  const result = fuzz(one, {
    seeds: [...readInputs('corpus', one.name), ...readInputs('crashes', one.name)],
    runs: Math.ceil(runs / chosen.length),
    seed,
    coverage,
    progress: (done) => done % PROGRESS_EVERY === 0 && process.stderr.write(`${one.name}: ${done}\n`),
  })
  for (const { input, error } of result.crashes)
    process.stderr.write(`${one.name}: ${error.stack}\n  kept in ${keepCrash(one.name, input)}\n`)
  inputs += result.inputs
  crashes += result.crashes.length
  targets[one.name] = {
    inputs: result.inputs,
    crashes: result.crashes.length,
    corpus: result.corpus,
    covered_characters: coverage.size - before,
    slowest_ms: Math.round(result.slowest_ms * 10) / 10,
    per_second: Math.round((result.inputs / (performance.now() - startedMs)) * 1000),
  }
}
coverage.stop()
console.log(JSON.stringify({ seed, targets }))
console.log(JSON.stringify({ inputs, crashes }))
if (crashes > 0) process.exitCode = 1
