/** POST /v1/users/{user_id}/passkeys/assertion: options with which a passkey signs for one action. */

import Type, { type Static } from 'typebox'
import { actionField, canonicalAction } from '../../../api/action.js'
import type { Commit, EndpointDescription, UserEndpoint } from '../../../api/endpoint.js'
import { time, userPath } from '../../../api/schemas.js'
import { isoTime } from '../../../lib/clock.js'
import { DomainError } from '../../../lib/domain-error.js'
import { typedActions } from '../../displayed-actions/exports.js'
import { ceremonySubject, passkeyChallenge, requestOptions } from '../passkey-challenge.js'
import { requiredSettings } from '../passkey-proof.js'
import { challengeId, nonce, PASSKEY_BODY_BYTES, PASSKEYS, requestOptionsSchema } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'

/** Five minutes, the shortest time that WebAuthn recommends for a person and an authenticator. */
export const CEREMONY_MS = 300_000

/** The kinds of actions that a verify knows. */
const KINDS = [typedActions]

const body = Type.Object(
  { action: actionField(KINDS) },
  { title: 'PasskeyAssertionRequest', additionalProperties: false },
)

const success = Type.Object(
  {
    challenge_id: challengeId,
    nonce,
    options: requestOptionsSchema,
    expires_at: time('When the options expire: the verification must have begun by then.'),
  },
  { title: 'PasskeyAssertionChallenge' },
)

export const beginPasskeyAssertionDescription: EndpointDescription = {
  id: 'begin_passkey_assertion',
  topic: PASSKEYS,
  sdkName: 'beginPasskeyAssertion',
  method: 'POST',
  path: '/v1/users/{user_id}/passkeys/assertion',
  summary: 'Ask a passkey to sign for an action',
  description:
    'Makes the options with which a passkey of the user signs for one action, once. Send the answer with a verification with photos, in `passkey_assertion`. For a verification with frames, ask for the challenge with `passkey` instead.',
  pathParameters: userPath,
  body,
  success: { status: 201, description: 'The options.', schema: success },
  errors: ['reference_not_found', 'passkeys_unavailable', 'passkey_not_found', 'overloaded'],
  maxBodyBytes: PASSKEY_BODY_BYTES,
  idempotent: true,
  scopes: ['verify'],
}

type Input = Static<typeof body> & { user_id: string }

export function beginPasskeyAssertion(services: PasskeyServices): UserEndpoint<Input> {
  const { vault, store, challenges, passkeys } = services
  return {
    ...beginPasskeyAssertionDescription,
    aboutUser: true,
    async handle(call): Promise<Commit> {
      const { input, tenant, user } = call
      const settings = requiredSettings(tenant)
      const action = canonicalAction(input.action, KINDS)
      const subject = await vault.find(store.read, user.blindIndex, user.id)
      if (!subject) throw new DomainError('reference_not_found')
      const known = await passkeys.of(store.read, subject)
      if (known.length === 0) throw new DomainError('passkey_not_found')
      return async (tx) => {
        const asked = ceremonySubject(call, 'passkey_assertion', action)
        const { id, nonce, expiresAt } = await challenges.issue(tx, asked, CEREMONY_MS)
        const challenge = passkeyChallenge(nonce, action)
        const options = requestOptions(settings, { challenge, passkeys: known, timeoutMs: CEREMONY_MS })
        return {
          status: 201,
          body: { challenge_id: id, nonce, options, expires_at: isoTime(expiresAt) },
          sealedFor: { id: subject.record.id, dataKey: subject.dataKey },
        }
      }
    },
  }
}
