/** Webhooks about sessions of the hosted capture page: each session's end is told once, in the transaction that ends it. */
import type { Clock } from '../lib/clock.js'
import type { CaptureSessionRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Outbox } from './outbox.js'

/** Sessions that are reported in one transaction: few, because other writers wait for it. */
const EXPIRED_AT_ONCE = 100

/** The answer to the last capture of a session, without scores, tokens and anything of a face. */
export interface CaptureSessionResult {
  /** HTTP status of the call of verify or enroll. */
  status: number
  verdict: string | null
  /** Why the verdict is a rejection. */
  reason: string | null
  /** Code of the error, where the answer is one. */
  code: string | null
}

/** The parts of an answer of verify or enroll that a webhook may name. */
export function resultOf({
  status,
  body,
}: {
  status: number
  body: Record<string, unknown>
}): CaptureSessionResult {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { status, verdict: text(body.verdict), reason: text(body.reason), code: text(body.code) }
}

export class CaptureSessionEvents {
  constructor(
    private readonly parts: { store: Store; outbox: Outbox; vault: TemplateVault; clock: Clock },
    /** How long after its end a session is left alone: a capture that was sent in time may still be judged. */
    private readonly graceMs: number,
  ) {}

  /**
   * Tells webhooks that the person or a verdict ended the session. The caller's transaction writes the status that ends it.
   * @param result null where no capture was judged; of a cancelled session it is not told
   */
  async tellOfEnd(
    tx: StoreTransaction,
    record: CaptureSessionRecord,
    result: CaptureSessionResult | null,
  ): Promise<void> {
    if (record.status === 'completed') await this.tell(tx, record, 'completed', { result })
    else await this.tell(tx, record, 'cancelled')
  }

  /** Tells webhooks of sessions that expired, and marks each in the same transaction. @param isOn asked before each batch */
  async tellOfExpired(isOn: () => boolean): Promise<void> {
    const { store, clock } = this.parts
    const until = clock.now() - this.graceMs
    while (isOn()) {
      // Outside a transaction first: most often there is none.
      if ((await store.read.unreportedExpiredCaptureSessions(until, 1)).length === 0) return
      await store.transaction(async (tx) => {
        for (const record of await tx.unreportedExpiredCaptureSessions(until, EXPIRED_AT_ONCE)) {
          await tx.putCaptureSession({ ...record, expiryReportedAt: clock.now() })
          await this.tell(tx, record, 'expired')
        }
      })
    }
  }

  private async tell(
    tx: StoreTransaction,
    { id, tenantId, environment, blindIndex, purpose, attempts }: CaptureSessionRecord,
    end: 'completed' | 'cancelled' | 'expired',
    more: Record<string, unknown> = {},
  ): Promise<void> {
    const { outbox, vault } = this.parts
    // Where the user is enrolled, an erasure takes the delivery along.
    const user = await tx.subjectWithoutReference(blindIndex)
    await outbox.put(tx, {
      tenantId,
      environment,
      type: `capture_session.${end}`,
      data: { session_id: id, purpose, attempts, ...more },
      ...(user ? { subject: { blindIndex, id: user.id, dataKey: vault.dataKey(user) } } : {}),
    })
  }
}
