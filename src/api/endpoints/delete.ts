/** DELETE /v1/delete: erases a user completely (GDPR article 17, CCPA). */

import Type, { type Static } from 'typebox'
import { erasureView } from '../../admin/user-views.js'
import { OpenUnitOfWork } from '../../audit/audited-unit-of-work.js'
import { type EndpointDescription, ERASURE, type UserEndpoint } from '../endpoint.js'
import { time, userId } from '../schemas.js'
import type { Services } from '../services.js'

const body = Type.Object({ user_id: userId }, { title: 'DeleteRequest', additionalProperties: false })

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const erasureSchema = Type.Object(
  {
    user_id: userId,
    status: Type.Literal('erased'),
    erasure_id: Type.String(),
    erased_at: time('When the user was erased.'),
    erased: Type.Object({
      references: count('Biometric references.'),
      captures: count('Captures that were remembered for detecting replays.'),
      passkeys: count('Passkeys.'),
      idempotency_records: count('Kept responses.'),
    }),
  },
  { title: 'DeleteResult' },
)

export const deleteDescription: EndpointDescription = {
  id: 'delete',
  topic: ERASURE,
  operationId: 'erase_user',
  sdkName: 'delete',
  example: { user_id: 'ada+match' },
  method: 'DELETE',
  path: '/v1/delete',
  summary: 'Erase a user',
  description:
    'Erases the user: reference, remembered captures, passkeys, kept responses and the data key that sealed them. A repeat within 24 hours returns the same receipt.',
  body,
  bodyOptional: true,
  query: { user_id: { schema: userId, description: 'The user, instead of a body.' } },
  success: { status: 200, description: 'The receipt of the erasure.', schema: erasureSchema },
  // Only the sandbox answers `overloaded`, for users that end in `+unavailable`.
  errors: ['reference_not_found', 'overloaded'],
  auditEvent: 'delete',
  scopes: ['erase'],
}

export function erase({ operations }: Pick<Services, 'operations'>): UserEndpoint<Static<typeof body>> {
  return {
    ...deleteDescription,
    aboutUser: true,
    async handle({ input, tenant, environment }) {
      return async (tx) => {
        const unit = new OpenUnitOfWork(tx)
        const user = { environment, userId: input.user_id }
        const { receipt, isRepeated } = await operations.users.erase(tenant, unit, user)
        return {
          status: 200,
          body: erasureView(receipt, input.user_id),
          observed: { effect: isRepeated ? undefined : 'erased' },
          audit: unit.facts,
        }
      }
    },
  }
}
