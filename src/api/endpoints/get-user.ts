/** GET /v1/users/{user_id}: the record of an enrolled user, without anything biometric. */

import Type, { type Static } from 'typebox'
import { userView } from '../../admin/user-views.js'
import { DomainError } from '../../lib/domain-error.js'
import { templateOf } from '../../users/templates.js'
import { comparedModel } from '../../verification/references/deciding-model.js'
import { type CallParts, responseFields } from '../call-parts.js'
import { ENROLLMENT, type EndpointDescription, type UserEndpoint } from '../endpoint.js'
import { consent, flag, nullable, text, time, userId, userPath, words } from '../schemas.js'
import type { Services } from '../services.js'

/** A user, without what features add. */
export const userSchema = Type.Object(
  {
    user_id: userId,
    status: Type.Literal('enrolled'),
    enrolled_at: time('When the user was first enrolled.'),
    reference: Type.Object({
      reference_id: Type.String(),
      created_at: time('When the reference was captured, or photos were last added to it.'),
      model: text('The model pack that made the reference.'),
      comparable: flag(
        'Whether the user has a template of the model pack that decides. If not, verify answers `reference_model_mismatch` until the user is enrolled again.',
      ),
      views: Type.Integer({ minimum: 1, description: 'Number of photos that the reference was made of.' }),
      consent: nullable(consent),
    }),
    lockout: Type.Object({
      status: words(
        ['none', 'locked_out', 'reference_disabled'],
        'Lockout that a verification would report now. Only a new enrollment ends `reference_disabled`.',
      ),
      ends_at: nullable(time('When `locked_out` ends; null for any other status.')),
      rejections: Type.Integer({ minimum: 0, description: 'Consecutive rejections so far.' }),
    }),
  },
  { title: 'User' },
)

/** @param parts what features add to users */
export const getUserDescription = (parts: CallParts['user']): EndpointDescription => ({
  id: 'get_user',
  topic: ENROLLMENT,
  sdkName: 'getUser',
  method: 'GET',
  path: '/v1/users/{user_id}',
  summary: 'Look a user up',
  description:
    'Says whether a user is enrolled, since when, with which model pack, and whether the user is locked out. The answer holds nothing biometric, and the call writes no audit entry. A user id that is `.` or `..` has no address.',
  pathParameters: userPath,
  success: {
    status: 200,
    description: 'The user is enrolled.',
    schema: Type.Object({ ...userSchema.properties, ...responseFields(parts) }, { title: 'User' }),
  },
  // Only the sandbox answers `overloaded`, for users that end in `+unavailable`.
  errors: ['invalid_request', 'reference_not_found', 'overloaded'],
  scopes: ['read'],
})

interface Input {
  user_id: Static<typeof userId>
}

/** The parts of the service that describe a user. */
type Parts = Pick<Services, 'vault' | 'store' | 'provider' | 'lockout' | 'clock'>

/** @param parts what features add to users */
export function getUser(
  { vault, store, provider, lockout, clock }: Parts,
  parts: CallParts['user'],
): UserEndpoint<Input> {
  return {
    ...getUserDescription(parts),
    aboutUser: true,
    async handle({ user, tenant }) {
      const subject = await vault.find(store.read, user.blindIndex, user.id)
      if (!subject?.reference) throw new DomainError('reference_not_found')
      const { record, reference } = subject
      const now = clock.now()
      const refusal = lockout.refusal(user.id, record, now)
      const view = userView(
        user.id,
        subject,
        { ...reference, ...vault.describeReference(subject, reference) },
        refusal && {
          reason: refusal.reason,
          until: refusal.waitMs === undefined ? null : now + refusal.waitMs,
        },
        await store.read.credentialsOf(record.id),
      )
      const comparable = templateOf(subject, comparedModel(provider, tenant)) !== null
      return { status: 200, body: { ...view, reference: { ...view.reference, comparable } } }
    },
  }
}
