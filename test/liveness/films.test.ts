/** Films of the sample faces: a head that does what is asked passes, and what could be held up in its place does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Step } from '../../src/biometrics/challenge/steps.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { Random } from '../hostile/random.js'
import { face } from '../support/faces.js'
import { type Cast, headFilm, SPECIES, type Species } from './films.js'
import { judge } from './judged.js'
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

  it('has both movements where a head does what was asked', async () => {
    const film = await headFilm(cast, STEPS, new Random(4))
    expect(await judge(pipeline, film, STEPS)).toMatchObject({ turn: true, nod: true })
  })

  it.each(['still_frame', 'still_photo_refilmed', 'flat_print', 'photos_swapped'] as const)(
    'asks whoever shows a %s to turn further',
    async (species) => {
      expect(await judged(species)).toMatchObject({ both: false, fault: { guidance: 'turn_more' } })
    },
  )

  it('does not pass where another person took over', async () => {
    expect((await judged('people_swapped')).both).toBe(false)
  })
})
