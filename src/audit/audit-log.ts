/**
 * The audit log: one append-only chain a tenant. Each entry's HMAC covers the one before, and a seal says how far the chain
 * goes, so that nothing can be changed, cut out or cut off unseen without the chain key. Whoever puts back a whole earlier
 * state of the database, seal included, is found out by an anchor kept elsewhere.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, isoTime } from '../clock.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { canonicalJson } from '../crypto/verification-jwt.js'
import type { AuditRecord, AuditSealRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { AuditEventName } from './audit-events.js'

/** What happened. Users appear only as `subject`, a pseudonym under the user's own data key: erasure makes it unlinkable. */
export interface AuditFacts {
  event: AuditEventName
  /** HTTP status, for calls of the API. */
  status?: number
  /** Error code, where it failed. */
  code?: string
  subject?: string
  [fact: string]: unknown
}

export interface AuditEvent extends AuditFacts {
  /** Who: an API key's id, `operator` at the command line, `dashboard:operator`, `dashboard:<operator's name>` or `dashboard:tenant`. */
  actor: string
  request_id: string | null
}

/** A tenant's log up to one entry. */
export interface AuditAnchor {
  tenantId: string
  sequence: number
  /** Chain value of that entry. */
  hash: Buffer
}

const GENESIS = Buffer.alloc(32)
const PAGE = 500

export class AuditLog {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'audit' | 'phase'>,
    private readonly clock: Clock,
  ) {}

  /** @param asked for the head of the log, where it was asked for before in the transaction */
  append(
    tx: StoreTransaction,
    tenantId: string,
    event: AuditEvent,
    asked?: ReturnType<StoreTransaction['auditHead']>,
  ): Promise<void> {
    const follow = (head: AuditRecord | undefined) => {
      const sequence = (head?.sequence ?? 0) + 1
      const entry = canonicalJson({ ...event, at: isoTime(this.clock.now()), sequence })
      const hash = link(this.key, head?.hash ?? GENESIS, tenantId, entry)
      return { record: { tenantId, sequence, entry, hash }, seal: this.sealOf({ tenantId, sequence, hash }) }
    }
    return tx.extendAudit(tenantId, follow, asked)
  }

  /** Seals a log that has no seal yet, because it was begun before there were any. */
  async adopt(tx: StoreTransaction, tenantId: string): Promise<void> {
    const head = await tx.auditHead(tenantId)
    if (head) await tx.putAuditSeal(this.sealOf(head))
  }

  /** The end of a tenant's log, to be kept where nobody can reach it who can reach the database; null for an empty log. */
  async anchor(store: StoreReader, tenantId: string): Promise<AuditAnchor | null> {
    const head = await store.auditHead(tenantId)
    return head ? { tenantId, sequence: head.sequence, hash: head.hash } : null
  }

  /** Whether the log still has the entry that was its end when the anchor was made. */
  async holds(store: StoreReader, { tenantId, sequence, hash }: AuditAnchor): Promise<boolean> {
    const [entry] = await store.auditEntries(tenantId, sequence - 1, 1)
    return entry?.sequence === sequence && equal(entry.hash, hash)
  }

  /** Walks a tenant's chain from its start. `brokenAt` is the first sequence that does not fit or is missing, or null. */
  async verify(store: StoreReader, tenantId: string): Promise<{ entries: number; brokenAt: number | null }> {
    // Read first: entries that come meanwhile are beyond it.
    const seal = await store.auditSeal(tenantId)
    let previous: Buffer = GENESIS
    let expected = 1
    for (;;) {
      const page = await store.auditEntries(tenantId, expected - 1, PAGE)
      for (const { sequence, entry, hash } of page) {
        const isLinked = this.keys.audit.some((key) => equal(hash, link(key, previous, tenantId, entry)))
        const isSealed =
          sequence !== seal?.sequence ||
          this.sealingKeys().some((key) => equal(seal.mac, mac(key, { tenantId, sequence, hash })))
        if (sequence !== expected || !isLinked || !isSealed)
          return { entries: expected - 1, brokenAt: expected }
        previous = hash
        expected++
      }
      if (page.length < PAGE) break
      // A long log must not keep the service's callers waiting.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const entries = expected - 1
    const isWhole = seal ? seal.sequence >= 1 && seal.sequence <= entries : entries === 0
    return { entries, brokenAt: isWhole ? null : expected }
  }

  private sealOf(head: AuditAnchor): AuditSealRecord {
    return { tenantId: head.tenantId, sequence: head.sequence, mac: mac(this.key, head) }
  }

  private get key(): Buffer {
    return this.keys.audit.at(-1)!
  }

  /** An older key's seal counts only until all logs are sealed anew: else its holder could cut off all that came since. */
  private sealingKeys(): Buffer[] {
    return this.keys.phase === 'activated' ? this.keys.audit : [this.key]
  }
}

function mac(key: Buffer, { tenantId, sequence, hash }: AuditAnchor): Buffer {
  return createHmac('sha256', key).update(`seal:${tenantId}:${sequence}:`).update(hash).digest()
}

function link(key: Buffer, previous: Buffer, tenantId: string, entry: string): Buffer {
  return createHmac('sha256', key).update(previous).update(`${tenantId}:`).update(entry).digest()
}

function equal(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
