/** DELETE /v1/delete: erases a user completely (GDPR article 17, CCPA). */
import Type, { type Static } from 'typebox'
import { ApiError } from '../api-error.js'
import { DAY_MS, isoTime } from '../clock.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { ErasureRecord } from '../storage/records.js'
import type { Endpoint, EndpointDescription } from './endpoint.js'
import { time, userId } from './schemas.js'
import type { Services } from './services.js'

/** How long a repeated request gets the same receipt. */
const RECEIPT_MS = DAY_MS

const body = Type.Object({ user_id: userId }, { additionalProperties: false })

const count = (description: string) => Type.Integer({ minimum: 0, description })

const success = Type.Object({
  user_id: userId,
  status: Type.Literal('erased'),
  erasure_id: Type.String(),
  erased_at: time('When the user was erased.'),
  erased: Type.Object({
    references: count('Biometric references.'),
    captures: count('Remembered captures, kept for telling replays.'),
    idempotency_records: count('Kept responses.'),
  }),
})

export const deleteDescription: EndpointDescription = {
  id: 'delete',
  method: 'DELETE',
  path: '/v1/delete',
  summary: 'Erase a user',
  description:
    'Erases the user: reference, remembered captures, kept responses and the data key that sealed them. A repeat within 24 hours returns the same receipt.',
  body,
  bodyOptional: true,
  query: { user_id: { schema: userId, description: 'Instead of a body.' } },
  success: { status: 200, description: 'The receipt of the erasure.', schema: success },
  // The sandbox has it on demand, for `+unavailable`.
  errors: ['reference_not_found', 'overloaded'],
  usesEngine: false,
  idempotent: false,
  audited: true,
  answersWithoutStore: false,
}

export function erase({ vault, clock }: Services): Endpoint<Static<typeof body>> {
  return {
    ...deleteDescription,
    async handle({ input, tenant, environment }) {
      const lookup = vault.lookup(tenant.id, environment, input.user_id)
      return async (tx) => {
        const subject = await vault.find(tx, lookup, input.user_id)
        if (!subject) {
          const receipt = await tx.erasure(lookup, clock.now())
          if (!receipt) throw new ApiError('reference_not_found')
          return {
            status: 200,
            body: view(receipt, input.user_id),
            audit: { erasure_id: receipt.erasureId, repeated: true },
          }
        }
        const now = clock.now()
        const erasure: ErasureRecord = {
          lookup,
          erasureId: prefixedId('era', now),
          erasedAt: now,
          expiresAt: now + RECEIPT_MS,
          ...(await tx.eraseSubject(lookup)),
        }
        await tx.putErasure(erasure)
        return {
          status: 200,
          body: view(erasure, input.user_id),
          observed: { effect: 'erased' },
          audit: {
            subject: subject.pseudonym,
            erasure_id: erasure.erasureId,
            references: erasure.references,
            captures: erasure.captures,
            idempotency_records: erasure.idempotencyRecords,
          },
        }
      }
    },
  }
}

function view(erasure: ErasureRecord, user: string): Record<string, unknown> {
  return {
    user_id: user,
    status: 'erased',
    erasure_id: erasure.erasureId,
    erased_at: isoTime(erasure.erasedAt),
    erased: {
      references: erasure.references,
      captures: erasure.captures,
      idempotency_records: erasure.idempotencyRecords,
    },
  }
}
