/** `npm run test:faults`: a campaign; progress and problems on stderr, the result as the last line of stdout. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.js'
import { runOverload } from './overload.js'

const OVERLOAD_SECONDS = 60

const args = process.argv.slice(2)
if (args.at(-1) === '--overload') args.push(String(OVERLOAD_SECONDS))
const { values } = parseArgs({
  args,
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    overload: { type: 'string' },
  },
})
const kills = Number(values.kills)
const seed = Number(values.seed)
const seconds = values.overload === undefined ? null : Number(values.overload)
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed))
  throw new TypeError('--kills and --seed are whole numbers, --kills at least 1')
if (seconds !== null && !(seconds > 0)) throw new TypeError('--overload is a number of seconds')

const onProgress = (line: string) => console.error(line)
const { problems, ...result } =
  seconds === null
    ? await runCampaign({ kills, seed, onProgress })
    : await runOverload({ seconds, workers: availableParallelism(), onProgress })
for (const problem of problems) console.error(problem)
console.log(JSON.stringify(result))
process.exitCode = problems.length > 0 ? 1 : 0
