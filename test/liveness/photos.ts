/** People of a run: photos of the evaluation data if they are on this machine, else those that come with face-api. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { BiometricError } from '../../src/biometrics/types.js'
import { packageFile } from '../../src/lib/package-root.js'
import type { Random } from '../hostile/random.js'
import { face } from '../support/faces.js'
import type { Cast } from './films.js'
import { type Portrait, portraitOf } from './portrait.js'

/** Folder of the photos that are not part of the project. */
export const EVALUATION_FACES = packageFile('..', 'shared', 'data', 'faces')
const SETS = ['lfw5', 'lfw-calibration']
const MAX_PHOTOS_OF_ONE = 8
/** True for a photo with which a film can begin. */
const FRONTAL_DEGREES = { yaw: 10, pitch: 15 } as const

export interface Casting {
  source: 'labelled faces in the wild' | 'the samples of face-api'
  /** Portraits, one a person. */
  casts: Cast[]
}

export async function castingOf(pipeline: FacePipeline, count: number, random: Random): Promise<Casting> {
  const people = peopleOfEvaluation()
  const source = people.length > 0 ? 'labelled faces in the wild' : 'the samples of face-api'
  const chosen = people.length > 0 ? shuffled(people, random) : SAMPLES
  const found: Array<Omit<Cast, 'stranger'>> = []
  for (const { person, files } of chosen) {
    if (found.length === count) break
    const photos: Portrait[] = []
    for (const file of files) {
      const photo = await usable(pipeline, person, await file())
      if (photo) photos.push(photo)
    }
    const portrait = photos.find(
      ({ yaw, pitch }) => Math.abs(yaw) <= FRONTAL_DEGREES.yaw && Math.abs(pitch) <= FRONTAL_DEGREES.pitch,
    )
    if (portrait) found.push({ portrait, samePerson: photos.filter((photo) => photo !== portrait) })
  }
  if (found.length < 2) throw new Error('there must be photos of two people at least')
  const casts = found.map((cast, index) => ({
    ...cast,
    stranger: found[(index + 1) % found.length]!.portrait,
  }))
  return { source, casts }
}

export interface Person {
  person: string
  files: Array<() => Promise<Buffer>>
}

const SAMPLES: Person[] = [
  { person: 'ada', files: [() => face('ada'), () => face('adaElsewhere')] },
  { person: 'grace', files: [() => face('grace')] },
  { person: 'mary', files: [() => face('mary')] },
  { person: 'joan', files: [() => face('joan')] },
]

/** Photos of the evaluation data; none if it is not on this machine. */
export function peopleOfEvaluation(): Person[] {
  return SETS.flatMap((set) => {
    const folder = join(EVALUATION_FACES, set)
    if (!existsSync(folder)) return []
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({
        person: name,
        files: readdirSync(join(folder, name))
          .filter((file) => file.endsWith('.jpg'))
          .sort()
          .slice(0, MAX_PHOTOS_OF_ONE)
          .map((file) => async () => readFileSync(join(folder, name, file))),
      }))
  }).sort((a, b) => (a.person < b.person ? -1 : 1))
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items]
  return items.map(() => left.splice(random.below(left.length), 1)[0]!)
}

async function usable(pipeline: FacePipeline, person: string, file: Buffer): Promise<Portrait | null> {
  try {
    return await portraitOf(pipeline, person, file)
  } catch (error) {
    if (error instanceof BiometricError) return null
    throw error
  }
}
