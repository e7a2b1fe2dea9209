/** GET /v1/users/{user_id}/passkeys: the passkeys of a user. */

import Type from 'typebox'
import { type EndpointDescription, SMALL_BODY_BYTES, type UserEndpoint } from './endpoint.js'
import { PASSKEYS, passkeySchema } from './passkey-schemas.js'
import { listOf, userId } from './schemas.js'
import type { Services } from './services.js'

export const userPath = { user_id: { schema: userId, description: 'The user, percent-encoded.' } }

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
  usesEngine: false,
  maxBodyBytes: SMALL_BODY_BYTES,
  answersWithSecret: false,
  idempotent: false,
  auditEvent: null,
  answersWithoutStore: false,
  scopes: ['read'],
}

export function listPasskeys({
  operations,
}: Pick<Services, 'operations'>): UserEndpoint<{ user_id: string }> {
  return {
    ...listPasskeysDescription,
    aboutUser: true,
    async handle({ tenant, environment, user }) {
      const data = await operations.passkeys.list(tenant, { environment, userId: user.id })
      return { status: 200, body: { user_id: user.id, data, has_more: false, next_cursor: null } }
    },
  }
}
