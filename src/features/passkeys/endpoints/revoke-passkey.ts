/** DELETE /v1/users/{user_id}/passkeys/{passkey_id}: revokes a passkey. */

import Type from 'typebox'
import { type EndpointDescription, SMALL_BODY_BYTES, type UserEndpoint } from '../../../api/endpoint.js'
import { userId, userPath } from '../../../api/schemas.js'
import { OpenUnitOfWork } from '../../../audit/audited-unit-of-work.js'
import { PasskeyOperations } from '../passkey-operations.js'
import { PASSKEYS, passkeyId } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'

const success = Type.Object(
  { user_id: userId, passkey_id: passkeyId, status: Type.Literal('revoked') },
  { title: 'RevokedPasskey' },
)

export const revokePasskeyDescription: EndpointDescription = {
  id: 'revoke_passkey',
  topic: PASSKEYS,
  sdkName: 'revokePasskey',
  method: 'DELETE',
  path: '/v1/users/{user_id}/passkeys/{passkey_id}',
  summary: 'Revoke a passkey',
  description:
    'Deletes a passkey: nothing that it signs counts from then on. Revoke a lost passkey before another one is registered.',
  pathParameters: {
    ...userPath,
    passkey_id: { schema: passkeyId, description: 'Id of the passkey.' },
  },
  success: { status: 200, description: 'The passkey is revoked.', schema: success },
  errors: ['invalid_request', 'reference_not_found', 'passkey_not_found', 'overloaded'],
  maxBodyBytes: SMALL_BODY_BYTES,
  idempotent: false,
  auditEvent: 'passkey_revoked',
  scopes: ['enroll'],
}

interface Input {
  user_id: string
  passkey_id: string
}

export function revokePasskey(services: PasskeyServices): UserEndpoint<Input> {
  const operations = new PasskeyOperations(services)
  return {
    ...revokePasskeyDescription,
    aboutUser: true,
    async handle({ input, tenant, environment, user }) {
      return async (tx) => {
        const unit = new OpenUnitOfWork(tx)
        const { passkey_id } = input
        await operations.revoke(tenant, unit, { environment, userId: user.id }, passkey_id)
        return { status: 200, body: { user_id: user.id, passkey_id, status: 'revoked' }, audit: unit.facts }
      }
    },
  }
}
