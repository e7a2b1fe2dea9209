/** POST /v1/users/{user_id}/passkeys/registration: options with which a browser makes a passkey for a user. */

import Type, { type Static } from 'typebox'
import type { Commit, EndpointDescription, UserEndpoint } from '../../../api/endpoint.js'
import { ownId, time, userPath } from '../../../api/schemas.js'
import { isoTime } from '../../../lib/clock.js'
import { DomainError } from '../../../lib/domain-error.js'
import { companyOf } from '../../../tenants/company.js'
import type { UserCall } from '../../../verification/call.js'
import { ceremonySubject, creationOptions, passkeyChallenge } from '../passkey-challenge.js'
import { requiredSettings } from '../passkey-proof.js'
import { MAX_PASSKEYS } from '../passkey-registration.js'
import { challengeId, creationOptionsSchema, nonce, PASSKEYS, passkeyName } from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'
import { assertRegistrable } from '../registration-permit.js'
import { CEREMONY_MS } from './begin-passkey-assertion.js'

export const verificationIdField = ownId(
  'Id of an approved verification of this user for an action with the type `register_passkey`, with a check of liveness, made in the last ten minutes. Required where the tenant’s settings ask for it, which is their default. For a user who has a passkey, or had one, that verify needs the `passkey_assertion` of one at least as strong; or give the verification that began a recovery.',
)

const body = Type.Object(
  {
    user_name: Type.Optional(
      Type.String({
        ...passkeyName,
        description: 'Name that the device shows for the account. Default: the user id.',
        examples: ['ada@example.com'],
      }),
    ),
    verification_id: Type.Optional(verificationIdField),
  },
  { title: 'PasskeyRegistrationRequest', additionalProperties: false },
)

const success = Type.Object(
  {
    challenge_id: challengeId,
    nonce,
    options: creationOptionsSchema,
    expires_at: time('When the options expire: the answer must have arrived by then.'),
  },
  { title: 'PasskeyRegistrationChallenge' },
)

export const beginPasskeyRegistrationDescription: EndpointDescription = {
  id: 'begin_passkey_registration',
  topic: PASSKEYS,
  sdkName: 'beginPasskeyRegistration',
  method: 'POST',
  path: '/v1/users/{user_id}/passkeys/registration',
  summary: 'Begin the registration of a passkey',
  description:
    'Makes the options with which a browser makes a passkey for an enrolled user. Pass them to a page on which the user is signed in, and its answer to `POST /v1/users/{user_id}/passkeys`.',
  pathParameters: userPath,
  body,
  bodyOptional: true,
  success: { status: 201, description: 'The options.', schema: success },
  errors: [
    'reference_not_found',
    'passkeys_unavailable',
    'passkey_verdict_required',
    'passkey_proof_required',
    'passkey_recovery_pending',
    'passkey_limit_reached',
    'overloaded',
  ],
  idempotent: true,
  scopes: ['enroll'],
}

type Input = Static<typeof body> & { user_id: string }

export function beginPasskeyRegistration(services: PasskeyServices): UserEndpoint<Input> {
  const { vault, store, clock, challenges, passkeys } = services
  return {
    ...beginPasskeyRegistrationDescription,
    aboutUser: true,
    async handle(call): Promise<Commit> {
      const { input, tenant, user } = call
      const settings = requiredSettings(tenant)
      const subject = await vault.find(store.read, user.blindIndex, user.id)
      if (!subject?.reference) throw new DomainError('reference_not_found')
      await assertRegistrable(store.read, passkeys, {
        settings,
        subject,
        verificationId: input.verification_id,
        now: clock.now(),
      })
      const known = await passkeys.of(store.read, subject)
      if (known.length >= MAX_PASSKEYS) throw new DomainError('passkey_limit_reached')
      const names = { company: companyOf(tenant), user: input.user_name ?? user.id }
      return async (tx) => {
        const asked = registrationSubject(call, input.verification_id)
        const { id, nonce, expiresAt } = await challenges.issue(tx, asked, CEREMONY_MS)
        const challenge = passkeyChallenge(nonce, null)
        const parts = { challenge, passkeys: known, names, timeoutMs: CEREMONY_MS }
        const options = creationOptions(settings, user, parts)
        return {
          status: 201,
          body: { challenge_id: id, nonce, options, expires_at: isoTime(expiresAt) },
          sealedFor: { id: subject.record.id, dataKey: subject.dataKey },
        }
      }
    },
  }
}

/** The subject of the challenge of a registration: it names the verdict that permits it. */
export function registrationSubject(call: UserCall<unknown>, verificationId: string | undefined) {
  return ceremonySubject(call, 'passkey_registration', verificationId ?? null)
}
