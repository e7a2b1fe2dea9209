/** `npm run test:hostile`: a campaign of the size asked for; the last line on stdout is its result. */
import { Command, Option } from 'commander'
import type { TransportName } from '../../src/http/listeners/transport.js'
import { MODELS_DIR } from '../support/models-dir.js'
import { prepareBaseline } from '../support/prepare-baseline.js'
import { runCampaign } from './campaign.js'
import { sendLargePictures } from './large-pictures.js'
import { startVictim } from './service.js'

const PROGRESS_EVERY = 500

const { inputs, rounds, seed, http } = new Command()
  .option('--inputs <n>', 'requests and images together', Number, 20_000)
  .option('--rounds <n>', 'how often each large picture is sent to each environment', Number, 10)
  .option('--seed <n>', 'the same seed gives the same inputs', Number, 1)
  .addOption(
    new Option('--http <transport>', 'the HTTP server; by default what the service chooses itself').choices([
      'uws',
      'node',
    ]),
  )
  .parse()
  .opts<{ inputs: number; rounds: number; seed: number; http?: TransportName }>()

await prepareBaseline()
const victim = await startVictim(MODELS_DIR, http)
const { verdict, answers } = await runCampaign(victim, {
  inputs,
  seed,
  progress: (done) => done % PROGRESS_EVERY === 0 && process.stderr.write(`${done} of ${inputs}\n`),
})
const large = await sendLargePictures(victim, {
  rounds,
  progress: (done) => done % PROGRESS_EVERY === 0 && process.stderr.write(`${done} large pictures\n`),
})
const peakBodyBytes = await victim.peakUnansweredBodyBytes()
await victim.stop()
const result = {
  ...verdict,
  ...large.verdict,
  crashes: victim.crashes(),
  longest_stall_ms: victim.longestStallMs(),
  peak_unanswered_body_bytes: peakBodyBytes,
}
console.log(JSON.stringify({ large_answers: large.answers }))
console.log(JSON.stringify({ seed, answers, peak_rss_mib: Math.round(victim.peakMib()) }))
console.log(JSON.stringify(result))
const { crashes, responses_5xx, unsigned_or_uncoded, bystander_failed } = result
if (crashes + responses_5xx + unsigned_or_uncoded + bystander_failed > 0) process.exitCode = 1
