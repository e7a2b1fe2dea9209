/** `countersign size`: how many cores, nodes and databases a load takes, by a queueing model. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Figures } from '../sizing/figures.js'
import type { Outcome } from '../sizing/plan.js'
import { action, CommandError, print } from './output.js'

interface SizeOptions {
  rps: number
  p99: number
  tenants: number
  hottestShare: number
  users: number
  coresPerNode?: number
  databaseCores: number
  spare: number
  bench?: string
  engineMs?: number
  mainMs?: number
  syncMs?: number
  roundTripMs?: number
  json?: boolean
}

/** Machines that can be had everywhere. */
const CORES = [4, 8, 16, 32] as const

export function registerSizeCommand(command: Command): void {
  const takes = (flag: string, description: string, [least, most]: [number, number], isWhole = false) =>
    new Option(flag, description).argParser((text) => parseNumber(text, least, most, isWhole))
  command
    .addOption(
      takes('--rps <n>', 'verifies a second at the busiest moment', [0.01, 1e6]).makeOptionMandatory(),
    )
    .addOption(takes('--p99 <ms>', 'what 99 of 100 verifies may take', [10, 1000]).default(150))
    .addOption(takes('--tenants <n>', 'tenants', [1, 1e6], true).default(100))
    .addOption(
      takes('--hottest-share <share>', 'of the verifies, those of the busiest tenant', [0, 1]).default(0.1),
    )
    .addOption(takes('--users <n>', 'enrolled users', [0, 1e11], true).default(1_000_000))
    .addOption(
      takes(
        '--cores-per-node <n>',
        'cores of a machine (default: of 4, 8, 16 and 32 what takes fewest)',
        [1, 512],
        true,
      ),
    )
    .addOption(takes('--database-cores <n>', 'cores of a database’s machine', [1, 512], true).default(16))
    .addOption(takes('--spare <n>', 'nodes of a cluster that may be lost', [0, 10], true).default(1))
    .option(
      '--bench <folder>',
      'take engine and main thread from what `npm run bench -- floor --out` wrote there',
    )
    .addOption(takes('--engine-ms <n>', 'CPU of the engine a verify', [0.1, 10_000]))
    .addOption(takes('--main-ms <n>', 'CPU of the main thread a verify', [0.01, 1000]))
    .addOption(takes('--sync-ms <n>', 'until a commit is on disk, and on the standby’s', [0, 1000]))
    .addOption(takes('--round-trip-ms <n>', 'between a node and its database', [0, 1000]))
    .option('--json', 'print JSON')
    .action(
      action(async (options: SizeOptions) => {
        const { plan } = await import('../sizing/plan.js')
        const { obstacleText, sizeText, sizeView } = await import('./size-view.js')
        const { rps, p99, tenants, hottestShare, users, coresPerNode, databaseCores, spare } = options
        const figures = await figuresOf(options)
        const load = { perSecond: rps, p99Ms: p99, tenants, hottestShare }
        const sizes = coresPerNode === undefined ? CORES : [coresPerNode]
        const { outcome, cores } = sizes
          .map((cores) => ({ cores, outcome: plan(load, { cores, databaseCores, spare }, figures) }))
          .reduce((best, other) => (coresOf(other) < coresOf(best) ? other : best))
        if (!outcome.plan) throw new CommandError('no_such_size', obstacleText(outcome.obstacle, p99))
        const { databasePerSecond } = outcome
        const size = {
          load: { ...load, users },
          cores,
          databaseCores,
          spare,
          figures,
          databasePerSecond,
          plan: outcome.plan,
        }
        print(options, sizeView(size), () => sizeText(size))
      }),
    )
}

function coresOf({ outcome, cores }: { outcome: Outcome; cores: number }): number {
  return outcome.plan ? outcome.plan.clusters * outcome.plan.nodes * cores : Number.POSITIVE_INFINITY
}

/** What was given comes before what was measured elsewhere. */
async function figuresOf({ bench, engineMs, mainMs, syncMs, roundTripMs }: SizeOptions): Promise<Figures> {
  const { ASSUMED, MEASURED } = await import('../sizing/figures.js')
  const { benchFigures } = await import('../sizing/bench-figures.js')
  const own = bench === undefined ? {} : benchFigures(bench)
  const given = Object.entries({ engineMs, mainMs, syncMs, roundTripMs }).filter(([, ms]) => ms !== undefined)
  return { ...MEASURED, ...ASSUMED, ...own, ...Object.fromEntries(given) }
}

function parseNumber(text: string, least: number, most: number, isWhole: boolean): number {
  const value = Number(text)
  const isNumber = text.trim() !== '' && (isWhole ? Number.isInteger(value) : Number.isFinite(value))
  if (!isNumber || value < least || value > most)
    throw new InvalidArgumentError(`Expected a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`)
  return value
}
