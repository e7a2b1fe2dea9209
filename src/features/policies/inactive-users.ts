/**
 * Erases production users whom nobody uses, where the tenant's policy asks for it: first a notice by webhook, days later the erasure,
 * with receipt, audit entry and webhook as any other. A use in between ends the notice. Each step is one transaction that reads the policy
 * and the last use again, so that a step is done once, whichever service does it and whenever it is killed.
 */
import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import { erasureFacts } from '../../admin/user-views.js'
import type { AuditFacts } from '../../audit/audit-log.js'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import { eventAbout } from '../../events/events.js'
import { type Clock, DAY_MS, isoTime } from '../../lib/clock.js'
import type { ActivityRecord } from '../../storage/records.js'
import type { Store, StoreTransaction } from '../../storage/store.js'
import { policyBook } from './policy-book.js'
import { policyReader } from './policy-table.js'
import { retentionReader, retentionWriter } from './retention-statements.js'

const RETENTION: Actor = { name: 'retention', requestId: null }
/** Users that are read at once. Each of them has a transaction of its own. */
const USERS_AT_ONCE = 50

/** A step that the audit log does not record. */
const DONE = 'done'

interface Terms {
  inactiveMs: number
  noticeMs: number
  /** Since when the policy erases users: no day before counts. */
  since: number
}

interface InactiveUsersParts extends Pick<Core, 'store' | 'vault' | 'events'> {
  operations: Pick<Operations, 'audited' | 'users'>
  clock: Clock
}

export class InactiveUsers {
  constructor(private readonly parts: InactiveUsersParts) {}

  /** Does what is due now, for all tenants. @param isOn called before each transaction; stops when it returns false */
  async run(isOn: () => boolean): Promise<void> {
    for (const { id, policyHash, suspendedAt, deletedAt } of await this.parts.store.read.tenants()) {
      // The users of a suspended tenant cannot be approved, and are kept.
      if (policyHash === null || suspendedAt !== null || deletedAt !== null) continue
      const terms = await this.termsOf(this.parts.store.read, id)
      if (terms) await this.runFor(id, terms, isOn)
    }
  }

  private async runFor(tenantId: string, terms: Terms, isOn: () => boolean): Promise<void> {
    const retention = this.parts.store.read.statements(retentionReader)
    const now = this.parts.clock.now()
    const noticeUntil = now - (terms.inactiveMs - terms.noticeMs)
    // Nobody has been unused for long enough before the policy itself is that old.
    const isNoticeDue = terms.since <= noticeUntil
    const steps = [
      {
        due: () => retention.noticed(tenantId, now - terms.noticeMs, USERS_AT_ONCE),
        take: (user: ActivityRecord) => this.erase(tenantId, user.blindIndex),
      },
      {
        due: async () => (isNoticeDue ? retention.unused(tenantId, noticeUntil, USERS_AT_ONCE) : []),
        take: (user: ActivityRecord) => this.announce(tenantId, user.blindIndex),
      },
    ]
    for (const { due, take } of steps)
      for (let users = await due(); users.length > 0; users = await due()) {
        let taken = 0
        for (const user of users) {
          if (!isOn()) return
          if (await take(user)) taken++
        }
        // A user who was used meanwhile, or whose policy was changed, is looked at again in the next round.
        if (taken === 0) break
      }
  }

  /** Announces the erasure of a user. @returns false where the user was used meanwhile */
  private announce(tenantId: string, blindIndex: Buffer): Promise<boolean> {
    return this.step(tenantId, blindIndex, async (tx, user, terms, now) => {
      if (user.noticeAt !== null || user.usedAt > now - (terms.inactiveMs - terms.noticeMs)) return null
      const eraseAt = isoTime(now + terms.noticeMs)
      await tx.statements(retentionWriter).setNotice(now, blindIndex)
      const subject = await this.parts.vault.find(tx, blindIndex, user.userId)
      if (!subject) return null
      const data = { user_id: user.userId, erase_at: eraseAt }
      await this.parts.events.put(tx, eventAbout(subject, 'user.erasure_scheduled', data))
      return { event: 'erasure_scheduled', subject: subject.pseudonym, erase_at: eraseAt }
    })
  }

  /** Erases a user whose notice has run out. @returns false where the user was used meanwhile */
  private erase(tenantId: string, blindIndex: Buffer): Promise<boolean> {
    return this.step(tenantId, blindIndex, async (tx, user, terms, now) => {
      if (user.noticeAt === null || user.noticeAt > now - terms.noticeMs) return null
      if (Math.max(user.usedAt, terms.since) > now - terms.inactiveMs) {
        // The policy has changed since the notice: another one comes when it is due.
        await tx.statements(retentionWriter).setNotice(null, blindIndex)
        return DONE
      }
      const { userId } = user
      const subject = await this.parts.vault.find(tx, blindIndex, userId)
      if (!subject) return null
      const erased = { id: tenantId, environment: 'production', userId, blindIndex } as const
      const receipt = await this.parts.operations.users.eraseUser(tx, erased)
      return { event: 'delete', cause: 'inactivity', subject: subject.pseudonym, ...erasureFacts(receipt) }
    })
  }

  /** Runs a step in a transaction of the tenant, in which no call can use the user. @returns whether the step was done */
  private step(
    tenantId: string,
    blindIndex: Buffer,
    work: (
      tx: StoreTransaction,
      user: ActivityRecord & { userId: string },
      terms: Terms,
      now: number,
    ) => Promise<AuditFacts | typeof DONE | null>,
  ): Promise<boolean> {
    const { operations, vault, clock } = this.parts
    return operations.audited.run(tenantId, RETENTION, async (tx) => {
      const [terms, activity, record] = await Promise.all([
        this.termsOf(tx, tenantId),
        tx.activity(blindIndex),
        tx.subjectWithoutReference(blindIndex),
      ])
      if (!terms || !activity || !record) return { result: false, facts: null }
      const userId = vault.openUserId(vault.dataKey(record), activity.sealed)
      const done = await work(tx, { ...activity, userId }, terms, clock.now())
      return { result: done !== null, facts: done === DONE ? null : done }
    })
  }

  /** @returns null where the policy in force erases nobody */
  private async termsOf(store: Store['read'], tenantId: string): Promise<Terms | null> {
    const hash = await store.statements(policyReader).hashInForce(tenantId, 'production')
    const since = await store.statements(retentionReader).since(tenantId)
    if (hash === null || since === null) return null
    const { retention } = await policyBook(this.parts.store).read(store, tenantId, hash)
    if (!retention) return null
    const { inactive_days: inactiveDays, notice_days: noticeDays } = retention
    return { inactiveMs: inactiveDays * DAY_MS, noticeMs: noticeDays * DAY_MS, since }
  }
}
