/**
 * Records the engine's measurements of films that this folder renders, for tests that judge measurements without
 * pixels: `node dist/test/liveness/record.js <folder>` writes one file a film, one frame a line.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from '../../src/features/challenges/film/steps.js'
import { Random } from '../hostile/random.js'
import { face } from '../support/faces.js'
import { prepareBaseline } from '../support/prepare-baseline.js'
import { type Cast, type Film, headFilm, SPECIES } from './films.js'
import { see } from './judged.js'
import { loadPipeline } from './pipeline.js'
import { portraitOf } from './portrait.js'

const TURN: readonly Step[] = ['frontal', 'turn_left', 'frontal']
const TURN_AND_NOD: readonly Step[] = ['frontal', 'turn_left', 'nod_down', 'frontal']

/** Films by the name of their file. The seeds were chosen so that the films show what their names say. */
const FILMS: Record<string, { steps: readonly Step[]; make: (cast: Cast) => Promise<Film> }> = {
  head: { steps: TURN_AND_NOD, make: (cast) => headFilm(cast, TURN_AND_NOD, new Random(3)) },
  'bent-paper': { steps: TURN, make: (cast) => SPECIES.print_bent_upright(cast, TURN, new Random(2)) },
}

const DECIMALS = 3

const [folder = '.'] = process.argv.slice(2)
await prepareBaseline()
const pipeline = await loadPipeline()
const cast: Cast = {
  portrait: await portraitOf(pipeline, 'ada', await face('adaElsewhere')),
  samePerson: [await portraitOf(pipeline, 'ada', await face('ada'))],
  stranger: await portraitOf(pipeline, 'grace', await face('grace')),
}
for (const [name, { steps, make }] of Object.entries(FILMS)) {
  const { looks, notes } = await see(pipeline, await make(cast), steps)
  const lines = looks.map((look, at) => JSON.stringify({ steps, note: notes[at], look }, rounded))
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`)
  console.log(`${name}: ${lines.length} frames`)
}
pipeline.release()

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(DECIMALS)) : value
}
