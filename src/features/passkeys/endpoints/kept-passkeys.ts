/**
 * The passkeys that are registered: GET /v1/users/{user_id}/passkeys lists them, DELETE …/passkeys/{passkey_id} revokes one, and
 * DELETE …/passkeys/recovery cancels the recovery of a lost one.
 */

import Type from 'typebox'
import type { EndpointDescription, UserEndpoint } from '../../../api/endpoint.js'
import { listOf, userId, userPath } from '../../../api/schemas.js'
import { OpenUnitOfWork } from '../../../audit/audited-unit-of-work.js'
import { PasskeyOperations } from '../passkey-operations.js'
import { PASSKEYS, passkeyId, passkeySchema } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'
import { passkeyView } from '../passkey-views.js'

const listed = Type.Object(
  {
    user_id: userId,
    ...listOf(
      passkeySchema,
      'Oldest first.',
      Type.Null({ description: 'A user has at most ten: they come at once.' }),
    ),
  },
  { title: 'PasskeyList' },
)

export const listPasskeysDescription: EndpointDescription = {
  id: 'list_passkeys',
  topic: PASSKEYS,
  sdkName: 'listPasskeys',
  method: 'GET',
  path: '/v1/users/{user_id}/passkeys',
  summary: 'List a user’s passkeys',
  description: 'Lists the passkeys that are registered for a user, oldest first.',
  pathParameters: userPath,
  success: { status: 200, description: 'The passkeys.', schema: listed },
  errors: ['invalid_request', 'reference_not_found', 'overloaded'],
  scopes: ['read'],
}

export function listPasskeys(services: PasskeyServices): UserEndpoint<{ user_id: string }> {
  const operations = new PasskeyOperations(services)
  return {
    ...listPasskeysDescription,
    aboutUser: true,
    async handle({ tenant, environment, user }) {
      const passkeys = await operations.list(tenant, { environment, userId: user.id })
      const data = passkeys.map(passkeyView)
      return { status: 200, body: { user_id: user.id, data, has_more: false, next_cursor: null } }
    },
  }
}

const revoked = Type.Object(
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
  success: { status: 200, description: 'The passkey is revoked.', schema: revoked },
  errors: ['invalid_request', 'reference_not_found', 'passkey_not_found', 'overloaded'],
  auditEvent: 'passkey_revoked',
  scopes: ['enroll'],
}

export function revokePasskey(
  services: PasskeyServices,
): UserEndpoint<{ user_id: string; passkey_id: string }> {
  const operations = new PasskeyOperations(services)
  return {
    ...revokePasskeyDescription,
    aboutUser: true,
    handle:
      async ({ input: { passkey_id }, tenant, environment, user }) =>
      async (tx) => {
        const unit = new OpenUnitOfWork(tx)
        await operations.revoke(tenant, unit, { environment, userId: user.id }, passkey_id)
        return { status: 200, body: { user_id: user.id, passkey_id, status: 'revoked' }, audit: unit.facts }
      },
  }
}

const cancelled = Type.Object(
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
  success: { status: 200, description: 'The recovery is cancelled.', schema: cancelled },
  errors: ['invalid_request', 'reference_not_found', 'passkey_recovery_not_found', 'overloaded'],
  auditEvent: 'passkey_recovery_cancelled',
  scopes: ['recover'],
}

export function cancelPasskeyRecovery(services: PasskeyServices): UserEndpoint<{ user_id: string }> {
  const operations = new PasskeyOperations(services)
  return {
    ...cancelPasskeyRecoveryDescription,
    aboutUser: true,
    handle:
      async ({ tenant, environment, user }) =>
      async (tx) => {
        const unit = new OpenUnitOfWork(tx)
        await operations.cancelRecovery(tenant, unit, { environment, userId: user.id })
        return { status: 200, body: { user_id: user.id, status: 'cancelled' }, audit: unit.facts }
      },
  }
}
