/** The SQL of the service's own keys, and of everything that is sealed under them. */
import type { Connection } from '../connection.js'
import type { KeyringRecord, SealedRow, VerdictKeyRecord } from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import { KEYRING, VERDICT_KEY } from '../tables.js'

type KeysReader = Pick<StoreReader, 'keyrings' | 'sealedRows' | 'verdictKeys'>
type KeysWriter = Pick<
  StoreTransaction,
  'putKeyring' | 'deleteKeyring' | 'putSealed' | 'insertVerdictKey' | 'setVerdictKeyEnd' | 'deleteVerdictKeys'
>

export function keysReader(database: Connection): KeysReader {
  const sql = {
    keyrings: database.prepare<[], KeyringRecord>(
      `SELECT ${KEYRING.fields} FROM keyring ORDER BY created_at`,
    ),
    verdictKeys: database.prepare<[], VerdictKeyRecord>(
      `SELECT ${VERDICT_KEY.fields} FROM verdict_key ORDER BY signs_from, id`,
    ),
    // Responses of a user are sealed under the user's own key, so they are left out.
    sealedResponses: database.prepare<[Buffer, number], { scope: Buffer; sealed: Buffer }>(
      'SELECT scope, sealed FROM idempotency WHERE scope > ? AND subject_id IS NULL ORDER BY scope LIMIT ?',
    ),
    sealedRows: {
      subject: database.prepare<[string, number], SealedRow>(
        'SELECT id, wrapped_key AS sealed FROM subject WHERE id > ? ORDER BY id LIMIT ?',
      ),
      signing_secret: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM signing_secret WHERE id > ? ORDER BY id LIMIT ?',
      ),
      second_factor: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM second_factor WHERE id > ? ORDER BY id LIMIT ?',
      ),
      webhook_delivery: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM webhook_delivery WHERE id > ? AND subject_id IS NULL AND sealed IS NOT NULL ORDER BY id LIMIT ?',
      ),
      verdict_key: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM verdict_key WHERE id > ? ORDER BY id LIMIT ?',
      ),
      openid_key: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM openid_key WHERE id > ? ORDER BY id LIMIT ?',
      ),
      openid_client: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM openid_client WHERE id > ? ORDER BY id LIMIT ?',
      ),
    },
  }
  return {
    keyrings: async () => sql.keyrings.all(),
    verdictKeys: async () => sql.verdictKeys.all(),
    sealedRows: async (kind, after, limit) => {
      if (kind !== 'idempotency') return sql.sealedRows[kind].all(after, limit)
      const rows = await sql.sealedResponses.all(Buffer.from(after, 'hex'), limit)
      return rows.map(({ scope, sealed }) => ({ id: scope.toString('hex'), sealed }))
    },
  }
}

/** @param onErase called when a value that was sealed under an old key was replaced */
export function keysWriter(database: Connection, onErase: () => void): KeysWriter {
  const sql = {
    putKeyring: database.prepare(KEYRING.replace),
    deleteKeyring: database.prepare('DELETE FROM keyring WHERE master_key_id = ?'),
    insertVerdictKey: database.prepare(VERDICT_KEY.insert),
    setVerdictKeyEnd: database.prepare('UPDATE verdict_key SET gone_at = ? WHERE id = ?'),
    deleteVerdictKeys: database.prepare('DELETE FROM verdict_key WHERE environment = ?'),
    putSealedResponse: database.prepare<[{ scope: Buffer; sealed: Buffer }]>(
      'UPDATE idempotency SET sealed = @sealed WHERE scope = @scope',
    ),
    putSealed: {
      subject: database.prepare<[SealedRow]>('UPDATE subject SET wrapped_key = @sealed WHERE id = @id'),
      signing_secret: database.prepare<[SealedRow]>(
        'UPDATE signing_secret SET sealed = @sealed WHERE id = @id',
      ),
      second_factor: database.prepare<[SealedRow]>(
        'UPDATE second_factor SET sealed = @sealed WHERE id = @id',
      ),
      webhook_delivery: database.prepare<[SealedRow]>(
        // The body of a delivery may have been deleted meanwhile.
        'UPDATE webhook_delivery SET sealed = @sealed WHERE id = @id AND sealed IS NOT NULL',
      ),
      verdict_key: database.prepare<[SealedRow]>('UPDATE verdict_key SET sealed = @sealed WHERE id = @id'),
      openid_key: database.prepare<[SealedRow]>('UPDATE openid_key SET sealed = @sealed WHERE id = @id'),
      openid_client: database.prepare<[SealedRow]>(
        'UPDATE openid_client SET sealed = @sealed WHERE id = @id',
      ),
    },
  }
  return {
    putKeyring: async (keyring) => void sql.putKeyring.run(keyring),
    deleteKeyring: async (masterKeyId) => {
      sql.deleteKeyring.run(masterKeyId)
      onErase()
    },
    insertVerdictKey: async (key) => void sql.insertVerdictKey.run(key),
    setVerdictKeyEnd: async (id, goneAt) => void sql.setVerdictKeyEnd.run(goneAt, id),
    deleteVerdictKeys: async (environment) => {
      sql.deleteVerdictKeys.run(environment)
      onErase()
    },
    putSealed: async (kind, row) => {
      if (kind === 'idempotency')
        sql.putSealedResponse.run({ scope: Buffer.from(row.id, 'hex'), sealed: row.sealed })
      else sql.putSealed[kind].run(row)
      onErase()
    },
  }
}
