/** The records of all tables, and what queries make of them. `sealed` and `wrapped` bytes are opaque to storage. */
import type { AuditRecord, AuditSealRecord, CaptureRecord, SubjectRecord } from './tables/index.js'

export type * from './tables/index.js'

export interface SealedRow {
  /** Id of the row, which orders the rows of a kind and is the context of the sealing. */
  id: string
  sealed: Buffer
}

/** How many of a tenant's enrolled production users have a template of a model. */
export interface ModelCoverage {
  tenantId: string
  users: number
  covered: number
  /** Templates next to a reference that were made since the time that was asked for. */
  recent: number
}

export interface CaptureHistory {
  /** Whether the history contains one of the digests that were asked for. */
  hasDigest: boolean
  /** The sealed embeddings of the newest captures, without captures of which only the digest is kept. */
  newest: Buffer[]
  /** Position of the latest capture, after which later captures come; 0 when there is none. */
  last: number
}

/** How a user stands at the moment of a verdict. */
export interface Standing extends Pick<SubjectRecord, 'id' | 'failures' | 'lockedUntil' | 'disabledAt'> {
  /** Hash of the policy that is in force for the user; null for none. */
  policyHash: string | null
  /** Captures after a position of the history, in the order in which they were remembered. */
  captures: CaptureRecord[]
}

/** An entry of the audit log about a verification, and what the log says later about its user. */
export interface AuditedVerification {
  /** Canonical JSON of the entry. */
  entry: string
  /** Whether the log records the erasure of the user. */
  isErased: boolean
  /** Whether the database was restored afterwards: erasures between backup and restore are not in the log. */
  isBeforeRestore: boolean
}

/** The last entry of a log and its seal, read in one snapshot. Both are undefined for an empty log. */
export interface AuditEnd {
  head: AuditRecord | undefined
  seal: AuditSealRecord | undefined
}
