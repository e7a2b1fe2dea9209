/** The table of challenges with its statements, which passkeys have in common with this feature. It is known without loading either. */
import { type Connection, type ReadConnection, reading, writing } from '../../../storage/connection.js'
import {
  blindIndex,
  bytes,
  declareTable,
  environment,
  integer,
  LATE_MS,
  ofTenant,
  type Row,
  text,
} from '../../../storage/table.js'

/** A challenge that was issued. */
export const CHALLENGE = declareTable({
  name: 'challenge',
  columns: {
    id: text,
    tenantId: ofTenant,
    environment,
    /** Blind index of the user whose erasure deletes the challenge. */
    blindIndex,
    /** HMAC of user, purpose and action under the challenge's nonce. */
    binding: bytes,
    /** Steps of the challenge, separated by blanks. */
    steps: text,
    /** Text of a typed action that the challenge's answer held, sealed under the nonce; null for none. */
    display: bytes.orNull,
    createdAt: integer,
    expiresAt: integer,
    /** When the challenge was used; null while it can be used. */
    usedAt: integer.orNull,
  },
  key: ['id'],
  indexes: {
    challenge_of_tenant: { postgres: '(tenant_id)' },
    challenge_lookup: '(lookup)',
    challenge_expires_at: '(expires_at)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  leavesToTime: true,
  expires: { at: 'expiresAt', keptMs: LATE_MS },
  sealedUnder: 'own key',
})
export type ChallengeRecord = Row<typeof CHALLENGE>

export function challengeReader(database: ReadConnection) {
  return { find: reading(database).from(CHALLENGE).row<[id: string]>('WHERE id = ?', 'brief') }
}

export function challengeWriter(database: Connection) {
  const { insert } = writing(database)
  const use = database.prepare('UPDATE challenge SET used_at = ? WHERE id = ? AND used_at IS NULL')
  return {
    insert: insert(CHALLENGE),
    /** Marks the challenge as used. @returns whether it was unused before */
    use: async (id: string, at: number) => (await use.run(at, id)).changes === 1,
  }
}
