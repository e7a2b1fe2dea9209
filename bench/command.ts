/** The command `npm run bench`: selects the suites, runs them one after the other, keeps and prints their results. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { isPostgres } from '../src/config/database-address.js'
import { packageFile } from '../src/lib/package-root.js'
import { challenge } from './challenge.js'
import { cli } from './cli.js'
import { cluster } from './cluster.js'
import { floor } from './floor.js'
import { http } from './http.js'
import { lane } from './lane.js'
import { latency } from './latency.js'
import { ledger } from './ledger.js'
import { cleanUp, cleanUpOnSignals, isInterrupted } from './lib/clean-up.js'
import { compare, readResult } from './lib/comparison.js'
import { preparePack } from './lib/model-pack.js'
import { lookAtOtherPrograms, MAX_OTHER_CORES, OtherPrograms } from './lib/other-programs.js'
import {
  documentOf,
  type KeptResult,
  keepPartial,
  keepResult,
  type RunFacts,
  type SuiteResult,
  showResult,
} from './lib/report.js'
import { packs } from './packs.js'
import { peers } from './peers.js'
import { scaling } from './scaling.js'
import { shadow } from './shadow.js'
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
  lane,
  ledger,
  soak,
  cluster,
  packs,
  shadow,
]
/**
 * Suites that run only when named: one installs some 700 MB of packages first, one is for machines with an
 * accelerator, one counts operations, one takes an hour, one needs PostgreSQL, one builds a second pack, and one
 * compares a service with itself.
 */
const ON_DEMAND: readonly Suite[] = [peers, lane, ledger, soak, cluster, packs, shadow]
/**
 * Takes every result again that the documents show. The other suites take an accelerator, an hour, a machine of many
 * cores, or a second pack, or show a ratio that few read.
 */
const ALL = 'all'
const SHOWN: readonly Suite[] = SUITES.filter((suite) => suite === peers || !ON_DEMAND.includes(suite))

/** Names of suites in a sentence. */
function listOf(suites: readonly Suite[]): string {
  return suites.map(({ name }) => name).join(', ')
}

interface Options {
  seconds?: number
  pack?: string
  cpuProf?: string
  references: number
  minutes: number
  rate?: number
  tenants: number
  engineMs: number
  provider?: string
  database?: string
  json?: boolean
  out?: string
  update?: boolean
  busy?: boolean
  compare?: KeptResult
}

function parseSuite(text: string): Suite | typeof ALL {
  if (text === ALL) return ALL
  const suite = SUITES.find(({ name }) => name === text)
  if (!suite) throw new InvalidArgumentError(`Expected ${ALL} or one of ${listOf(SUITES)}.`)
  return suite
}

/** @returns a parser of whole numbers from `least` to `most` */
const whole = (least: number, most: number) =>
  parserOf((value) => Number.isInteger(value) && value >= least && value <= most, `${least} to ${most}`)

/** @returns a parser of positive numbers up to `most` */
const positive = (most: number) =>
  parserOf((value) => value > 0 && value <= most, `more than 0, at most ${most}`)

const parseSeconds = parserOf((value) => value >= 1 && value <= 3600, '1 to 3600')

function parserOf(isAllowed: (value: number) => boolean, allowed: string): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!isAllowed(value)) throw new InvalidArgumentError(`Expected ${allowed}.`)
    return value
  }
}

function parseDatabase(text: string): string {
  if (!isPostgres({ database: text }))
    throw new InvalidArgumentError('Expected postgres://<user>@<host>/<database>.')
  return text
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
function finish(result: SuiteResult, run: RunFacts, options: Options): void {
  const { compare: before } = options
  if (before?.suite === result.suite) {
    const { table, notes } = compare(before, documentOf(result, run))
    result.tables.push(table)
    result.notes.push(...notes)
  }
  const folder = folderOf(options)
  if (folder) keepResult(result, documentOf(result, run), folder)
}

function suitesOf(suite: Suite | typeof ALL | undefined): readonly Suite[] {
  if (suite === ALL) return SHOWN
  return suite ? [suite] : SUITES.filter((each) => !ON_DEMAND.includes(each))
}

/** @returns why the machine is too busy to measure on; null if it is quiet */
async function busyMachine(): Promise<string | null> {
  const cores = await lookAtOtherPrograms()
  if (cores === null || cores <= MAX_OTHER_CORES) return null
  return `Other programs use ${cores} cores of this machine; at most ${MAX_OTHER_CORES} is quiet enough. Stop them, or measure all the same with --busy, which marks every result as provisional.`
}

/** The exit code where a limit of the specification was missed or a run failed. */
const FAILED = 1

/** The command line; on wrong usage it throws commander's error, before anything is measured. */
export const benchCommand = new Command('npm run bench --')
  .description('Measures Countersign on this machine.')
  .argument('[suite]', `the one to run, or ${ALL} for every result that the documents show`, parseSuite)
  .option('--seconds <n>', 'measuring time of each suite, without starting and warming up', parseSeconds)
  .option('--pack <folder>', 'model pack to measure with; default: the pack that a new installation serves')
  .option('--references <n>', 'scaling: the most references to try', whole(1000, 10_000_000), 100_000)
  .option('--minutes <n>', 'soak: how long', positive(1440), 60)
  .option('--rate <n>', 'soak: calls a second; default: 70 % of what the machine can do', positive(1000))
  .option('--tenants <n>', 'cluster: number of tenants', whole(1, 5000), 64)
  .option('--engine-ms <n>', 'cluster, ledger: what a picture takes of an engine worker', positive(1000), 5)
  .option('--provider <name>', 'lane: the accelerator, such as cuda; default: the processor in its part')
  .option('--database <url>', 'cluster: an empty PostgreSQL database; default: one of its own', parseDatabase)
  .option('--cpu-prof <folder>', "write V8 CPU profiles of the service's threads there (slows it down)")
  .addOption(
    new Option('--out <folder>', 'keep the results there: JSON, Markdown and a picture').conflicts('update'),
  )
  .option('--update', 'replace the committed results in bench/results')
  .option('--busy', 'all: measure although other programs use the machine, and mark the results')
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
      `\nWithout a suite all but ${listOf(ON_DEMAND)} run.`,
      `${ALL} runs all but ${listOf(SUITES.filter((suite) => !SHOWN.includes(suite)))} and replaces bench/results: some 13 minutes, on a quiet machine. Then \`npm run docs\` writes the figures into the documents.`,
      '\nResults are shown, and kept with --out or --update. docs/benchmarks.md says how to read them.',
      'Exit codes: 0 done, 1 a limit of the specification was missed or a run failed, 2 wrong usage.',
    ].join('\n'),
  )
  .exitOverride()
  .action(async (suite: Suite | typeof ALL | undefined, given: Options, command: Command) => {
    const options = suite === ALL ? { ...given, update: true } : given
    if (suite === ALL && (given.pack || given.out || given.cpuProf))
      command.error(
        `error: ${ALL} replaces bench/results with figures of the default pack: --pack, --out and --cpu-prof do not go with it`,
      )
    if (suite && suite !== ALL && options.compare && options.compare.suite !== suite.name)
      command.error(`error: --compare names a result of ${options.compare.suite}, not of ${suite.name}`)
    cleanUpOnSignals()
    try {
      const refusal = suite === ALL && !options.busy ? await busyMachine() : null
      if (refusal) {
        process.exitCode = FAILED
        process.stderr.write(`error: ${refusal}\n`)
        return
      }
      const pack = await preparePack(options.pack)
      const folder = folderOf(options)
      for (const { name, run, measures, defaultSeconds } of suitesOf(suite)) {
        const others = new OtherPrograms()
        const result = await run({
          pack,
          seconds: options.seconds ?? defaultSeconds,
          cpuProfileDir: options.cpuProf,
          references: options.references,
          soakMinutes: options.minutes,
          soakRate: options.rate,
          tenants: options.tenants,
          engineMs: options.engineMs,
          provider: options.provider,
          database: options.database,
          keepPartial: (details) => folder && keepPartial(name, details, folder),
        })
        finish(result, { measures, otherProgramsCores: others.cores() }, options)
        showResult(result, options.json ?? false)
        if (result.failures.length > 0) process.exitCode = FAILED
      }
    } catch (error) {
      if (isInterrupted()) return
      process.exitCode = FAILED
      process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`)
    } finally {
      if (!isInterrupted()) await cleanUp()
    }
  })
