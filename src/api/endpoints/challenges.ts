/** POST /v1/challenges: movements for a person to make in front of the camera, for one user and one action, once. */

import Type, { type Static } from 'typebox'
import { MODES, STEPS } from '../../biometrics/challenge/steps.js'
import { CAPTURE_LIMITS } from '../../contract/capture-limits.js'
import { isoTime } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { templateOf } from '../../users/templates.js'
import type { UserCall } from '../../verification/call.js'
import { PURPOSES, type Purpose } from '../../verification/challenge/challenge-book.js'
import { activeMethod } from '../../verification/liveness.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import { actionField, canonicalAction } from '../action.js'
import {
  type ActionKinds,
  actionKindsOf,
  type ChallengePart,
  errorsOf,
  inTurn,
  requestFields,
  responseFields,
} from '../call-parts.js'
import { type Commit, type EndpointDescription, LIVENESS, type UserEndpoint } from '../endpoint.js'
import { assertPlainUserId } from '../enrolment-checks.js'
import { assertActionScope, assertOneOf } from '../key-scope.js'
import { NONCE_LENGTH, nullable, time, userId } from '../schemas.js'
import type { Services } from '../services.js'

export const purposeField = Type.Union(
  PURPOSES.map((name) => Type.Literal(name)),
  { default: 'verify', description: 'The call in which the frames will be sent.' },
)

export const modesField = Type.Array(Type.Union(MODES.map((mode) => Type.Literal(mode))), {
  maxItems: MODES.length,
  uniqueItems: true,
  description:
    'Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker, and its name says so. With none, `[]`, the frames show no movement.',
})

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
      nonce: Type.String({
        minLength: NONCE_LENGTH,
        maxLength: NONCE_LENGTH,
        description: 'Send it back with the frames. No other call returns it.',
      }),
      user_id: userId,
      purpose: purposeField,
      method: nullable(
        Type.String({
          description: 'Name of the check in verdicts; null where no movement is asked for.',
        }),
      ),
      steps: Type.Array(Type.Union(STEPS.map((step) => Type.Literal(step))), {
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
  usesEngine: false,
  // The list of a batch has up to 1,000 payees.
  maxBodyBytes: 262_144,
  answersWithSecret: false,
  idempotent: true,
  auditEvent: null,
  scopes: ['verify', 'enroll'],
})

type Input = Static<ReturnType<typeof bodyWith>>

/** @param parts what features add to challenges */
export function createChallenge(services: Services, parts: readonly ChallengePart[]): UserEndpoint<Input> {
  const { challenges, config } = services
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
      if (!provider.takesChallenges) throw new DomainError('liveness_unavailable')
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
        const { id, nonce, steps, expiresAt } = await challenges.issue(tx, subject, modes, note)
        return {
          status: 201,
          body: {
            challenge_id: id,
            nonce,
            user_id: input.user_id,
            purpose,
            method: activeMethod(steps),
            steps,
            capture: CAPTURE_LIMITS,
            expires_in: config.challengeTtlSeconds,
            expires_at: isoTime(expiresAt),
            ...Object.assign({}, ...additions.map(({ membersOf }) => membersOf(nonce, action))),
          },
        }
      }
    },
  }
}

/**
 * Canonical form of the action of a verify; null for an enrollment.
 * @param kinds of actions with a form of their own
 * @throws DomainError invalid_request when a verify has no action, or an enrollment has one
 */
export function actionFor(purpose: Purpose, action: unknown, kinds: readonly ActionKinds[]): string | null {
  const refuse = (issue: string) =>
    new DomainError('invalid_request', { details: [{ path: 'action', issue }] })
  if (purpose === 'enroll') {
    if (action !== undefined) throw refuse('an enrollment has no action')
    return null
  }
  if (action === undefined) throw refuse('is required')
  return canonicalAction(action, kinds)
}

/** The parts of the service that know whether a verify can succeed. */
export type VerifiableParts = Pick<Services, 'vault' | 'store' | 'lockout' | 'provider' | 'clock'>

/**
 * Refuses to prepare a verify that cannot succeed, before anybody moves the head for it.
 * @throws DomainError reference_not_found, reference_model_mismatch, locked_out
 */
export async function assertVerifiable(
  { vault, store, lockout, provider, clock }: VerifiableParts,
  { user, tenant }: Pick<UserCall<unknown>, 'user' | 'tenant'>,
): Promise<void> {
  const subject = await vault.find(store.read, user.blindIndex, user.id)
  const reference = subject?.reference
  if (reference && !templateOf(subject, decidingProvider(provider, tenant).model))
    throw new DomainError('reference_model_mismatch')
  const refusal = lockout.refusal(user.id, subject?.record ?? null, clock.now())
  if (refusal) throw lockedOut(refusal.waitMs)
  if (!reference && provider.needsReference(user.id)) throw new DomainError('reference_not_found')
}

/** @param waitMs undefined for a lockout that only a new enrollment ends */
function lockedOut(waitMs: number | undefined): DomainError {
  return new DomainError('locked_out', {
    message: 'The user is locked out after rejected verifications.',
    retryAfterMs: waitMs,
  })
}
