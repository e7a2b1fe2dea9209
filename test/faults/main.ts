/** `npm run test:faults`: the campaign; progress and problems on stderr, the result as the last line of stdout. */
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.js'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
})
const kills = Number(values.kills)
const seed = Number(values.seed)
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed))
  throw new TypeError('--kills and --seed are whole numbers, --kills at least 1')

const { problems, ...result } = await runCampaign({ kills, seed, onProgress: (line) => console.error(line) })
for (const problem of problems) console.error(problem)
console.log(JSON.stringify(result))
process.exitCode = problems.length > 0 ? 1 : 0
