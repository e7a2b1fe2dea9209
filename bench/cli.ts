/**
 * The cli suite: duration of short commands (milliseconds of wall time and CPU time) against an empty Node process,
 * in turns.
 */
import { execFileSync } from 'node:child_process'
import { progressSteps } from '../src/cli/lib/progress.js'
import { packageFile } from '../src/lib/package-root.js'
import { median, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

const MAIN = packageFile('dist', 'src', 'cli', 'main.js')
const EMPTY = 'node -e 0'
const CONTENDERS: Record<string, string[]> = {
  [EMPTY]: ['-e', '0'],
  'countersign --version': [MAIN, '--version'],
  'countersign --help': [MAIN, '--help'],
  'countersign tenant --help': [MAIN, 'tenant', '--help'],
  'countersign config show': [MAIN, 'config', 'show'],
}
/** Promise of the command line: a command takes at most this many times an empty Node process. */
const MAX_RATIO = 3
/** Processes per reading: the shell's clock of CPU time ticks every 10 ms. */
const RUNS_PER_READING = 5

interface Reading {
  wallMs: number
  /** User plus system time in milliseconds. */
  cpuMs: number
}

export const cli: Suite = {
  name: 'cli',
  description: 'short commands against an empty Node',
  measures: ['src/cli', 'src/config', 'src/lib'],
  defaultSeconds: 20,
  async run({ pack, seconds }) {
    const names = Object.keys(CONTENDERS)
    const readings = Object.fromEntries(names.map((name) => [name, [] as Reading[]]))
    const progress = progressSteps('cli')
    const startedMs = performance.now()
    const elapsedShare = () => (performance.now() - startedMs) / (seconds * 1000)
    do {
      // The order changes every round.
      names.push(names.shift()!)
      for (const name of names) readings[name]!.push(read(CONTENDERS[name]!))
      progress.update(Math.min(Math.round(elapsedShare() * 100), 100), 100, 'rounds')
    } while (elapsedShare() < 1)
    progress.stop()
    const floor = readings[EMPTY]!
    const rows = Object.keys(CONTENDERS).map((name) => {
      const own = readings[name]!
      const ratio = (of: (reading: Reading) => number) =>
        round(median(own.map((reading, index) => of(reading) / of(floor[index]!))), 2)
      return {
        name,
        wallMs: round(median(own.map(({ wallMs }) => wallMs)), 1),
        cpuMs: round(median(own.map(({ cpuMs }) => cpuMs)), 1),
        wallRatio: ratio(({ wallMs }) => wallMs),
        cpuRatio: ratio(({ cpuMs }) => cpuMs),
      }
    })
    const help = rows.find(({ name }) => name === 'countersign --help')!
    return {
      suite: 'cli',
      model: pack.modelId,
      seconds,
      summary: {
        help_ms: help.wallMs,
        help_cpu_ms: help.cpuMs,
        help_over_empty_wall: help.wallRatio,
        help_over_empty_cpu: help.cpuRatio,
      },
      tables: [
        {
          title: 'One command',
          rows: [
            ['', 'ms', 'CPU ms', 'over empty', 'CPU over empty'],
            ...rows.map(({ name, wallMs, cpuMs, wallRatio, cpuRatio }) =>
              [name, wallMs, cpuMs, wallRatio, cpuRatio].map(String),
            ),
          ],
        },
      ],
      notes: [
        `Figures are medians of ${floor.length} rounds of ${RUNS_PER_READING} processes each, ratios the medians of the rounds' ratios over \`${EMPTY}\`.`,
        'CPU is user and system time of the process, which other work on the machine moves less than the time on the clock.',
      ],
      details: { readings },
      failures:
        help.cpuRatio <= MAX_RATIO
          ? []
          : [
              `countersign --help takes ${help.cpuRatio} times an empty Node; at most ${MAX_RATIO} is allowed`,
            ],
    }
  },
}

/** Runs a few processes one after the other in a shell, which knows the CPU time of its children. */
function read(parameters: string[]): Reading {
  const loop = `for run in $(seq ${RUNS_PER_READING}); do "$@" >/dev/null; done; times`
  const startedMs = performance.now()
  const said = execFileSync('sh', ['-c', loop, 'sh', process.execPath, ...parameters], { encoding: 'utf8' })
  const wallMs = (performance.now() - startedMs) / RUNS_PER_READING
  // The second line has the children's user and system time, as `0m0.120000s`.
  const times = said
    .trim()
    .split('\n')[1]!
    .matchAll(/(\d+)m([\d.]+)s/g)
  const cpuSeconds = [...times].reduce(
    (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
    0,
  )
  return { wallMs, cpuMs: (cpuSeconds * 1000) / RUNS_PER_READING }
}
