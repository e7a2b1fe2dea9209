/** The table of passkeys with its statements, and those on what a tenant and a user keep about passkeys in tables of the core. */
import { isoTime, optionalTime } from '../../lib/clock.js'
import { type Connection, type ReadConnection, reading } from '../../storage/connection.js'
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
  hasRowId: true,
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
  isCopied: true,
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

export function passkeyWriter(database: Connection) {
  const sql = {
    insert: database.prepare(`${PASSKEY.insert} ON CONFLICT (lookup) DO NOTHING`),
    noteUse: database.prepare(
      'UPDATE passkey SET sealed = @sealed, last_used_at = @lastUsedAt WHERE id = @id',
    ),
    delete: database.prepare('DELETE FROM passkey WHERE subject_id = ? AND id = ?'),
    setState: database.prepare(
      'UPDATE subject SET passkey_recovery = @passkeyRecovery, passkey_recovery_at = @passkeyRecoveryAt, revoked_passkey = @revokedPasskey WHERE id = @subjectId',
    ),
    setSettings: database.prepare('UPDATE tenant SET passkeys = ? WHERE id = ?'),
  }
  return {
    ...passkeyReader(database),
    /** Inserts the passkey unless its credential is registered already. @returns whether it was inserted */
    insert: async (passkey: PasskeyRecord) => (await sql.insert.run(passkey)).changes === 1,
    noteUse: async (use: Pick<PasskeyRecord, 'id' | 'sealed' | 'lastUsedAt'>) => void sql.noteUse.run(use),
    /** @returns false when the subject had no such passkey */
    delete: async (subjectId: string, id: string) => (await sql.delete.run(subjectId, id)).changes === 1,
    /** Sets the recovery that waits, and the strongest passkey that was revoked. */
    setState: async (
      subjectId: string,
      state: Pick<SubjectRecord, 'passkeyRecovery' | 'passkeyRecoveryAt' | 'revokedPasskey'>,
    ) => void sql.setState.run({ ...state, subjectId }),
    /** @param settings JSON; null to use no passkeys */
    setSettings: async (tenantId: string, settings: string | null) =>
      void sql.setSettings.run(settings, tenantId),
  }
}
