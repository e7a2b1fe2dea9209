/**
 * The audit log: one append-only chain a tenant. Each entry's HMAC covers the one before, and a seal says how far the chain
 * goes, so that nothing can be changed, cut out, cut off or added unseen without the present chain key.
 *
 * A chain key that replaces another is active in a log from the first entry that it links, and no older key links a later one. That
 * place cannot be moved with an older key: the entries of the present key cover it, and only the present key seals the end of the log.
 * An anchor that is kept elsewhere finds a whole earlier state of the database that was put back, seal included.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { canonicalJson } from '../crypto/verification-jwt.js'
import { type Clock, isoTime } from '../lib/clock.js'
import type { AuditEnd, AuditRecord, AuditSealRecord } from '../storage/records.js'
import { type StoreReader, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
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
  /** Who: an API key's id, `operator` at the command line, `dashboard:operator`, `dashboard:<name of a person>` or `dashboard:tenant`. */
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

/** A log whose end is not the one that was sealed. */
export interface AuditBreak {
  tenantId: string
  /** The entry up to which the log was sealed; null where the seal is missing. */
  sealedSequence: number | null
  /** The last entry that is there; null for an empty log. */
  foundSequence: number | null
}

/** How far a log has been verified. */
export interface AuditPoint {
  sequence: number
  /** Chain value of that entry. */
  hash: Buffer
  /** Index of the chain key that linked it: no older key may link a later entry. */
  keyIndex: number
}

export interface VerifyOptions {
  /** Goes on behind this entry. */
  from?: AuditPoint
  /** Entries that are read at once; 500 by default. */
  page?: number
  /** Called after each page, and waited for. */
  onPage?: (point: AuditPoint) => Promise<void>
}

const GENESIS = Buffer.alloc(32)
const START: AuditPoint = { sequence: 0, hash: GENESIS, keyIndex: 0 }
const PAGE = 500
const BREAK_FOUND: AuditEventName = 'audit_break_found'
/** Who finds a break, as the log names them. */
const SERVICE = 'service'

type AuditKeys = Pick<ServiceKeys, 'audit' | 'phase'> & Partial<Pick<ServiceKeys, 'generation'>>

export class AuditLog {
  private onBreak: (found: AuditBreak) => void = () => {}

  constructor(
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {}

  /** Calls `observer` with every break that an append finds, possibly more than once for the same one; a later call replaces it. */
  observeBreaks(observer: (found: AuditBreak) => void): void {
    this.onBreak = observer
  }

  /**
   * Appends an entry. Where the log does not end as it was sealed, somebody has changed it: an entry that says so comes first, for
   * which verification fails from then on. The append itself goes on, so that a row in the database cannot stop verification of users.
   * @param asked for the end of the log, where it was asked for before in the transaction
   * @throws StoreUnavailableError where the working keys were changed since they were read
   */
  async append(
    tx: StoreTransaction,
    tenantId: string,
    event: AuditEvent,
    asked: Promise<AuditEnd> = tx.auditEnd(tenantId),
  ): Promise<void> {
    const end = await asked
    const isSealed = this.isSealed(end)
    if (!isSealed) await this.assertCurrentKeys(tx)
    const follow = (head: AuditRecord | undefined) => {
      const records: AuditRecord[] = []
      // A head later than `end.head` was appended by another call of this process in the same commit.
      if (!isSealed && head?.sequence === end.head?.sequence)
        records.push(this.entryAfter(head, tenantId, this.breakEvent(tenantId, end, event.request_id)))
      records.push(this.entryAfter(records[0] ?? head, tenantId, event))
      return { records, seal: this.sealOf(records.at(-1)!) }
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

  /** Whether the log ends as it was sealed: one statement, where `verify` reads all entries. */
  async endsAsSealed(store: StoreReader, tenantId: string): Promise<boolean> {
    return this.isSealed(await store.auditEnd(tenantId))
  }

  /** Whether the log still has the entry that was its end when the anchor was made. */
  async holds(store: StoreReader, { tenantId, sequence, hash }: AuditAnchor): Promise<boolean> {
    const [entry] = await store.auditEntries(tenantId, sequence - 1, 1)
    return entry?.sequence === sequence && equal(entry.hash, hash)
  }

  /**
   * Walks a tenant's chain from its start to the end that it has at the call. `brokenAt` is the first sequence that does not fit, is
   * missing, lies beyond the seal, was linked by a key that had been replaced before, or says that a break was found; or null.
   */
  async verify(
    store: StoreReader,
    tenantId: string,
    { from = START, page: pageSize = PAGE, onPage = breathe }: VerifyOptions = {},
  ): Promise<{ entries: number; brokenAt: number | null }> {
    // Head and seal come from one statement: what is appended during the walk is beyond both.
    const end = await store.auditEnd(tenantId)
    const last = end.head?.sequence ?? 0
    let previous = from.hash
    let [expected, keyIndex] = [from.sequence + 1, from.keyIndex]
    const brokenAt = (sequence: number) => ({ entries: sequence - 1, brokenAt: sequence })
    // An earlier state of the log was put back, seal included.
    if (from.sequence > last) return brokenAt(last + 1)
    while (expected <= last) {
      const page = await store.auditEntries(tenantId, expected - 1, Math.min(pageSize, last + 1 - expected))
      if (page.length === 0) return brokenAt(expected)
      for (const { sequence, entry, hash } of page) {
        keyIndex = this.linkingKey(keyIndex, { entry, hash }, previous, tenantId)
        if (sequence !== expected || keyIndex === -1 || saysBreak(entry)) return brokenAt(expected)
        previous = hash
        expected++
      }
      await onPage({ sequence: expected - 1, hash: previous, keyIndex })
    }
    if (this.isSealed(end)) return { entries: last, brokenAt: null }
    const sealed = end.seal?.sequence
    // A seal of another entry, or none: what lies beyond it is not the log's, or what it covers is missing.
    if (sealed !== undefined && sealed !== last) return brokenAt(Math.min(sealed, last) + 1)
    return brokenAt(sealed === undefined ? last + 1 : last)
  }

  /** Vouches for a text that is kept in the database beside the logs. */
  macOf(text: string): Buffer {
    return createHmac('sha256', this.key).update(`walk:${text}`).digest()
  }

  /** Whether `macOf` of the present key made this; what was made by an older key counts no more. */
  vouchesFor(text: string, given: Buffer): boolean {
    return equal(given, this.macOf(text))
  }

  /** @returns the index of the key that linked an entry, from `first` on; -1 for none of them */
  private linkingKey(
    first: number,
    { entry, hash }: Pick<AuditRecord, 'entry' | 'hash'>,
    previous: Buffer,
    tenantId: string,
  ): number {
    return this.keys.audit.findIndex(
      (key, index) => index >= first && equal(hash, link(key, previous, tenantId, entry)),
    )
  }

  private isSealed({ head, seal }: AuditEnd): boolean {
    if (!head || !seal) return !head && !seal
    return (
      seal.sequence === head.sequence && this.sealingKeys().some((key) => equal(seal.mac, mac(key, head)))
    )
  }

  /** A seal by keys that are newer than ours is no break. */
  private async assertCurrentKeys(tx: StoreTransaction): Promise<void> {
    const { generation } = this.keys
    if (generation === undefined) return
    const keyrings = await tx.keyrings()
    if (keyrings.some((keyring) => keyring.generation > generation))
      throw new StoreUnavailableError('the working keys were changed meanwhile')
  }

  private breakEvent(tenantId: string, { head, seal }: AuditEnd, requestId: string | null): AuditEvent {
    const sealedSequence = seal?.sequence ?? null
    const foundSequence = head?.sequence ?? null
    this.onBreak({ tenantId, sealedSequence, foundSequence })
    return {
      event: BREAK_FOUND,
      actor: SERVICE,
      request_id: requestId,
      sealed_sequence: sealedSequence,
      found_sequence: foundSequence,
    }
  }

  private entryAfter(head: AuditRecord | undefined, tenantId: string, event: AuditEvent): AuditRecord {
    const sequence = (head?.sequence ?? 0) + 1
    const entry = canonicalJson({ ...event, at: isoTime(this.clock.now()), sequence })
    return { tenantId, sequence, entry, hash: link(this.key, head?.hash ?? GENESIS, tenantId, entry) }
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

/** A long log must not keep the service's callers waiting. */
async function breathe(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** Parses only what contains the name: most entries of a long log do not. */
function saysBreak(entry: string): boolean {
  return entry.includes(BREAK_FOUND) && (JSON.parse(entry) as AuditEvent).event === BREAK_FOUND
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
