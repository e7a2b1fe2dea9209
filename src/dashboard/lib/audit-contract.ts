/** The audit log as the dashboard's pages see it. They are built from this file too, so it imports nothing that runs. */
import type { AuditEventName } from '../../audit/audit-events.js'

/** The verdict of a verify; for every other event, whether it was `done` or `failed`. */
export const AUDIT_OUTCOMES = ['approved', 'rejected', 'done', 'failed'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** Filters of a log. An empty or missing field filters nothing. */
export interface AuditQuery {
  event?: AuditEventName | ''
  /** Request id or verification id. It contains its time, so that from and until are ignored. */
  id?: string
  /** Pseudonym of a user. */
  subject?: string
  outcome?: AuditOutcome | ''
  /** Start of the range, inclusive (ISO 8601). */
  from?: string
  /** End of the range, exclusive (ISO 8601). */
  until?: string
}

export interface AuditPageQuery extends AuditQuery {
  /** Sequence before which the page begins. */
  before?: string
}

export interface AuditEntry {
  sequence: number
  at: string
  event: AuditEventName
  actor: string
  status?: number
  code?: string
  /** Pseudonym of a user. */
  subject?: string
  verdict?: string
  /** Reason of a rejection. */
  reason?: string | null
  score?: number
  /** Chain value, in hex. */
  hash: string
  [fact: string]: unknown
}
