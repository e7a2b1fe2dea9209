/** The SQL of passkeys, and of the settings by which a tenant uses them. */
import type { Connection } from '../connection.js'
import type { PasskeyRecord } from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import { PASSKEY } from '../tables/index.js'

export function passkeyReader(database: Connection): Pick<StoreReader, 'passkeysOf' | 'countPasskeys'> {
  const sql = {
    passkeys: database.prepare<[string], PasskeyRecord>(
      `SELECT ${PASSKEY.fields} FROM passkey WHERE subject_id = ? ORDER BY created_at, id`,
    ),
    count: database.prepare<[string], number>('SELECT count(*) FROM passkey WHERE subject_id = ?').pluck(),
  }
  return {
    passkeysOf: async (subjectId) => sql.passkeys.all(subjectId),
    countPasskeys: async (subjectId) => (await sql.count.get(subjectId))!,
  }
}

export function passkeyWriter(
  database: Connection,
): Pick<
  StoreTransaction,
  'setPasskeySettings' | 'setPasskeyState' | 'insertPasskey' | 'notePasskeyUse' | 'deletePasskey'
> {
  const setSettings = database.prepare('UPDATE tenant SET passkeys = ? WHERE id = ?')
  const setState = database.prepare(
    'UPDATE subject SET passkey_recovery = @passkeyRecovery, passkey_recovery_at = @passkeyRecoveryAt, revoked_passkey = @revokedPasskey WHERE id = @subjectId',
  )
  const insert = database.prepare(`${PASSKEY.insert} ON CONFLICT (lookup) DO NOTHING`)
  const noteUse = database.prepare(
    'UPDATE passkey SET sealed = @sealed, last_used_at = @lastUsedAt WHERE id = @id',
  )
  const deleteOne = database.prepare('DELETE FROM passkey WHERE subject_id = ? AND id = ?')
  return {
    setPasskeySettings: async (tenantId, settings) => void setSettings.run(settings, tenantId),
    setPasskeyState: async (subjectId, { passkeyRecovery, passkeyRecoveryAt, revokedPasskey }) =>
      void setState.run({ subjectId, passkeyRecovery, passkeyRecoveryAt, revokedPasskey }),
    insertPasskey: async (passkey) => (await insert.run(passkey)).changes === 1,
    notePasskeyUse: async (use) => void noteUse.run(use),
    deletePasskey: async (subjectId, id) => (await deleteOne.run(subjectId, id)).changes === 1,
  }
}
