/** The table of approvals that wait for a second person, and its statements. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
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
} from '../../storage/table.js'

/** A user's approval of an action that needs a second person, until that person's verdict uses it up. */
export const APPROVAL = declareTable({
  name: 'approval',
  columns: {
    /** Verification id of the first person's verdict. */
    id: text,
    tenantId: ofTenant,
    environment,
    /** Blind index of the first person, whose erasure deletes the approval. */
    blindIndex,
    /** HMAC of the action. */
    binding: bytes,
    /** Hash of the policy under which the first person approved. */
    policyHash: text,
    createdAt: integer,
    expiresAt: integer,
    /** When a verdict used the approval; null while it can be used. */
    usedAt: integer.orNull,
  },
  key: ['id'],
  indexes: {
    approval_expiry: '(expires_at)',
    approval_user: '(lookup)',
    approval_tenant_id: '(tenant_id)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt', keptMs: LATE_MS },
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type ApprovalRecord = Row<typeof APPROVAL>

export function approvalReader(database: ReadConnection) {
  return { one: reading(database).from(APPROVAL).row<[id: string]>('WHERE id = ?') }
}

export function approvalWriter(database: Connection) {
  const { insert, hits } = writing(database)
  return {
    insert: insert(APPROVAL),
    /** Marks the approval as used. @returns whether it was unused before */
    use: hits<[at: number, id: string]>('UPDATE approval SET used_at = ? WHERE id = ? AND used_at IS NULL'),
  }
}
