/** Policies, approvals, and the use of users. */
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
} from '../table.js'

/** A policy that is or was in force. It is kept as long as the audit log whose verdicts name its hash. */
export const POLICY_VERSION = declareTable({
  name: 'policy_version',
  columns: {
    tenantId: ofTenant,
    /** SHA-256 of `policy`, in hex. */
    hash: text,
    /** JSON of the policy in RFC 8785 canonical form. */
    policy: text,
    firstSetAt: integer,
  },
  key: ['tenantId', 'hash'],
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type PolicyVersionRecord = Row<typeof POLICY_VERSION>

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
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt', keptMs: LATE_MS },
  isCopied: true,
  sealedUnder: 'nothing',
})
export type ApprovalRecord = Row<typeof APPROVAL>

/** When a production user was last enrolled or approved. Erased with the user. */
export const ACTIVITY = declareTable({
  name: 'user_activity',
  columns: {
    blindIndex,
    tenantId: ofTenant,
    /** The user's id, sealed under the user's data key, so that a notice of the erasure can name the user. */
    sealed: bytes,
    usedAt: integer,
    /** When the erasure of the user was announced; null while it is not, and after every use. */
    noticeAt: integer.orNull,
  },
  key: ['blindIndex'],
  indexes: {
    user_activity_unused: '(tenant_id, used_at) WHERE notice_at IS NULL',
    user_activity_noticed: '(tenant_id, notice_at) WHERE notice_at IS NOT NULL',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'data key',
})
export type ActivityRecord = Row<typeof ACTIVITY>

/** Since when a tenant's policy erases users that nobody uses. */
export const RETENTION_START = declareTable({
  name: 'retention_start',
  columns: {
    tenantId: ofTenant,
    since: integer,
  },
  key: ['tenantId'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
