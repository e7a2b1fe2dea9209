/** GET /v1/users/{user_id}/passkeys: the passkeys of a user. */

import Type from 'typebox'
import { type EndpointDescription, SMALL_BODY_BYTES, type UserEndpoint } from '../../../api/endpoint.js'
import { listOf, userId, userPath } from '../../../api/schemas.js'
import { PasskeyOperations } from '../passkey-operations.js'
import { PASSKEYS, passkeySchema } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'
import { passkeyView } from '../passkey-views.js'

const success = Type.Object(
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
  success: { status: 200, description: 'The passkeys.', schema: success },
  errors: ['invalid_request', 'reference_not_found', 'overloaded'],
  maxBodyBytes: SMALL_BODY_BYTES,
  idempotent: false,
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
