/** The audit log: one append-only chain a tenant; each entry's HMAC covers the one before, so nothing can be changed or cut out unseen. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, isoTime } from '../clock.js'
import { canonicalJson } from '../crypto/verification-jwt.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'

/** What happened. Users appear only as `subject`, a pseudonym under the user's own data key: erasure makes it unlinkable. */
export interface AuditEvent {
  event:
    | 'enroll'
    | 'verify'
    | 'delete'
    | 'rotate_signing'
    | 'key_revealed'
    | 'key_revoked'
    | 'key_reissued'
    | 'contract_changed'
  /** Who: an API key's id, `operator` at the command line, `dashboard:operator` or `dashboard:tenant`. */
  actor: string
  request_id: string | null
  /** HTTP status, for calls of the API. */
  status?: number
  /** Error code, where it failed. */
  code?: string
  subject?: string
  [fact: string]: unknown
}

const GENESIS = Buffer.alloc(32)
const PAGE = 500

export class AuditLog {
  constructor(
    private readonly chainKey: Buffer,
    private readonly clock: Clock,
  ) {}

  async append(tx: StoreTransaction, tenantId: string, event: AuditEvent): Promise<void> {
    const head = await tx.auditHead(tenantId)
    const sequence = (head?.sequence ?? 0) + 1
    const entry = canonicalJson({ ...event, at: isoTime(this.clock.now()), sequence })
    await tx.appendAudit({
      tenantId,
      sequence,
      entry,
      hash: this.link(head?.hash ?? GENESIS, tenantId, entry),
    })
  }

  /** Walks a tenant's chain from its start. `brokenAt` is the first sequence that does not fit, or null. */
  async verify(store: StoreReader, tenantId: string): Promise<{ entries: number; brokenAt: number | null }> {
    let previous: Buffer = GENESIS
    let expected = 1
    for (;;) {
      const page = await store.auditEntries(tenantId, expected - 1, PAGE)
      for (const { sequence, entry, hash } of page) {
        const link = this.link(previous, tenantId, entry)
        if (sequence !== expected || hash.length !== link.length || !timingSafeEqual(hash, link))
          return { entries: expected - 1, brokenAt: expected }
        previous = hash
        expected++
      }
      if (page.length < PAGE) return { entries: expected - 1, brokenAt: null }
    }
  }

  private link(previous: Buffer, tenantId: string, entry: string): Buffer {
    return createHmac('sha256', this.chainKey).update(previous).update(`${tenantId}:`).update(entry).digest()
  }
}
