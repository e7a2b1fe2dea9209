/** Changes capture sessions for the hosted page, each in a transaction of its tenant, and returns the state that the page shows. */
import type { AuditFacts, AuditLog } from '../../../audit/audit-log.js'
import { AuditedUnitOfWork } from '../../../audit/audited-unit-of-work.js'
import { requestId } from '../../../crypto/identifiers.js'
import type { Clock } from '../../../lib/clock.js'
import type { Store, StoreTransaction } from '../../../storage/store.js'
import {
  type CaptureEnding,
  type CaptureSession,
  type CaptureSessionBook,
  type CaptureSuccessor,
  endingOf,
} from '../capture-session-book.js'
import type { CaptureSessionEvents, CaptureSessionResult } from '../capture-session-events.js'
import type { CaptureSessionRecord } from '../capture-tables.js'

/** The state of a session, by which the page decides what it shows. */
export type PageState =
  /** `phone` is true once the phone has opened its link. */
  | { state: 'open'; phone?: true | undefined }
  /** The code was wrong, and another one can be typed. */
  | { state: 'code'; message: string }
  /** The first device waits for the number that the phone shows. */
  | { state: 'number'; message?: string }
  | { state: 'challenge'; challenge: Record<string, unknown>; passkey: unknown }
  /** The person is to make another capture. */
  | { state: 'again'; message: string }
  /** `return_url` is null where the person goes on at another device. `number` is true where the phone's page shows one. */
  | {
      state: 'over'
      return_url: string | null
      ending?: CaptureEnding | undefined
      waits_for?: CaptureSuccessor | undefined
      number?: true
    }

/** The session has gone on meanwhile, in another tab or on the phone, or a text that the page shows was changed: the page loads again. */
export class CaptureFlowError extends Error {
  override readonly name = 'CaptureFlowError'

  constructor(
    message: string,
    readonly code: 'conflict' | 'consent_changed' | 'display_changed' = 'conflict',
  ) {
    super(message)
  }
}

/** The effects of a step in addition to the change of the session. */
interface SessionChange {
  /** Result of the capture, or null when none was judged. */
  result?: CaptureSessionResult | null
  /** Facts for the audit log, in addition to the session and its purpose. Nothing of the sandbox is recorded there. */
  facts?: AuditFacts
}

export interface SessionChangesParts {
  store: Store
  clock: Clock
  audit: AuditLog
  captureSessions: CaptureSessionBook
  captureEvents: CaptureSessionEvents
}

export class SessionChanges {
  private readonly audited: AuditedUnitOfWork

  constructor(private readonly parts: SessionChangesParts) {
    this.audited = new AuditedUnitOfWork(parts.store, parts.audit)
  }

  /**
   * Changes a session that is not over. When `work` ends the session, queues the webhook that reports it.
   * @param work may await nothing but `tx`
   * @param isAfterCapture whether the step is one of a session that waits for the number of a phone that has captured
   * @returns the state after it
   */
  async change(
    token: string,
    // biome-ignore lint/suspicious/noConfusingVoidType: most changes have no result to return
    work: (session: CaptureSession, tx: StoreTransaction) => Promise<SessionChange | void>,
    isAfterCapture = false,
  ): Promise<PageState> {
    const { store, clock, captureSessions, captureEvents } = this.parts
    const known = await captureSessions.find(store.read, token)
    if (!known) throw new CaptureFlowError('the session is gone')
    const { tenantId, keyId } = known.record
    const actor = { name: keyId, requestId: requestId(clock.now()) }
    return this.audited.runFound({ tenantId }, actor, async (tx) => {
      const session = await captureSessions.find(tx, token)
      if (!session) throw new CaptureFlowError('the session is gone')
      const { record, content } = session
      if (record.status !== 'open' || (content.number && !isAfterCapture))
        return { tenantId: null, result: stateOf(session) }
      if (record.expiryReportedAt !== null) throw new CaptureFlowError('the session has expired')
      const { result = null, facts } = (await work(session, tx)) ?? {}
      if (needsProof(record)) captureSessions.prove(session)
      await captureSessions.put(tx, session)
      if ((record.status as CaptureSessionRecord['status']) !== 'open')
        await captureEvents.reportEnd(tx, record, result)
      const state = stateOf(session)
      if (!facts || record.environment !== 'production') return { tenantId: null, result: state }
      const { id, purpose } = record
      return { tenantId, result: state, facts: { ...facts, capture_session: id, purpose } }
    })
  }
}

/** Returns the state of a session as the page shows it. */
export function stateOf(session: CaptureSession): PageState {
  const { record, content, side } = session
  if (record.status === 'open' && content.number)
    return side === 'page' ? { state: 'number' } : { state: 'over', return_url: null, number: true }
  if (record.status === 'open')
    return { state: 'open', phone: side === 'page' && record.phoneBrowser !== null ? true : undefined }
  return {
    state: 'over',
    return_url: side === 'phone' ? null : returnUrlOf(session),
    ending: endingOf(session),
    waits_for: content.waitsFor,
  }
}

/** Whether the session has a result that is given out only with a proof. */
function needsProof({ binding, status, answered }: CaptureSessionRecord): boolean {
  return binding === 'same' && status === 'completed' && answered !== null
}

/**
 * The address to which the first device leads the person back: the caller's own, with the id of the session, and with the proof once there
 * is one.
 */
export function returnUrlOf({ record, content }: CaptureSession): string {
  const url = new URL(content.captureRequest.returnUrl)
  url.searchParams.set('capture_session', record.id)
  if (content.proof) url.searchParams.set('capture_proof', content.proof)
  return url.href
}
