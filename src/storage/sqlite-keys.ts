/** The SQL of the service's own keys, and of all that is sealed under them. */
import type { Database } from 'better-sqlite3'
import type { KeyringRecord, SealedRow } from './records.js'
import { KEYRING } from './sqlite-tables.js'
import type { StoreReader, StoreTransaction } from './store.js'

type KeysReader = Pick<StoreReader, 'keyrings' | 'sealedRows'>
type KeysWriter = Pick<StoreTransaction, 'putKeyring' | 'deleteKeyring' | 'putSealed'>

export function keysReader(database: Database): KeysReader {
  const sql = {
    keyrings: database.prepare<[], KeyringRecord>(
      `SELECT ${KEYRING.fields} FROM keyring ORDER BY created_at`,
    ),
    sealedRows: {
      subject: database.prepare<[string, number], SealedRow>(
        'SELECT id, wrapped_key AS sealed FROM subject WHERE id > ? ORDER BY id LIMIT ?',
      ),
      signing_secret: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM signing_secret WHERE id > ? ORDER BY id LIMIT ?',
      ),
      // Those of a user are sealed under the user's own key.
      idempotency: database.prepare<[string, number], SealedRow>(
        'SELECT lower(hex(scope)) AS id, sealed FROM idempotency WHERE scope > unhex(?) AND subject_id IS NULL ORDER BY scope LIMIT ?',
      ),
      webhook_delivery: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM webhook_delivery WHERE id > ? AND subject_id IS NULL AND sealed IS NOT NULL ORDER BY id LIMIT ?',
      ),
    },
  }
  return {
    keyrings: async () => sql.keyrings.all(),
    sealedRows: async (kind, after, limit) => sql.sealedRows[kind].all(after, limit),
  }
}

/** @param onErase told when what was sealed under an old key was replaced */
export function keysWriter(database: Database, onErase: () => void): KeysWriter {
  const sql = {
    putKeyring: database.prepare(KEYRING.replace),
    deleteKeyring: database.prepare('DELETE FROM keyring WHERE master_key_id = ?'),
    putSealed: {
      subject: database.prepare<[SealedRow]>('UPDATE subject SET wrapped_key = @sealed WHERE id = @id'),
      signing_secret: database.prepare<[SealedRow]>(
        'UPDATE signing_secret SET sealed = @sealed WHERE id = @id',
      ),
      idempotency: database.prepare<[SealedRow]>(
        'UPDATE idempotency SET sealed = @sealed WHERE scope = unhex(@id)',
      ),
      webhook_delivery: database.prepare<[SealedRow]>(
        // Its body may have been forgotten meanwhile.
        'UPDATE webhook_delivery SET sealed = @sealed WHERE id = @id AND sealed IS NOT NULL',
      ),
    },
  }
  return {
    putKeyring: async (keyring) => void sql.putKeyring.run(keyring),
    deleteKeyring: async (masterKeyId) => {
      sql.deleteKeyring.run(masterKeyId)
      onErase()
    },
    putSealed: async (kind, row) => {
      sql.putSealed[kind].run(row)
      onErase()
    },
  }
}
