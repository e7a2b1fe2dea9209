/** Judges films of every species, and counts those that pass by each axis, and by both. */

import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { drawSteps, MODES, type Step } from '../../src/features/challenges/film/steps.js'
import { wilson } from '../../tools/evaluation/intervals.js'
import { Random } from '../hostile/random.js'
import { type Cast, type Film, headFilm, SPECIES, type Species } from './films.js'
import { type Judged, judge } from './judged.js'

export interface Row {
  n: number
  turn: number
  nod: number
  both: number
  /** Number of whole films that each fault ended. */
  faults: Record<string, number>
}

export interface Presentations {
  bonaFide: Row
  species: Record<Species, Row>
}

const emptyRow = (): Row => ({ n: 0, turn: 0, nod: 0, both: 0, faults: {} })

/** A film that is not rendered yet. */
interface Filming {
  /** The other person in the film; null if it shows only the person of the photo. */
  species: Species | null
  steps: Step[]
  shoot(): Promise<Film>
}

const HEADS_EACH = 2

/**
 * One film of every species and two of the head. Each has random numbers of its own, so that no film depends on the
 * choice of the others.
 */
export function filmingsOf(cast: Cast, index: number, seed: number): Filming[] {
  const names = [...Array<null>(HEADS_EACH).fill(null), ...(Object.keys(SPECIES) as Species[])]
  return names.flatMap((species, number) => {
    if (species?.startsWith('photos_') && cast.samePerson.length === 0) return []
    const random = new Random(seed * 1_000_003 + index * 101 + number)
    const steps = drawSteps(MODES, (below) => random.below(below))
    const shoot = () => (species ? SPECIES[species](cast, steps, random) : headFilm(cast, steps, random))
    return [{ species, steps, shoot }]
  })
}

export async function present(
  pipeline: FacePipeline,
  casts: readonly Cast[],
  seed: number,
  progress: (done: number) => void,
): Promise<Presentations> {
  const names = Object.keys(SPECIES) as Species[]
  const species = Object.fromEntries(names.map((name) => [name, emptyRow()])) as Record<Species, Row>
  const bonaFide = emptyRow()
  for (const [index, cast] of casts.entries()) {
    for (const filming of filmingsOf(cast, index, seed)) {
      const row = filming.species ? species[filming.species] : bonaFide
      count(row, await judge(pipeline, await filming.shoot(), filming.steps))
    }
    progress(index + 1)
  }
  return { bonaFide, species }
}

function count(row: Row, { turn, nod, both, fault }: Judged): void {
  row.n++
  row.turn += Number(turn)
  row.nod += Number(nod)
  row.both += Number(both)
  if (!fault) return
  const name = fault.finding ?? fault.guidance
  row.faults[name] = (row.faults[name] ?? 0) + 1
}

/** Formats a Markdown table: films that passed, of all, with 95 % Wilson intervals. */
export function tableOf({ bonaFide, species }: Presentations): string {
  const share = (passed: number, n: number) => {
    if (n === 0) return '–'
    const [low, high] = wilson(passed, n)
    return `${passed}/${n} (${percent(low)}–${percent(high)})`
  }
  const row = (name: string, { n, turn, nod, both, faults }: Row) => {
    const most = Object.entries(faults).sort((a, b) => b[1] - a[1])
    const told = most.map(([fault, times]) => `${fault} ${times}`).join(', ')
    return `| ${name} | ${share(turn, n)} | ${share(nod, n)} | ${share(both, n)} | ${told} |`
  }
  return [
    '| What is shown | Turn alone | Nod alone | Both | Why both failed |',
    '| --- | --- | --- | --- | --- |',
    row('head that does what is asked', bonaFide),
    ...Object.entries(species).map(([name, counted]) => row(name.replaceAll('_', ' '), counted)),
  ].join('\n')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`
}

export function upper95(passed: number, n: number): number {
  return Number(wilson(passed, n)[1].toFixed(3))
}
