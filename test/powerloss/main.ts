/** `npm run test:powerloss`: makes as many power cuts as asked for. The last line on stdout is the result. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { runCampaign } from './campaign.js'
import { obstacle } from './record.js'

const PROGRESS_EVERY = 1000
/** Number of images with findings that are kept for inspection. */
const MAX_KEPT = 10

const { images, seed } = new Command()
  .option('--images <n>', 'disk images to make and open', Number, 10_000)
  .option('--seed <n>', 'which cuts, and what of the unsynced survives them', Number, 1)
  .parse()
  .opts<{ images: number; seed: number }>()

const why = obstacle()
if (why) {
  console.error(`Skipped: ${why}.`)
  console.log(JSON.stringify({ images: 0, skipped: why }))
} else {
  let kept = 0
  const { verdict, events } = await runCampaign({
    images,
    seed,
    progress: (done) => done % PROGRESS_EVERY === 0 && process.stderr.write(`${done} of ${images}\n`),
    onFinding(finding, keep) {
      const folder = kept++ < MAX_KEPT ? mkdtempSync(join(tmpdir(), 'countersign-lost-')) : null
      if (folder) keep(folder)
      process.stderr.write(`${finding}${folder ? `; kept in ${folder}` : ''}\n`)
    },
  })
  console.log(JSON.stringify({ seed, events }))
  console.log(JSON.stringify(verdict))
  if (verdict.lost + verdict.corrupt > 0) process.exitCode = 1
}
