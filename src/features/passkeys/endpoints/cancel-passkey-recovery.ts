/** DELETE /v1/users/{user_id}/passkeys/recovery: cancels the recovery of a passkey. */

import Type from 'typebox'
import { type EndpointDescription, SMALL_BODY_BYTES, type UserEndpoint } from '../../../api/endpoint.js'
import { userId, userPath } from '../../../api/schemas.js'
import { OpenUnitOfWork } from '../../../audit/audited-unit-of-work.js'
import { PasskeyOperations } from '../passkey-operations.js'
import { PASSKEYS } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'

const success = Type.Object(
  { user_id: userId, status: Type.Literal('cancelled') },
  { title: 'CancelledPasskeyRecovery' },
)

export const cancelPasskeyRecoveryDescription: EndpointDescription = {
  id: 'cancel_passkey_recovery',
  topic: PASSKEYS,
  sdkName: 'cancelPasskeyRecovery',
  method: 'DELETE',
  path: '/v1/users/{user_id}/passkeys/recovery',
  summary: 'Cancel the recovery of a passkey',
  description:
    'Ends a recovery that an approved verification for `recover_passkey` has begun, before it allows a registration. An approved verification with a passkey of the user does the same.',
  pathParameters: userPath,
  success: { status: 200, description: 'The recovery is cancelled.', schema: success },
  errors: ['invalid_request', 'reference_not_found', 'passkey_recovery_not_found', 'overloaded'],
  maxBodyBytes: SMALL_BODY_BYTES,
  idempotent: false,
  auditEvent: 'passkey_recovery_cancelled',
  scopes: ['recover'],
}

export function cancelPasskeyRecovery(services: PasskeyServices): UserEndpoint<{ user_id: string }> {
  const operations = new PasskeyOperations(services)
  return {
    ...cancelPasskeyRecoveryDescription,
    aboutUser: true,
    async handle({ tenant, environment, user }) {
      return async (tx) => {
        const unit = new OpenUnitOfWork(tx)
        await operations.cancelRecovery(tenant, unit, { environment, userId: user.id })
        return { status: 200, body: { user_id: user.id, status: 'cancelled' }, audit: unit.facts }
      }
    },
  }
}
