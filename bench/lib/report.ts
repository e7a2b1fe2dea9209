/**
 * Keeps and shows a suite's result: JSON with everything that explains it, Markdown, a picture, one line for
 * programs.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { table } from '../../src/cli/lib/style.js'
import { packageFile } from '../../src/lib/package-root.js'
import { type MeasuredCode, measuredCodeOf } from './measured-code.js'
import { MAX_OTHER_CORES } from './other-programs.js'
import { type BarChart, drawCharts } from './svg.js'

export interface ResultTable {
  title: string
  /** The first row is the heading. */
  rows: string[][]
}

export interface SuiteResult {
  suite: string
  /** `id@version` of the model pack. */
  model: string
  /** Measuring time asked for, in seconds. */
  seconds: number
  /** The one line for programs, without `suite`. Keys carry their unit. */
  summary: Record<string, unknown>
  tables: ResultTable[]
  /** Bar charts from top to bottom. */
  charts?: BarChart[]
  /** A whole SVG instead of charts. */
  picture?: string
  /** Facts that a reader needs to interpret the figures. */
  notes: string[]
  /** Details that only the JSON file holds: single rounds, sample counts. */
  details: Record<string, unknown>
  /** Limits of the specification that were missed; any of them makes the run fail. */
  failures: string[]
}

/** Dependencies whose version may change a figure. */
const PACKAGES = [
  'onnxruntime-node',
  'sharp',
  'piscina',
  'uWebSockets.js',
  'better-sqlite3',
  'jose',
  'typebox',
  'pino',
  '@vladmandic/face-api',
  'tinybench',
]

/** Load average of the minute before the run; what built the benchmarks is in it. */
const loadAverageAtStart = loadavg()[0]!

/** Facts of a run that its suite does not know. */
export interface RunFacts {
  /** Folders of the measured code. */
  measures: readonly string[]
  /** Cores that other programs used meanwhile, on average; null where the system does not report it. */
  otherProgramsCores: number | null
}

function machine(otherProgramsCores: number | null) {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load_average_at_start: loadAverageAtStart,
    load_average_at_end: loadavg()[0]!,
    other_programs_cores: otherProgramsCores,
    os: `${type()} ${release()} ${process.arch}`,
  }
}

function packageVersions(): Record<string, string> {
  const version = (name: string) =>
    (
      JSON.parse(readFileSync(packageFile('node_modules', name, 'package.json'), 'utf8')) as {
        version: string
      }
    ).version
  return Object.fromEntries(PACKAGES.map((name) => [name, version(name)]))
}

/** The commit, and whether files differ from it; null outside a checkout. */
function gitState(): { commit: string; modified: boolean } | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: packageFile('.'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    // The results themselves change with every run and do not affect the measurement.
    const changes = git('status', '--porcelain', '--', '.', ':!bench/results')
    return { commit: git('rev-parse', 'HEAD'), modified: changes !== '' }
  } catch {
    return null
  }
}

/** Content of a run's JSON file. */
export interface KeptResult extends Omit<SuiteResult, 'tables' | 'charts'> {
  measured_at: string
  command: string
  machine: ReturnType<typeof machine>
  packages: Record<string, string>
  git: ReturnType<typeof gitState>
  measured_code: MeasuredCode
}

/** The result with the facts that explain it. */
export function documentOf(result: SuiteResult, run: RunFacts): KeptResult {
  const { suite, model, seconds, summary, notes, details, failures } = result
  return {
    suite,
    measured_at: new Date().toISOString(),
    command: `npm run bench -- ${process.argv.slice(2).join(' ') || suite}`,
    seconds,
    model,
    machine: machine(run.otherProgramsCores),
    packages: packageVersions(),
    git: gitState(),
    measured_code: measuredCodeOf(run.measures),
    summary,
    notes,
    details,
    failures,
  }
}

/**
 * Writes `<suite>.json`, `.md` and, if there are charts, `.svg` into a folder, which is created if needed; replaces a
 * partial result.
 */
export function keepResult(result: SuiteResult, document: KeptResult, folder: string): void {
  const { suite, model, seconds, tables, charts, notes, failures } = result
  const picture = charts ? drawCharts(suite, charts) : result.picture
  const write = (extension: string, text: string) => writeInto(folder, `${suite}.${extension}`, text)
  write('json', `${JSON.stringify(document, null, 2)}\n`)
  const { cpu, cores, node, os } = document.machine
  const commit = document.git
    ? `commit ${document.git.commit.slice(0, 12)}${document.git.modified ? ' with changes' : ''}`
    : 'no commit'
  if (picture) write('svg', picture)
  write(
    'md',
    [
      `# ${suite}`,
      '',
      `${document.measured_at}, \`${document.command}\`, ${seconds} s, ${model}, ${cpu}, ${cores} cores, ${node}, ${os}, ${loadOf(document)}, ${commit}.`,
      ...(picture ? ['', `![${suite}](${suite}.svg)`] : []),
      ...tables.flatMap(({ title, rows }) => ['', `## ${title}`, '', ...markdownRows(rows)]),
      '',
      ...notes.map((note) => `- ${note}`),
      ...failures.map((failure) => `- **Missed:** ${failure}`),
      '',
    ].join('\n'),
  )
  rmSync(join(folder, partialName(suite)), { force: true })
}

/** Returns whether other programs left the machine to the run. */
export function isQuiet({ machine }: Pick<KeptResult, 'machine'>): boolean {
  return machine.other_programs_cores !== null && machine.other_programs_cores <= MAX_OTHER_CORES
}

/** Says how busy the machine was, and marks the result of a busy one. */
export function loadOf({ machine }: Pick<KeptResult, 'machine'>): string {
  const { load_average_at_start: before, load_average_at_end: after, other_programs_cores: others } = machine
  const used = others === null ? 'unknown' : `${others.toFixed(2)} cores`
  const mark = isQuiet({ machine }) ? '' : ' (not a quiet machine: provisional)'
  return `load average ${before.toFixed(1)} before and ${after.toFixed(1)} after, other programs ${used}${mark}`
}

/** Writes raw figures of a run under way, only as JSON: drawing them would take time from the measurement. */
export function keepPartial(suite: string, details: Record<string, unknown>, folder: string): void {
  writeInto(folder, partialName(suite), `${JSON.stringify(details)}\n`)
}

function partialName(suite: string): string {
  return `${suite}.partial.json`
}

function writeInto(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  // Files are renamed into place: an interrupted run leaves the last whole result.
  writeFileSync(`${file}.tmp`, text)
  renameSync(`${file}.tmp`, file)
}

function markdownRows([heading, ...rows]: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const rule = heading!.map((_, column) => (column === 0 ? '---' : '---:'))
  return [line(heading!), line(rule), ...rows.map(line)]
}

/**
 * Prints tables and notes to stdout, or to stderr if stdout is for programs; the summary is the last line on stdout.
 */
export function showResult({ suite, summary, tables, notes, failures }: SuiteResult, json: boolean): void {
  const people = json ? process.stderr : process.stdout
  for (const { title, rows } of tables) people.write(`\n${title}\n\n${table(rows)}\n`)
  people.write(`\n${notes.join('\n')}\n\n`)
  for (const failure of failures) process.stderr.write(`MISSED: ${failure}\n`)
  process.stdout.write(`${JSON.stringify({ suite, ...summary })}\n`)
}
