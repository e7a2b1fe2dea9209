/** `npm run test:chaos`: runs a campaign. The last line on stdout is the result. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { buildBaseline } from '../../tools/pack-builders/baseline/build-baseline.js'
import { MODELS_DIR } from '../support/models-dir.js'
import { runChaos } from './campaign.js'
import { FAULTS } from './faults.js'
import { obstacle } from './obstacle.js'

const { minutes, seed, nodes, callers, only } = new Command()
  .option('--minutes <n>', 'how long things go wrong', Number, 5)
  .option('--seed <n>', 'which faults, in which order, and for how long', Number, Date.now() % 1_000_000)
  .option('--nodes <n>', 'services over the one database', Number, 3)
  .option('--callers <n>', 'in production, of each of two tenants', Number, 1)
  .option('--only <names...>', `some faults alone: ${FAULTS.map(({ name }) => `"${name}"`).join(', ')}`)
  .parse()
  .opts<{ minutes: number; seed: number; nodes: number; callers: number; only?: string[] }>()
if (
  !(minutes > 0) ||
  !Number.isSafeInteger(seed) ||
  ![nodes, callers].every((count) => Number.isSafeInteger(count) && count > 0)
)
  throw new TypeError('--minutes is a number above 0; --seed, --nodes and --callers are whole numbers')

const why = obstacle()
if (why) {
  console.error(`Skipped: ${why}.`)
  console.log(JSON.stringify({ nodes: 0, skipped: why }))
} else {
  const logFolder = mkdtempSync(join(tmpdir(), 'countersign-chaos-logs-'))
  console.error(`Seed ${seed}.`)
  await buildBaseline({ outDir: join(MODELS_DIR, 'baseline') })
  const startedMs = performance.now()
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort())
  const { problems, ...result } = await runChaos({
    seconds: minutes * 60,
    seed,
    nodes,
    callers,
    logFolder,
    signal: ending.signal,
    ...(only ? { faults: only } : {}),
    onProgress: (line) => console.error(`${((performance.now() - startedMs) / 1000).toFixed(1)} s  ${line}`),
  })
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) {
    console.error(`What the nodes said is in ${logFolder}.`)
    process.exitCode = 1
  } else rmSync(logFolder, { recursive: true })
  console.log(JSON.stringify(result))
}
// Without this, Node would wait in a busy loop for data on connections that were lost.
process.exit()
