/** Films of the sample faces: a head that makes the movements passes, and objects that replace one do not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import type { Step } from '../../src/features/challenges/film/steps.js'
import { Random } from '../hostile/random.js'
import { face } from '../support/faces.js'
import { type Cast, headFilm, SPECIES, type Species } from './films.js'
import { faceChange, judge } from './judged.js'
import { loadPipeline } from './pipeline.js'
import { portraitOf } from './portrait.js'

const STEPS: readonly Step[] = ['frontal', 'turn_left', 'nod_down', 'frontal']

describe('a film judged by its movements', () => {
  let pipeline: FacePipeline
  let cast: Cast

  beforeAll(async () => {
    pipeline = await loadPipeline()
    cast = {
      portrait: await portraitOf(pipeline, 'ada', await face('adaElsewhere')),
      samePerson: [await portraitOf(pipeline, 'ada', await face('ada'))],
      stranger: await portraitOf(pipeline, 'grace', await face('grace')),
    }
  })
  afterAll(() => pipeline.release())

  const judged = async (species: Species) =>
    judge(pipeline, await SPECIES[species](cast, STEPS, new Random(5)), STEPS)

  it('passes a head that did what was asked', async () => {
    const film = await headFilm(cast, STEPS, new Random(3))
    expect(await judge(pipeline, film, STEPS)).toEqual({ turn: true, nod: true, both: true, fault: null })
  })

  it.each(['still_frame', 'still_photo_refilmed', 'flat_print', 'photos_swapped'] as const)(
    'asks anyone who shows a %s to turn further',
    async (species) => {
      expect(await judged(species)).toMatchObject({ both: false, fault: { guidance: 'turn_more' } })
    },
  )

  it('refuses a film in which another person took over', async () => {
    expect((await judged('people_swapped')).both).toBe(false)
  })

  it.each([
    ['the same person throughout', ['adaElsewhere', 'ada', 'adaElsewhere'], true],
    ['another person in a movement', ['adaElsewhere', 'grace', 'adaElsewhere'], false],
    ['another person at the end', ['adaElsewhere', 'ada', 'grace'], false],
  ] as const)('compares the faces of the film: %s', async (_, names, isOne) => {
    const frames = await Promise.all(names.map((name) => face(name)))
    const keys = { frontal: 0, movements: [1], last: 2 }
    expect((await faceChange(pipeline, { frames }, keys)) === null).toBe(isOne)
  })
})
