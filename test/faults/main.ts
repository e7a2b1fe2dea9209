/** `npm run test:faults`: runs a campaign; progress and problems go to stderr, the result is the last line on stdout. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { prepareBaseline } from '../support/prepare-baseline.js'
import { runCampaign } from './campaign.js'
import { runFairness } from './fairness.js'
import { runOverload } from './overload.js'

const OVERLOAD_SECONDS = 60
const FAIRNESS_SECONDS = 30

const args = process.argv.slice(2)
if (args.at(-1) === '--overload') args.push(String(OVERLOAD_SECONDS))
if (args.at(-1) === '--fairness') args.push(String(FAIRNESS_SECONDS))
const { values } = parseArgs({
  args,
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    overload: { type: 'string' },
    fairness: { type: 'string' },
  },
})
const kills = Number(values.kills)
const seed = Number(values.seed)
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed))
  throw new TypeError('--kills and --seed are whole numbers, --kills at least 1')

const onProgress = (line: string) => console.error(line)
await prepareBaseline()
const { problems, ...result } = await run()
for (const problem of problems) console.error(problem)
console.log(JSON.stringify(result))
process.exitCode = problems.length > 0 ? 1 : 0

function run(): Promise<{ problems: string[] }> {
  const workers = availableParallelism()
  if (values.overload !== undefined)
    return runOverload({ seconds: secondsOf('overload'), workers, onProgress })
  if (values.fairness !== undefined)
    return runFairness({ seconds: secondsOf('fairness'), workers, judgesTime: true, onProgress })
  return runCampaign({ kills, seed, onProgress })
}

function secondsOf(option: 'overload' | 'fairness'): number {
  const seconds = Number(values[option])
  if (!(seconds > 0)) throw new TypeError(`--${option} is a number of seconds`)
  return seconds
}
