/**
 * Verifies all audit logs from their starts once a day, in the background and at a pace that callers do not feel. How far it has come is
 * kept in the database under a chain key, so that it goes on where another node, or this service before its restart, stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AuditLog, AuditPoint } from '../audit/audit-log.js'
import type { LeaderLease } from '../cluster/leader-lease.js'
import { type Clock, DAY_MS, isoTime, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { Store } from '../storage/store.js'

/** From the start of one verification of all logs to the start of the next. */
const EVERY_MS = DAY_MS
/** Milliseconds between two saves of the progress: a restart repeats at most this much. */
const SAVE_EVERY_MS = 30 * SECOND_MS
/** Entries of one read. SQLite reads on the main thread, for about a millisecond each time. */
const PAGE = 100
/** Length of a pause relative to the work before it: nine tenths of the time are left to calls. */
const PAUSES_PER_WORK = 9
const MIN_PAUSE_MS = 20

interface BrokenLog {
  tenant_id: string
  /** Sequence number of the first entry that does not fit. */
  broken_at: number
}

interface VerificationState {
  /** Start of the verification that is in progress, or of the last one, in milliseconds since the Unix epoch. */
  began_at: number
  /** End of the last complete verification, in milliseconds since the Unix epoch; null before the first one. */
  completed_at: number | null
  /** Position: tenants are verified in the order of their ids. Null between two verifications. */
  at: { tenant_id: string; sequence: number; hash: string; key_index: number } | null
  /** Broken logs that this verification has found; `broken_before` has those of the one before. */
  broken: BrokenLog[]
  broken_before: BrokenLog[]
}

export interface AuditVerificationStatus {
  /** End of the last complete verification, in milliseconds since the Unix epoch; null for never. */
  completedAt: number | null
  broken: Array<{ tenantId: string; brokenAt: number }>
}

interface AuditVerificationParts {
  store: Pick<Store, 'read' | 'transaction'>
  audit: AuditLog
  clock: Clock
  log: Logger
  leaderLease: Pick<LeaderLease, 'current'>
}

/** `now` begins a verification that is due, or goes on with the one in progress. One is first due when the start of the service is over. */
export class AuditVerification extends PeriodicTask {
  private readonly stopping = new AbortController()

  /** @param pauseMs shortest pause between two pages, in milliseconds */
  constructor(
    private readonly parts: AuditVerificationParts,
    private readonly pauseMs = MIN_PAUSE_MS,
  ) {
    super(
      MINUTE_MS,
      () => this.verifyAll(),
      (err) => {
        if (!this.stopping.signal.aborted) parts.log.warn({ err }, 'the audit logs could not be verified')
      },
    )
  }

  /** Resolves when no page is being read any more. */
  override stop(): Promise<void> {
    this.stopping.abort()
    return super.stop()
  }

  private async verifyAll(): Promise<void> {
    const { store, audit, clock, leaderLease } = this.parts
    if (!leaderLease.current()) return
    const known = await readState(store, audit)
    const state = known?.at ? known : begin(known, clock.now())
    if (!state) return
    let savedAtMs = performance.now()
    const tenants = (await store.read.tenants()).map(({ id }) => id).sort()
    for (const id of tenants.filter((one) => one >= state.at!.tenant_id)) {
      if (state.at!.tenant_id !== id) state.at = placeOf(id)
      let pageBeganMs = performance.now()
      const onPage = async (point: AuditPoint) => {
        state.at = placeOf(id, point)
        const now = performance.now()
        if (now - savedAtMs >= SAVE_EVERY_MS) {
          savedAtMs = now
          await this.save(state)
        }
        await sleep(Math.max(this.pauseMs, PAUSES_PER_WORK * (now - pageBeganMs)), undefined, this.stopping)
        if (!leaderLease.current()) throw new Error('another service has the leader lease now, and goes on')
        pageBeganMs = performance.now()
      }
      const from = pointOf(state.at!)
      try {
        const { brokenAt } = await audit.verify(store.read, id, { page: PAGE, onPage, ...(from && { from }) })
        if (brokenAt !== null) this.report(state, { tenant_id: id, broken_at: brokenAt })
      } catch (error) {
        await this.save(state).catch(() => {})
        throw error
      }
    }
    state.at = null
    state.completed_at = clock.now()
    await this.save(state)
    this.parts.log.info({ logs: tenants.length, broken: state.broken.length }, 'verified all audit logs')
  }

  private report(state: VerificationState, found: BrokenLog): void {
    state.broken.push(found)
    const isKnown = state.broken_before.some(
      ({ tenant_id, broken_at }) => tenant_id === found.tenant_id && broken_at === found.broken_at,
    )
    if (!isKnown)
      this.parts.log.error(found, 'an audit log was changed in the database; run countersign audit verify')
  }

  private save(state: VerificationState): Promise<void> {
    const text = JSON.stringify(state)
    const mac = this.parts.audit.macOf(text)
    return this.parts.store.transaction('rows', (tx) => tx.putAuditVerification({ state: text, mac }))
  }
}

/** @returns the findings, for metrics and `doctor` @throws StoreUnavailableError */
export async function auditVerificationStatus(
  store: Pick<Store, 'read'>,
  audit: AuditLog,
): Promise<AuditVerificationStatus> {
  const state = await readState(store, audit)
  if (!state) return { completedAt: null, broken: [] }
  const all = new Map(
    // A broken log counts until a later verification finds it intact.
    [...(state.at ? state.broken_before : []), ...state.broken].map((one) => [one.tenant_id, one.broken_at]),
  )
  return {
    completedAt: state.completed_at,
    broken: [...all].map(([tenantId, brokenAt]) => ({ tenantId, brokenAt })),
  }
}

/** @returns the first entry of a tenant's log that did not fit, or null @throws StoreUnavailableError */
export async function auditBreak(
  { store, audit }: { store: Pick<Store, 'read'>; audit: AuditLog },
  tenantId: string,
): Promise<number | null> {
  const { broken } = await auditVerificationStatus(store, audit)
  return broken.find((one) => one.tenantId === tenantId)?.brokenAt ?? null
}

/** The part of a sentence of `doctor` about the last verification. */
export function describeVerification({ completedAt }: AuditVerificationStatus): string {
  return completedAt === null
    ? 'the service has not verified them from their starts yet'
    : `verified from their starts until ${isoTime(completedAt)}`
}

/** @returns the saved progress; null where there is none, or its MAC shows that it was changed or made under an older key */
async function readState({ read }: Pick<Store, 'read'>, audit: AuditLog): Promise<VerificationState | null> {
  const record = await read.auditVerification()
  if (!record || !audit.isMacOf(record.state, record.mac)) return null
  return JSON.parse(record.state) as VerificationState
}

/** @returns the state of a new verification, or null where none is due */
function begin(known: VerificationState | null, now: number): VerificationState | null {
  // A clock that was set back must not delay the next verification.
  if (known && now >= known.began_at && now - known.began_at < EVERY_MS) return null
  return {
    began_at: now,
    completed_at: known?.completed_at ?? null,
    at: placeOf(''),
    broken: [],
    broken_before: known?.broken ?? [],
  }
}

function placeOf(tenantId: string, point?: AuditPoint): NonNullable<VerificationState['at']> {
  const { sequence = 0, hash, keyIndex = 0 } = point ?? {}
  return { tenant_id: tenantId, sequence, hash: hash?.toString('hex') ?? '', key_index: keyIndex }
}

function pointOf({
  sequence,
  hash,
  key_index,
}: NonNullable<VerificationState['at']>): AuditPoint | undefined {
  return sequence === 0 ? undefined : { sequence, hash: Buffer.from(hash, 'hex'), keyIndex: key_index }
}
