/** POST /v1/users/{user_id}/passkeys: registers the passkey that a browser has made. */

import Type, { type Static } from 'typebox'
import type { EndpointDescription, UserEndpoint } from '../../../api/endpoint.js'
import { useUp } from '../../../api/good-once.js'
import { userId, userPath } from '../../../api/schemas.js'
import { DomainError } from '../../../lib/domain-error.js'
import { CHALLENGE_ERRORS } from '../../challenges/exports.js'
import { requiredSettings } from '../passkey-proof.js'
import { type RegistrationInput, registeredContent, storePasskey } from '../passkey-registration.js'
import {
  challengeId,
  nonce,
  PASSKEY_BODY_BYTES,
  PASSKEY_ERRORS,
  PASSKEY_REFUSALS,
  PASSKEYS,
  passkeyName,
  passkeySchema,
  registrationResponse,
} from '../passkey-schemas.js'
import type { PasskeyServices } from '../passkey-services.js'
import { passkeyView } from '../passkey-views.js'
import { useRegistrationGrant } from '../registration-permit.js'
import { registrationSubject, verificationIdField } from './begin-passkey-registration.js'

const body = Type.Object(
  {
    challenge_id: challengeId,
    nonce,
    credential: registrationResponse,
    name: Type.Optional(passkeyName),
    verification_id: Type.Optional(verificationIdField),
  },
  { title: 'PasskeyRegistration', additionalProperties: false },
)

const success = Type.Object({ user_id: userId, ...passkeySchema.properties }, { title: 'RegisteredPasskey' })

export const registerPasskeyDescription: EndpointDescription = {
  id: 'register_passkey',
  topic: PASSKEYS,
  sdkName: 'registerPasskey',
  method: 'POST',
  path: '/v1/users/{user_id}/passkeys',
  summary: 'Register a passkey',
  description:
    'Checks what the browser answered to the options of a registration, and stores the passkey for the user. The options are good once.',
  pathParameters: userPath,
  body,
  success: { status: 201, description: 'The passkey is registered.', schema: success },
  errors: [
    'reference_not_found',
    ...CHALLENGE_ERRORS,
    'passkey_verdict_required',
    'passkey_proof_required',
    'passkey_recovery_pending',
    'passkey_already_registered',
    'passkey_limit_reached',
    ...PASSKEY_ERRORS,
    'overloaded',
  ],
  maxBodyBytes: PASSKEY_BODY_BYTES,
  idempotent: true,
  auditEvent: 'passkey_registered',
  scopes: ['enroll'],
}

type Input = Omit<Static<typeof body>, 'credential'> & RegistrationInput & { user_id: string }

export function registerPasskey(services: PasskeyServices): UserEndpoint<Input> {
  const { vault, store, clock, challenges, passkeys } = services
  return {
    ...registerPasskeyDescription,
    aboutUser: true,
    async handle(call) {
      const { input, tenant, user } = call
      const settings = requiredSettings(tenant)
      const { challenge_id: id, nonce, verification_id: verificationId } = input
      const asked = registrationSubject(call, verificationId)
      const challenge = await challenges.open(store.read, { id, nonce }, asked)
      return useUp([challenge], new Set(PASSKEY_REFUSALS), async () => {
        const content = await registeredContent(services, settings, input, nonce)
        return async (tx) => {
          const subject = await vault.find(tx, user.blindIndex, user.id)
          if (!subject?.reference) throw new DomainError('reference_not_found')
          const { isRecovery } = await useRegistrationGrant(tx, passkeys, {
            settings,
            subject,
            verificationId,
            now: clock.now(),
          })
          const { passkey, audit } = await storePasskey(tx, services, user.id, subject, content, isRecovery)
          return {
            status: 201,
            body: { user_id: user.id, ...passkeyView(passkey) },
            sealedFor: { id: subject.record.id, dataKey: subject.dataKey },
            audit: {
              ...audit,
              subject: subject.pseudonym,
              ...(verificationId === undefined ? {} : { verification_id: verificationId }),
            },
          }
        }
      })
    },
  }
}
