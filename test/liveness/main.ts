/** `npm run test:liveness`: attacks on challenges, in the requested number; the last line on stdout is their result. */
import { Command } from 'commander'
import { movedFaceThreshold } from '../../models/pack/model-pack.js'
import { Random } from '../hostile/random.js'
import { startVictim } from '../hostile/service.js'
import { MODELS_DIR } from '../support/models-dir.js'
import { prepareBaseline } from '../support/prepare-baseline.js'
import { type MovedPairs, measureMovedFaces, movedFacesTable } from './moved-faces.js'
import { castingOf, EVALUATION_FACES, peopleOfEvaluation } from './photos.js'
import { loadPipeline } from './pipeline.js'
import { present, type Row, tableOf, upper95 } from './presentations.js'
import { ProtocolCampaign } from './protocol.js'

interface Options {
  photos: number
  rounds: number
  seed: number
  pack?: string
  movedFaces?: boolean
  json?: boolean
}

const { photos, rounds, seed, json, pack, movedFaces } = new Command()
  .option('--photos <n>', 'people of whom films are made, one photo each', Number, 10)
  .option('--rounds <n>', 'how often each attack on the protocol is tried', Number, 3)
  .option('--seed <n>', 'the same seed gives the same films', Number, 1)
  .option(
    '--pack <folder>',
    'judge the films by another pack than the baseline; the protocol is attacked by that',
  )
  .option('--moved-faces', 'instead: how surely the pack knows turned and nodding faces of real photos again')
  .option('--json', 'the result alone')
  .parse()
  .opts<Options>()

await prepareBaseline()
if (movedFaces) {
  await tellOfMovedFaces()
  process.exit()
}
const pipeline = await loadPipeline(pack)
const { source, casts } = await castingOf(pipeline, photos, new Random(seed))
const enrollable = casts.filter(({ portrait }) => portrait.canEnrol)
if (enrollable.length === 0)
  throw new Error(`none of the ${casts.length} photos is good enough to enrol with`)
const told = (text: string) => json || console.log(text)
told(`Photos of ${casts.length} people, one each, of ${source}.`)
if (casts.length < photos)
  process.stderr.write(
    `Films are made of ${casts.length} people instead of ${photos}: ${EVALUATION_FACES} has no more photos that can be used. The other people are skipped.\n`,
  )

// Films that a slow machine does not finish in time must not count as refused.
const victim = await startVictim(MODELS_DIR, undefined, { COUNTERSIGN_DEADLINE_MS: '600000' })
const protocol = await new ProtocolCampaign(victim, enrollable, new Random(seed))
  .run(rounds)
  .finally(() => victim.stop())
for (const [name, answers] of Object.entries(protocol.answers)) told(`  ${name}: ${answers.join(', ')}`)

const presentations = await present(pipeline, casts, seed, (done) =>
  process.stderr.write(`${done} of ${casts.length} people\n`),
)
await pipeline.release()
told(`\n${tableOf(presentations)}\n`)

const { bonaFide } = presentations
const counted = ({ n, both }: Row) => ({ n, accepted: both, upper95: upper95(both, n) })
console.log(
  JSON.stringify({
    protocol_attacks: protocol.attacks,
    accepted: protocol.accepted,
    controls: protocol.controls,
    controls_approved: protocol.controlsApproved,
    photos: { people: casts.length, source },
    species: Object.fromEntries(
      Object.entries(presentations.species).map(([name, row]) => [name, counted(row)]),
    ),
    bona_fide: { n: bonaFide.n, refused: bonaFide.n - bonaFide.both },
  }),
)
if (protocol.accepted > 0 || (rounds > 0 && protocol.controlsApproved === 0)) process.exitCode = 1

/** Faces of these photos are small, with other faces nearby. */
async function tellOfMovedFaces(): Promise<void> {
  const people = peopleOfEvaluation()
  if (people.length === 0)
    throw new Error(`--moved-faces needs photos of people in ${EVALUATION_FACES}, and there are none`)
  const faces = await loadPipeline(pack, { minFacePx: 40, face: 'centre' })
  const measured = await measureMovedFaces(faces, people)
  if (!json) console.log(movedFacesTable(faces, measured))
  const { modes, ...counts } = measured
  const pairs = ({ genuine, impostor, people }: MovedPairs) => ({
    pairs: genuine.length,
    people,
    strangers: impostor.length,
  })
  const threshold = movedFaceThreshold(faces.pack)
  console.log(
    JSON.stringify({
      model: faces.pack.modelId,
      ...counts,
      turn: pairs(modes.turn),
      nod: pairs(modes.nod),
      threshold,
    }),
  )
  await faces.release()
}
