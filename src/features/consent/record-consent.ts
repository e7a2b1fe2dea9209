/** POST /v1/users/{user_id}/consent: records that an enrolled user has agreed again, or to another text, without a photo. */

import Type, { type Static } from 'typebox'
import { ENROLLMENT, type EndpointDescription, type UserEndpoint } from '../../api/endpoint.js'
import { consent, text, userId, userPath } from '../../api/schemas.js'
import type { Services } from '../../api/services.js'
import { DomainError } from '../../lib/domain-error.js'

const body = Type.Object({ consent }, { title: 'RecordConsentRequest', additionalProperties: false })

const success = Type.Object(
  {
    user_id: userId,
    reference_id: text('The reference that the consent is for. It stays as it was.'),
    consent,
  },
  { title: 'RecordedConsent' },
)

export const recordConsentDescription: EndpointDescription = {
  id: 'record_consent',
  example: { user_id: 'ada+match', consent: { id: 'terms-2', agreed_at: '2026-11-23T12:00:00Z' } },
  topic: ENROLLMENT,
  sdkName: 'recordConsent',
  method: 'POST',
  path: '/v1/users/{user_id}/consent',
  summary: 'Record a new consent of an enrolled user',
  description:
    'Replaces the consent that was recorded with the reference, without a photo: the reference and its age stay as they are. Ask for the consent where the person is signed in. The audit log records the event, and not the id of the consent.',
  pathParameters: userPath,
  body,
  success: { status: 200, description: 'The consent is recorded.', schema: success },
  errors: ['invalid_request', 'reference_not_found', 'overloaded'],
  idempotent: true,
  auditEvent: 'consent_recorded',
  scopes: ['enroll'],
}

type Input = Static<typeof body> & { user_id: string }

export function recordConsent({ vault }: Pick<Services, 'vault'>): UserEndpoint<Input> {
  return {
    ...recordConsentDescription,
    aboutUser: true,
    async handle({ input, user }) {
      const { id, agreed_at: at } = input.consent
      return async (tx) => {
        const subject = await vault.find(tx, user.blindIndex, user.id)
        if (!subject?.reference) throw new DomainError('reference_not_found')
        const previous = await vault.recordConsent(tx, subject, subject.reference, { id, at })
        return {
          status: 200,
          body: { user_id: user.id, reference_id: subject.reference.id, consent: input.consent },
          sealedFor: { id: subject.record.id, dataKey: subject.dataKey },
          audit: {
            subject: subject.pseudonym,
            reference_id: subject.reference.id,
            // The id may name a record about the person, so that the log, which outlives the user, does not hold it.
            replaced: previous !== null,
          },
        }
      }
    },
  }
}
