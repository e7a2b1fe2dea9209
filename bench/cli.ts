/** The cli suite: how long short commands take, beside a Node that does nothing. */
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
/** What the command line promises: no more than this many times an empty Node. */
const MAX_RATIO = 3
/** The shell's clock of CPU time ticks every 10 ms: one reading is of that many processes. */
const RUNS_PER_READING = 5

interface Reading {
  wallMs: number
  /** User and system time. */
  cpuMs: number
}

export const cli: Suite = {
  name: 'cli',
  description: 'short commands against an empty Node',
  defaultSeconds: 20,
  async run({ pack, seconds }) {
    const names = Object.keys(CONTENDERS)
    const readings = Object.fromEntries(names.map((name) => [name, [] as Reading[]]))
    const progress = progressSteps('cli')
    const startedMs = performance.now()
    const elapsedShare = () => (performance.now() - startedMs) / (seconds * 1000)
    do {
      // Who goes first changes every round.
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

/** A few processes one after the other, by a shell that knows what its children took. */
function read(parameters: string[]): Reading {
  const loop = `for run in $(seq ${RUNS_PER_READING}); do "$@" >/dev/null; done; times`
  const startedMs = performance.now()
  const said = execFileSync('sh', ['-c', loop, 'sh', process.execPath, ...parameters], { encoding: 'utf8' })
  const wallMs = (performance.now() - startedMs) / RUNS_PER_READING
  // The second line is of the children: user, then system time, as `0m0.120000s`.
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
