/**
 * The audit log: one append-only hash chain for each tenant. Each entry's HMAC covers the entry before, and a seal authenticates the end
 * of the chain. Without the present chain key nothing can be changed, removed, cut off or added unnoticed.
 *
 * A chain key that replaces another is active in a log from the first entry that it links, and no older key links a later entry. That
 * place cannot be moved with an older key: the entries of the present key cover it, and only the present key seals the end of the log.
 * An anchor that is kept elsewhere reveals that the database was restored to an earlier state, seal included.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../contract/canonical-json.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, isoTime } from '../lib/clock.js'
import type { AuditEnd, AuditRecord, AuditSealRecord } from '../storage/records.js'
import { type StoreReader, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
import type { AuditEventName } from './audit-events.js'

/** Facts about an event. Users appear only as `subject`, a pseudonym under the user's own data key: an erasure makes it unlinkable. */
export interface AuditFacts {
  event: AuditEventName
  /** HTTP status, for calls of the API. */
  status?: number
  /** Error code of an event that failed. */
  code?: string
  subject?: string
  [fact: string]: unknown
}

export interface AuditEvent extends AuditFacts {
  /** Name of the actor: an API key's id, `operator` at the command line, `dashboard:operator`, `dashboard:<name of a person>` or `dashboard:tenant`. */
  actor: string
  request_id: string | null
}

/** The state of a tenant's log up to one entry. */
export interface AuditAnchor {
  tenantId: string
  sequence: number
  /** Chain value of that entry. */
  hash: Buffer
}

/** A break: a log whose end is not the one that was sealed. */
export interface AuditBreak {
  tenantId: string
  /** Sequence number of the sealed entry, or null where the seal is missing. */
  sealedSequence: number | null
  /** Sequence number of the last entry, or null for an empty log. */
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
  /** The entry after which verification begins; the start of the log by default. */
  from?: AuditPoint
  /** Number of entries of one read; 500 by default. */
  page?: number
  /** Called and awaited after each page. */
  onPage?: (point: AuditPoint) => Promise<void>
}

const GENESIS = Buffer.alloc(32)
const START: AuditPoint = { sequence: 0, hash: GENESIS, keyIndex: 0 }
const PAGE = 500
/** Logs whose sealed end is remembered. */
const MAX_REMEMBERED = 10_000
const BREAK_FOUND: AuditEventName = 'audit_break_found'
/** Actor of the entry about a break: the service itself. */
const SERVICE = 'service'

type AuditKeys = Pick<ServiceKeys, 'audit' | 'phase'> & Partial<Pick<ServiceKeys, 'generation'>>

export class AuditLog {
  private onBreak: (found: AuditBreak) => void = () => {}
  /** The last end of each log that this process has sealed, with the key: the same end need not be computed again. */
  private readonly sealedHere = new Map<string, { key: Buffer; end: AuditSealRecord; hash: Buffer }>()

  constructor(
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {}

  /** Calls `observer` with every break that an append finds, possibly more than once for the same one; a later call replaces it. */
  observeBreaks(observer: (found: AuditBreak) => void): void {
    this.onBreak = observer
  }

  /**
   * Appends an entry. A log that does not end as it was sealed was changed in the database: an entry about the break comes first, and
   * verification of the log fails from then on. The append goes on, so that a changed row cannot stop the verification of users.
   * @param asked the end of the log, where the transaction has read it already
   * @throws StoreUnavailableError where the working keys were changed since this process read them
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
      // A head later than `end.head` comes from another call of this process in the same group commit.
      if (!isSealed && head?.sequence === end.head?.sequence)
        records.push(this.entryAfter(head, tenantId, this.breakEvent(tenantId, end, event.request_id)))
      records.push(this.entryAfter(records[0] ?? head, tenantId, event))
      return { records, seal: this.sealOf(records.at(-1)!) }
    }
    return tx.extendAudit(tenantId, follow, asked)
  }

  /** Seals a log that has no seal, because an earlier version without seals began it. */
  async adopt(tx: StoreTransaction, tenantId: string): Promise<void> {
    const head = await tx.auditHead(tenantId)
    if (head) await tx.putAuditSeal(this.sealOf(head))
  }

  /** @returns the end of a tenant's log, to be kept out of reach of anyone who can change the database; null for an empty log */
  async anchor(store: StoreReader, tenantId: string): Promise<AuditAnchor | null> {
    const head = await store.auditHead(tenantId)
    return head ? { tenantId, sequence: head.sequence, hash: head.hash } : null
  }

  /** Whether the log ends as it was sealed. Takes one statement, while `verify` reads all entries. */
  async endsAsSealed(store: StoreReader, tenantId: string): Promise<boolean> {
    return this.isSealed(await store.auditEnd(tenantId))
  }

  /** Whether the log still contains the entry of the anchor. */
  async holds(store: StoreReader, { tenantId, sequence, hash }: AuditAnchor): Promise<boolean> {
    const [entry] = await store.auditEntries(tenantId, sequence - 1, 1)
    return entry?.sequence === sequence && equal(entry.hash, hash)
  }

  /**
   * Verifies a tenant's chain from its start to its end at the time of the call. `brokenAt` is the first sequence number whose entry does
   * not fit, is missing, lies beyond the seal, was linked by a replaced key, or records a break; null for an intact log.
   */
  async verify(
    store: StoreReader,
    tenantId: string,
    { from = START, page: pageSize = PAGE, onPage = yieldToCalls }: VerifyOptions = {},
  ): Promise<{ entries: number; brokenAt: number | null }> {
    // One statement reads head and seal: entries that are appended during the verification are beyond both.
    const end = await store.auditEnd(tenantId)
    const last = end.head?.sequence ?? 0
    let previous = from.hash
    let [expected, keyIndex] = [from.sequence + 1, from.keyIndex]
    const brokenAt = (sequence: number) => ({ entries: sequence - 1, brokenAt: sequence })
    // The log was restored to an earlier state, seal included.
    if (from.sequence > last) return brokenAt(last + 1)
    while (expected <= last) {
      const page = await store.auditEntries(tenantId, expected - 1, Math.min(pageSize, last + 1 - expected))
      if (page.length === 0) return brokenAt(expected)
      for (const { sequence, entry, hash } of page) {
        keyIndex = this.linkingKey(keyIndex, { entry, hash }, previous, tenantId)
        if (sequence !== expected || keyIndex === -1 || recordsBreak(entry)) return brokenAt(expected)
        previous = hash
        expected++
      }
      await onPage({ sequence: expected - 1, hash: previous, keyIndex })
    }
    if (this.isSealed(end)) return { entries: last, brokenAt: null }
    const sealed = end.seal?.sequence
    // The seal is missing or is that of another entry: entries beyond it were added, or sealed entries are missing.
    if (sealed !== undefined && sealed !== last) return brokenAt(Math.min(sealed, last) + 1)
    return brokenAt(sealed === undefined ? last + 1 : last)
  }

  /** MAC of a text that is kept in the database next to the logs, by the present chain key. */
  macOf(text: string): Buffer {
    return createHmac('sha256', this.key).update(`walk:${text}`).digest()
  }

  /** Whether the MAC was made by the present chain key; a MAC of an older key is not valid any more. */
  isMacOf(text: string, given: Buffer): boolean {
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
    if (seal.sequence !== head.sequence) return false
    if (this.hasSealed(head, seal)) return true
    return this.sealingKeys().some((key) => equal(seal.mac, mac(key, head)))
  }

  /** A log that was sealed by newer keys is not broken: this process must read the keys first. */
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
    const entry = textOf({ ...event, at: isoTime(this.clock.now()), sequence })
    return { tenantId, sequence, entry, hash: link(this.key, head?.hash ?? GENESIS, tenantId, entry) }
  }

  private sealOf(head: AuditAnchor): AuditSealRecord {
    const { tenantId, sequence, hash } = head
    const { key } = this
    const end = { tenantId, sequence, mac: mac(key, head) }
    if (this.sealedHere.size >= MAX_REMEMBERED) this.sealedHere.clear()
    this.sealedHere.set(tenantId, { key, end, hash })
    return end
  }

  private hasSealed(head: AuditRecord, seal: AuditSealRecord): boolean {
    const known = this.sealedHere.get(head.tenantId)
    if (!known || known.key !== this.key) return false
    const { end, hash } = known
    return end.sequence === head.sequence && hash.equals(head.hash) && end.mac.equals(seal.mac)
  }

  private get key(): Buffer {
    return this.keys.audit.at(-1)!
  }

  /** A seal by an older key is valid only until all logs are sealed again: otherwise anyone who holds that key could cut off later entries. */
  private sealingKeys(): Buffer[] {
    return this.keys.phase === 'activated' ? this.keys.audit : [this.key]
  }
}

/** The entry in canonical form. Half a surrogate pair, which has none and a name at the dashboard may hold, becomes U+FFFD. */
function textOf(entry: object): string {
  try {
    return canonicalJson(entry)
  } catch {
    return canonicalJson(
      JSON.parse(
        JSON.stringify(entry, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value)),
      ),
    )
  }
}

/** Lets calls of the service run between two pages. */
async function yieldToCalls(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** Whether an entry records a break. Only entries that contain the name are parsed: most do not. */
function recordsBreak(entry: string): boolean {
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
