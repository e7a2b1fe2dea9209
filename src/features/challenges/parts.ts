/** The parts of verifies and enrollments that are about challenges: frames instead of photos, and the challenge that a verdict names. */
import type { CapturePart, EnrollPart, VerifyPart } from '../../api/call-parts.js'
import { sandboxOutcome, sandboxRule } from '../../contract/sandbox-rules.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import type { Film } from '../../verification/biometric-provider.js'
import type { Base64 } from '../../verification/capture/images.js'
import { CHALLENGE_ERRORS, ChallengeBook } from './challenge-book.js'
import { challengeAnswer } from './challenge-schemas.js'
import { type FilmedSteps, judgeFilm } from './film/judge-film.js'
import { activeMethodOf, modesOf } from './film/steps.js'

interface Answering {
  challenge?: {
    challenge_id: string
    nonce: string
    frames: Array<{ step: number; t_ms: number; image: Base64 }>
  }
}

/** The answer to a challenge that a request brings; undefined for photos. */
export function answerIn(input: object): Answering['challenge'] {
  return (input as Answering).challenge
}

/** The film that a provider has judged. */
export function filmOf(film: FilmedSteps): Film {
  return {
    method: activeMethodOf(modesOf(film.steps)),
    judge: (frames) => judgeFilm(frames, film),
    script(userId) {
      if (sandboxOutcome(userId) === '+challenge_expired') throw new DomainError('challenge_expired')
      return sandboxRule(userId).fault ?? null
    },
  }
}

export const capturePart: CapturePart = {
  field: {
    name: 'challenge',
    path: 'challenge.frames',
    pathOf: (index) => `challenge.frames.${index}.image`,
    filesOf: (input) => answerIn(input)?.frames.map(({ image }) => image),
  },
  schema: challengeAnswer,
  errors: CHALLENGE_ERRORS,
  create({ store, clock }) {
    const challenges = new ChallengeBook(clock)
    return async ({ input, tenant, environment, user }, asked) => {
      const { challenge_id: id, nonce, frames } = answerIn(input)!
      const { blindIndex } = user
      const subject = { tenantId: tenant.id, environment, blindIndex, ...asked }
      const opened = await challenges.open(store.read, { id, nonce }, subject)
      const notes = frames.map(({ step, t_ms: tMs }) => ({ step, tMs }))
      return { ...opened, film: filmOf({ notes, steps: opened.steps }) }
    }
  },
}

export const verifyPart: VerifyPart = {
  fields: [
    {
      name: 'challenge_id',
      to: ['jwt', 'audit', 'kept'],
      value: ({ call }) => answerIn(call.input)?.challenge_id,
    },
  ],
}

export const enrollPart: EnrollPart = {
  create: () => ({
    assertFits({ input }) {
      if (input.dry_run && answerIn(input))
        throw invalidField('dry_run', 'a challenge is good for one call: assess photos')
    },
    prepare: async () => null,
  }),
}
