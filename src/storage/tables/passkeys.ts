/** Passkeys. */
import { bytes, declareTable, integer, ofSubject, type Row, text } from '../table.js'

/** A user's passkey: a WebAuthn credential that proves possession of a device. */
export const PASSKEY = declareTable({
  name: 'passkey',
  columns: {
    id: text,
    subjectId: ofSubject,
    /** Keyed digest of tenant, environment and credential id: one credential belongs to one user. */
    lookup: bytes.with('UNIQUE'),
    /** JSON of the credential, sealed under the user's data key. */
    sealed: bytes,
    createdAt: integer,
    /** When the passkey last signed for a verdict; null before the first. */
    lastUsedAt: integer.orNull,
  },
  key: ['id'],
  indexes: {
    passkey_of_subject: '(subject_id)',
  },
  hasRowId: true,
  atErasure: 'deleted',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'data key',
})
export type PasskeyRecord = Row<typeof PASSKEY>
