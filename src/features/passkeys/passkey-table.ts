/** The table of passkeys with its statements, and those on what a tenant and a user keep about passkeys in tables of the core. */
import { isoTime, optionalTime } from '../../lib/clock.js'
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import type { SubjectRecord } from '../../storage/records.js'
import { bytes, declareTable, integer, ofSubject, type Row, text } from '../../storage/table.js'

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
  atErasure: 'deleted',
  countedAs: 'passkeys',
  shown: {
    as: 'passkeys',
    areCredentials: true,
    orderedBy: 'created_at, id',
    view: ({ id, createdAt, lastUsedAt }) => ({
      passkey_id: id,
      created_at: isoTime(createdAt),
      last_used_at: optionalTime(lastUsedAt),
    }),
  },
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'data key',
})
export type PasskeyRecord = Row<typeof PASSKEY>

export function passkeyReader(database: ReadConnection) {
  return {
    /** The passkeys of a subject, oldest first. */
    of: reading(database)
      .from(PASSKEY)
      .rows<[subjectId: string]>('WHERE subject_id = ? ORDER BY created_at, id'),
  }
}

type PasskeyState = Pick<SubjectRecord, 'id' | 'passkeyRecovery' | 'passkeyRecoveryAt' | 'revokedPasskey'>

export function passkeyWriter(database: Connection) {
  const { hits, run } = writing(database)
  return {
    ...passkeyReader(database),
    /** Inserts the passkey unless its credential is registered already. @returns whether it was inserted */
    insert: hits<[passkey: PasskeyRecord]>(`${PASSKEY.insert} ON CONFLICT (lookup) DO NOTHING`),
    noteUse: run<[use: Pick<PasskeyRecord, 'id' | 'sealed' | 'lastUsedAt'>]>(
      'UPDATE passkey SET sealed = @sealed, last_used_at = @lastUsedAt WHERE id = @id',
    ),
    /** @returns false when the subject had no such passkey */
    delete: hits<[subjectId: string, id: string]>('DELETE FROM passkey WHERE subject_id = ? AND id = ?'),
    /** Sets the recovery that waits, and the strongest passkey that was revoked. */
    setState: run<[subject: PasskeyState]>(
      'UPDATE subject SET passkey_recovery = @passkeyRecovery, passkey_recovery_at = @passkeyRecoveryAt, revoked_passkey = @revokedPasskey WHERE id = @id',
    ),
    /** @param settings JSON; null to use no passkeys */
    setSettings: run<[settings: string | null, tenantId: string]>(
      'UPDATE tenant SET passkeys = ? WHERE id = ?',
    ),
  }
}
