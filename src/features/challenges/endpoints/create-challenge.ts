/** POST /v1/challenges: movements for a person to make in front of the camera, for one user and one action, once. */

import { randomInt } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { actionField } from '../../../api/action.js'
import { actionKindsOf, errorsOf, inTurn, requestFields, responseFields } from '../../../api/call-parts.js'
import type { Commit, EndpointDescription, UserEndpoint } from '../../../api/endpoint.js'
import { assertPlainUserId } from '../../../api/enrolment-checks.js'
import { assertActionScope, assertOneOf } from '../../../api/key-scope.js'
import { nonceField, nullable, text, time, userId, words } from '../../../api/schemas.js'
import type { Services } from '../../../api/services.js'
import { CAPTURE_LIMITS } from '../../../contract/capture-limits.js'
import { isoTime, SECOND_MS } from '../../../lib/clock.js'
import { DomainError } from '../../../lib/domain-error.js'
import { decidingProvider } from '../../../verification/references/deciding-model.js'
import { ChallengeBook, type Purpose } from '../challenge-book.js'
import type { ChallengePart } from '../challenge-part.js'
import { modesField, purposeField } from '../challenge-schemas.js'
import { challengeSeconds } from '../challenge-settings.js'
import { activeMethodOf, drawSteps, MODES, modesOf, STEPS } from '../film/steps.js'
import { actionFor, assertVerifiable } from '../verifiable.js'
import { LIVENESS } from './guidance.js'

const bodyWith = (parts: readonly ChallengePart[]) =>
  Type.Object(
    {
      user_id: userId,
      purpose: Type.Optional(purposeField),
      action: Type.Optional(actionField(actionKindsOf(parts))),
      modes: Type.Optional(modesField),
      ...requestFields(parts),
    },
    { title: 'ChallengeRequest', additionalProperties: false },
  )

const successWith = (parts: readonly ChallengePart[]) =>
  Type.Object(
    {
      challenge_id: Type.String(),
      nonce: nonceField('Send it back with the frames. No other call returns it.'),
      user_id: userId,
      purpose: purposeField,
      method: nullable(text('Name of the check in verdicts; null where no movement is asked for.')),
      steps: Type.Array(words(STEPS), {
        minItems: 1,
        description: 'Movements, in order. Left and right are the person’s own.',
      }),
      capture: Type.Object(
        {
          min_frames: Type.Integer(),
          max_frames: Type.Integer(),
          min_interval_ms: Type.Integer(),
          max_interval_ms: Type.Integer(),
          max_gap_ms: Type.Integer({
            description:
              'One gap between two frames may be as long as this, where a camera stops for a moment.',
          }),
          min_duration_ms: Type.Integer(),
          max_duration_ms: Type.Integer(),
        },
        { description: 'Limits that the frames must keep to.' },
      ),
      expires_in: Type.Integer({
        description: 'Seconds until the challenge expires: the frames must have arrived by then.',
      }),
      expires_at: time('When the challenge expires.'),
      ...responseFields(parts),
    },
    { title: 'Challenge' },
  )

/** @param parts what features add to challenges */
export const createChallengeDescription = (parts: readonly ChallengePart[]): EndpointDescription => ({
  id: 'create_challenge',
  topic: LIVENESS,
  shownBefore: 'get_verification',
  sdkName: 'createChallenge',
  example: {
    user_id: 'ada+match',
    action: { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' },
  },
  alwaysKeeps: true,
  method: 'POST',
  path: '/v1/challenges',
  summary: 'Ask for a challenge',
  description:
    'Draws movements of the head that nobody can foresee. Send the frames of a person who makes them to verify or enroll as `challenge`, instead of photos. A challenge is good for one call, for one user and one action.',
  body: bodyWith(parts),
  success: { status: 201, description: 'The challenge.', schema: successWith(parts) },
  errors: [
    'reference_not_found',
    'reference_model_mismatch',
    'locked_out',
    'liveness_unavailable',
    ...errorsOf(parts),
    'overloaded',
  ],
  // The list of a batch has up to 1,000 payees.
  maxBodyBytes: 262_144,
  idempotent: true,
  scopes: ['verify', 'enroll'],
})

type Input = Static<ReturnType<typeof bodyWith>>

/** @param parts what features add to challenges */
export function createChallenge(services: Services, parts: readonly ChallengePart[]): UserEndpoint<Input> {
  const challenges = new ChallengeBook(services.clock)
  const ttlSeconds = challengeSeconds(services.config)
  const works = parts.map((part) => part.create(services))
  const kinds = actionKindsOf(parts)
  return {
    ...createChallengeDescription(parts),
    aboutUser: true,
    async handle(call): Promise<Commit> {
      const { input, tenant, environment, user } = call
      const { modes = MODES } = input
      const purpose: Purpose = input.purpose ?? 'verify'
      assertOneOf(call.scopes, [purpose], 'purpose')
      assertActionScope(call.scopes, input.action)
      const action = actionFor(purpose, input.action, kinds)
      const provider = decidingProvider(services.provider, tenant)
      for (const work of works) work.assertFits?.(call)
      if (!provider.takesFilms) throw new DomainError('liveness_unavailable')
      if (purpose === 'verify') {
        if (!call.isDiscreet) await assertVerifiable(services, call)
      } else assertPlainUserId(input.user_id)
      const prepared = await inTurn(works, (work) => work.prepare(call, purpose))
      const additions = prepared.filter((addition) => addition !== null)
      const notes = additions.flatMap(({ note = [] }) => note)
      const note = notes.length > 0 ? Object.assign({}, ...notes) : null
      return async (tx) => {
        const { blindIndex } = user
        const subject = { tenantId: tenant.id, environment, blindIndex, purpose, action }
        const steps = drawSteps(modes, (below) => randomInt(below))
        const { id, nonce, expiresAt } = await challenges.issue(
          tx,
          subject,
          ttlSeconds * SECOND_MS,
          steps,
          note,
        )
        return {
          status: 201,
          body: {
            challenge_id: id,
            nonce,
            user_id: input.user_id,
            purpose,
            method: activeMethodOf(modesOf(steps)),
            steps,
            capture: CAPTURE_LIMITS,
            expires_in: ttlSeconds,
            expires_at: isoTime(expiresAt),
            ...Object.assign({}, ...additions.map(({ membersOf }) => membersOf(nonce, action))),
          },
        }
      }
    },
  }
}
