/** `npm run bench`: selects the suites, runs them one after the other, keeps and prints their results. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { isPostgresUrl } from '../src/config/postgres-url.js'
import { packageFile } from '../src/lib/package-root.js'
import { challenge } from './challenge.js'
import { cli } from './cli.js'
import { cluster } from './cluster.js'
import { floor } from './floor.js'
import { http } from './http.js'
import { latency } from './latency.js'
import { cleanUp, cleanUpOnSignals, isInterrupted } from './lib/clean-up.js'
import { compare, readResult } from './lib/comparison.js'
import { preparePack } from './lib/model-pack.js'
import {
  documentOf,
  type KeptResult,
  keepPartial,
  keepResult,
  type SuiteResult,
  showResult,
} from './lib/report.js'
import { peers } from './peers.js'
import { scaling } from './scaling.js'
import { soak } from './soak.js'
import { stages } from './stages.js'
import type { Suite } from './suite.js'
import { timeline } from './timeline.js'

const SUITES: readonly Suite[] = [
  stages,
  latency,
  timeline,
  floor,
  http,
  challenge,
  scaling,
  cli,
  peers,
  soak,
  cluster,
]
/**
 * Suites that run only when named: one installs some 700 MB of packages first, one takes an hour, one needs
 * PostgreSQL.
 */
const ON_DEMAND: readonly Suite[] = [peers, soak, cluster]

interface Options {
  seconds?: number
  pack?: string
  cpuProf?: string
  references: number
  minutes: number
  rate?: number
  tenants: number
  engineMs: number
  database?: string
  json?: boolean
  out?: string
  update?: boolean
  compare?: KeptResult
}

function parseSuite(text: string): Suite {
  const suite = SUITES.find(({ name }) => name === text)
  if (!suite) throw new InvalidArgumentError(`Expected one of ${SUITES.map(({ name }) => name).join(', ')}.`)
  return suite
}

function parseReferences(text: string): number {
  const references = Number(text)
  if (!(Number.isInteger(references) && references >= 1000 && references <= 10_000_000))
    throw new InvalidArgumentError('Expected 1000 to 10000000.')
  return references
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (!(minutes > 0 && minutes <= 1440)) throw new InvalidArgumentError('Expected more than 0, at most 1440.')
  return minutes
}

function parseRate(text: string): number {
  const rate = Number(text)
  if (!(rate > 0 && rate <= 1000)) throw new InvalidArgumentError('Expected more than 0, at most 1000.')
  return rate
}

function parseTenants(text: string): number {
  const tenants = Number(text)
  if (!(Number.isInteger(tenants) && tenants >= 1 && tenants <= 5000))
    throw new InvalidArgumentError('Expected 1 to 5000.')
  return tenants
}

function parseEngineMs(text: string): number {
  const engineMs = Number(text)
  if (!(engineMs > 0 && engineMs <= 1000))
    throw new InvalidArgumentError('Expected more than 0, at most 1000.')
  return engineMs
}

function parseDatabase(text: string): string {
  if (!isPostgresUrl(text)) throw new InvalidArgumentError('Expected postgres://<user>@<host>/<database>.')
  return text
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 1 && seconds <= 3600)) throw new InvalidArgumentError('Expected 1 to 3600.')
  return seconds
}

function parseResult(file: string): KeptResult {
  try {
    return readResult(file)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** Folder for the results, or undefined. */
function folderOf({ out, update }: Options): string | undefined {
  return update ? packageFile('bench', 'results') : out
}

/** Compares the result with an earlier one and keeps it, where that was requested. */
function finish(result: SuiteResult, options: Options): void {
  const { compare: before } = options
  if (before?.suite === result.suite) {
    const { table, notes } = compare(before, documentOf(result))
    result.tables.push(table)
    result.notes.push(...notes)
  }
  const folder = folderOf(options)
  if (folder) keepResult(result, documentOf(result), folder)
}

const EXIT = { failed: 1, usage: 2 } as const

new Command('npm run bench --')
  .description('Measures Countersign on this machine.')
  .argument('[suite]', 'the one to run; all of them by default', parseSuite)
  .option('--seconds <n>', 'measuring time of each suite, without starting and warming up', parseSeconds)
  .option('--pack <folder>', 'model pack to measure with; default: the baseline pack')
  .option('--references <n>', 'scaling: the most references to try', parseReferences, 100_000)
  .option('--minutes <n>', 'soak: how long', parseMinutes, 60)
  .option('--rate <n>', 'soak: calls a second; default: 70 % of what the machine can do', parseRate)
  .option('--tenants <n>', 'cluster: number of tenants', parseTenants, 64)
  .option('--engine-ms <n>', 'cluster: what a picture takes of an engine worker', parseEngineMs, 5)
  .option('--database <url>', 'cluster: an empty PostgreSQL database; default: one of its own', parseDatabase)
  .option('--cpu-prof <folder>', "write V8 CPU profiles of the service's threads there (slows it down)")
  .addOption(
    new Option('--out <folder>', 'keep the results there: JSON, Markdown and a picture').conflicts('update'),
  )
  .option('--update', 'replace the committed results in bench/results')
  .option(
    '--compare <file>',
    'compare the figures with those of an earlier run (path of its .json)',
    parseResult,
  )
  .option('--json', 'only JSON on stdout, a line a suite; everything else goes to stderr')
  .addHelpText(
    'after',
    [
      '\nSuites:',
      ...SUITES.map(
        ({ name, description, defaultSeconds }) => `  ${name.padEnd(9)} ${description} (${defaultSeconds} s)`,
      ),
      '\nWithout a suite all but peers, soak and cluster run: one installs some 700 MB of packages first, one takes an hour, one wants a PostgreSQL.',
      '\nResults are shown, and kept with --out or --update. docs/benchmarks.md says how to read them.',
      'Exit codes: 0 done, 1 a limit of the specification was missed or a run failed, 2 wrong usage.',
    ].join('\n'),
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.usage))
  .action(async (suite: Suite | undefined, options: Options, command: Command) => {
    if (suite && options.compare && options.compare.suite !== suite.name)
      command.error(`error: --compare names a result of ${options.compare.suite}, not of ${suite.name}`)
    cleanUpOnSignals()
    try {
      const pack = await preparePack(options.pack)
      const folder = folderOf(options)
      for (const { name, run, defaultSeconds } of suite
        ? [suite]
        : SUITES.filter((each) => !ON_DEMAND.includes(each))) {
        const result = await run({
          pack,
          seconds: options.seconds ?? defaultSeconds,
          cpuProfileDir: options.cpuProf,
          references: options.references,
          soakMinutes: options.minutes,
          soakRate: options.rate,
          tenants: options.tenants,
          engineMs: options.engineMs,
          database: options.database,
          keepPartial: (details) => folder && keepPartial(name, details, folder),
        })
        finish(result, options)
        showResult(result, options.json ?? false)
        if (result.failures.length > 0) process.exitCode = EXIT.failed
      }
    } catch (error) {
      if (isInterrupted()) return
      process.exitCode = EXIT.failed
      process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`)
    } finally {
      if (!isInterrupted()) await cleanUp()
    }
  })
  .parseAsync()
