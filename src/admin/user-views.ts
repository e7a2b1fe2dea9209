/** Serializers: the JSON of users and of their erasure, as the API, the command line and the dashboard show it. */
import { isoTime, optionalTime } from '../lib/clock.js'
import { wire } from '../lib/wire.js'
import type { ErasureRecord, ReferenceRecord } from '../storage/records.js'
import type { Erased } from '../storage/table.js'
import type { AgreedText, Consent, ReferenceContent, Subject } from '../users/template-vault.js'
import type { LockoutReason } from '../verification/lockout/lockout.js'

/** The facts of an erasure in its entry of the audit log. */
export function erasureFacts(receipt: ErasureRecord) {
  return { ...wire(receipt, 'erasureId'), ...erasedCounts(receipt) }
}

export function erasedCounts(erased: Erased) {
  return wire(erased, 'references', 'captures', 'passkeys', 'idempotencyRecords')
}

/** @param userId as the caller wrote it: the database does not hold it */
export function erasureView(receipt: ErasureRecord, userId: string) {
  return {
    user_id: userId,
    status: 'erased' as const,
    ...wire(receipt, 'erasureId', 'erasedAt'),
    erased: erasedCounts(receipt),
  }
}

/** @param userId as the caller wrote it: the database does not hold it */
export function userView(
  userId: string,
  { record }: Pick<Subject, 'record'>,
  reference: Pick<ReferenceRecord, 'id' | 'model' | 'createdAt'> &
    Pick<ReferenceContent, 'photoCount' | 'consent'>,
  lockout: { reason: LockoutReason; until: number | null } | null,
  /** How many credentials besides the face the user has, by the fields of the answer. */
  credentials: Readonly<Record<string, number>>,
) {
  return {
    user_id: userId,
    status: 'enrolled' as const,
    enrolled_at: isoTime(record.createdAt),
    reference: {
      reference_id: reference.id,
      created_at: isoTime(reference.createdAt),
      model: reference.model,
      views: reference.photoCount,
      consent: consentView(reference.consent),
    },
    lockout: {
      status: lockout?.reason ?? ('none' as const),
      ends_at: optionalTime(lockout?.until ?? null),
      rejections: record.failures,
    },
    ...credentials,
  }
}

function consentView(consent: Consent | null) {
  return consent && { id: consent.id, agreed_at: consent.at }
}

/** A text that people have agreed to on the hosted capture page, in the language of the page that showed it first. */
export function consentTextView(agreed: AgreedText) {
  return {
    sha256: agreed.sha256.toString('hex'),
    ...wire(agreed, 'version', 'language', 'firstAgreedAt', 'text'),
  }
}
