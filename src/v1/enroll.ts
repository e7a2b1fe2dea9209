/** POST /v1/enroll: captures a user's biometric reference. */
import Type, { type Static } from 'typebox'
import { ApiError } from '../api-error.js'
import { isoTime } from '../clock.js'
import { CLEAR } from '../subjects/lockout.js'
import type { Endpoint, EndpointDescription } from './endpoint.js'
import { decodeImages } from './images.js'
import { exactlyOneImageField, imageFields, liveness, quality, time, userId } from './schemas.js'
import type { Services } from './services.js'
import { livenessView, qualityView } from './views.js'

const body = Type.Object(
  {
    user_id: userId,
    ...imageFields,
    replace: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Replace the reference of a user who is enrolled already.',
      }),
    ),
    consent: Type.Optional(
      Type.Object(
        {
          id: Type.String({
            minLength: 1,
            maxLength: 256,
            description: 'Where the customer keeps the consent.',
          }),
          at: time('When the consent was given.'),
        },
        { additionalProperties: false, description: 'Recorded with the reference.' },
      ),
    ),
  },
  { additionalProperties: false, ...exactlyOneImageField },
)

const success = Type.Object({
  reference_id: Type.String(),
  user_id: userId,
  status: Type.Literal('enrolled'),
  quality,
  liveness,
  model: Type.String({ description: 'The model pack the reference was made with.' }),
  created_at: time('When the reference was captured.'),
})

export const enrollDescription: EndpointDescription = {
  id: 'enroll',
  method: 'POST',
  path: '/v1/enroll',
  summary: 'Enrol a user',
  description:
    'Captures a biometric reference at user creation. Several images are combined into one reference; every one of them must be usable.',
  body,
  success: { status: 201, description: 'The user is enrolled.', schema: success },
  errors: [
    'already_enrolled',
    'image_unreadable',
    'image_too_large',
    'image_too_small',
    'face_not_found',
    'multiple_faces',
    'face_too_small',
    'low_quality',
    'liveness_failed',
  ],
  usesEngine: true,
  answersWithSecret: false,
  idempotent: true,
  audited: true,
  answersWithoutStore: false,
}

export function enroll({ vault, store, recogniser, captures }: Services): Endpoint<Static<typeof body>> {
  return {
    ...enrollDescription,
    async handle(call) {
      const { input, tenant, environment } = call
      const images = decodeImages(input)
      const lookup = vault.lookup(tenant.id, environment, input.user_id)
      call.lookup = lookup
      // Asked before the engine works for nothing, and again in the transaction, which decides.
      const existing = await vault.find(store.read, lookup, input.user_id)
      if (existing?.reference && !input.replace) throw new ApiError('already_enrolled')
      const enrolled = await recogniser.enrol({
        userId: input.user_id,
        images,
        input,
        deadlineMs: call.deadlineMs,
        signal: call.signal,
      })
      Object.assign(call.timings, enrolled.timingsMs)
      const model = recogniser.model
      return async (tx) => {
        const found = await vault.find(tx, lookup, input.user_id)
        if (found?.reference && !input.replace) throw new ApiError('already_enrolled')
        const subject = found ?? vault.create(tenant.id, environment, lookup, input.user_id)
        if (found) await tx.setLockout(subject.record.id, CLEAR)
        else await tx.insertSubject(subject.record)
        const reference = await vault.putReference(tx, subject, model, {
          embedding: enrolled.reference,
          consent: input.consent ?? null,
        })
        const digests = captures.digest(subject, images, enrolled.reference.length)
        const embeddings = enrolled.samples.map(({ embedding }) => embedding)
        await captures.remember(tx, subject, digests, embeddings)
        return {
          status: 201,
          body: {
            reference_id: reference.id,
            user_id: input.user_id,
            status: 'enrolled',
            quality: qualityView(enrolled.quality),
            liveness: livenessView(enrolled.liveness),
            model,
            created_at: isoTime(reference.createdAt),
          },
          owner: { lookup, subject: { id: subject.record.id, dataKey: subject.dataKey } },
          audit: {
            subject: subject.pseudonym,
            reference_id: reference.id,
            model,
            replaced: Boolean(found?.reference),
            consent_recorded: input.consent !== undefined,
          },
        }
      }
    },
  }
}
