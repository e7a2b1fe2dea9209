/** Webhooks about sessions of the hosted capture page: the end of each session is reported once, in the transaction that ends it. */

import type { Events } from '../../events/events.js'
import type { Clock } from '../../lib/clock.js'
import type { Store, StoreTransaction } from '../../storage/store.js'
import type { TemplateVault } from '../../users/template-vault.js'
import { type CaptureSessionRecord, captureSessionReader, captureSessionWriter } from './capture-tables.js'

/** Time for the upload of a capture: phones may have slow connections, and the challenge expires by its own rule. */
export const UPLOAD_MS = 60_000
/** Expired sessions that one transaction reports: other writers wait while it runs. */
const EXPIRED_AT_ONCE = 100

/** The answer to the last capture of a session, without scores, tokens and biometric data. */
export interface CaptureSessionResult {
  /** HTTP status of the call of verify or enroll. */
  status: number
  verdict: string | null
  /** Why the verdict is a rejection. */
  reason: string | null
  /** Code of the error, where the answer is one. */
  code: string | null
}

/** Takes the parts that a webhook may name from an answer of verify or enroll. */
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
    private readonly parts: { store: Store; events: Events; vault: TemplateVault; clock: Clock },
    /** Milliseconds from a session's expiry to its report: a capture that was sent in time may still be judged. */
    private readonly graceMs: number,
  ) {}

  /**
   * Puts the webhook of a session that the person or a verdict ended. The caller's transaction writes the status that ends it.
   * @param result null where no capture was judged; a cancelled session reports none
   */
  async reportEnd(
    tx: StoreTransaction,
    record: CaptureSessionRecord,
    result: CaptureSessionResult | null,
  ): Promise<void> {
    if (record.status === 'completed') await this.put(tx, record, 'completed', { result })
    else await this.put(tx, record, 'cancelled', { disowned: record.disownedAt !== null })
  }

  /**
   * Puts the webhooks of sessions that expired, and marks each session in the same transaction. Each batch is of one tenant.
   * @param isOn called before each batch
   */
  async reportExpired(isOn: () => boolean): Promise<void> {
    const { store, clock } = this.parts
    const until = clock.now() - this.graceMs
    while (isOn()) {
      // This read is outside the transaction because most often no session has expired.
      const [oldest] = await store.read.statements(captureSessionReader).unreportedExpired(until, 1)
      if (!oldest) return
      const { tenantId } = oldest
      await store.transaction({ tenantId }, async (tx) => {
        const { unreportedExpired, put } = tx.statements(captureSessionWriter)
        for (const record of await unreportedExpired(until, EXPIRED_AT_ONCE)) {
          if (record.tenantId !== tenantId) continue
          await put({ ...record, expiryReportedAt: clock.now() })
          await this.put(tx, record, 'expired')
        }
      })
    }
  }

  private async put(
    tx: StoreTransaction,
    { id, tenantId, environment, blindIndex, purpose, attempts }: CaptureSessionRecord,
    end: 'completed' | 'cancelled' | 'expired',
    more: Record<string, unknown> = {},
  ): Promise<void> {
    const { events, vault } = this.parts
    // Sealed for the user, where the user is enrolled, so that an erasure covers the delivery.
    const user = await tx.subjectWithoutReference(blindIndex)
    await events.put(tx, {
      tenantId,
      environment,
      type: `capture_session.${end}`,
      data: { session_id: id, purpose, attempts, ...more },
      ...(user ? { subject: { blindIndex, id: user.id, dataKey: vault.dataKey(user) } } : {}),
    })
  }
}
