/**
 * Transactions of one commit, side by side: what all of them read is asked for together, and what they write leaves with the commit.
 * Those that concern the same wait for each other; audit logs, which all may extend, are linked one entry after the other.
 */
import type { QueryConfig, QueryResult } from 'pg'
import type { AuditEnd, AuditRecord, AuditSealRecord } from '../records.js'
import { storeTransaction } from '../statements.js'
import type { StoreTransaction } from '../store.js'
import { postgresConnection } from './postgres-connection.js'

/** One transaction of a caller. */
export interface Job {
  /** In the order of their coming. */
  number: number
  deadlineMs: number
  /** Null for all of them. */
  partition: number | null
  /** How often another node had the lane when it was to be taken. */
  skippedRounds: number
  serializationKey?: string | undefined
  work: (tx: StoreTransaction) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export interface JobOutcome {
  /** There is something to commit. */
  hasSucceeded: boolean
  /** To be called once that is committed. */
  notifyCaller: () => void
}

export class PostgresGroup {
  /** Made when first taken: commands, and most services, need few. */
  private readonly slots: TransactionSlot[] = []
  /** The end of each log before the group, asked for once. */
  private readonly before = new Map<string, Promise<AuditEnd>>()
  /** Of each log that is extended, its last entry by now. */
  private readonly heads = new Map<string, AuditRecord>()
  private readonly seals = new Map<string, AuditSealRecord>()

  /** @param send remembers that a statement has failed, and so the transaction */
  constructor(private readonly send: (query: QueryConfig) => Promise<QueryResult>) {}

  /**
   * @param jobs one or more, each of which concerns something
   * @returns null where one has failed that had written already: all is to be rolled back, and done one after the other
   */
  async run(jobs: readonly Job[]): Promise<JobOutcome[] | null> {
    for (const kept of [this.before, this.heads, this.seals]) kept.clear()
    const turns = new Map<string | undefined, Promise<unknown>>()
    const outcomes = await Promise.all(
      jobs.map(async (job, i) => {
        const earlier = turns.get(job.serializationKey)
        const slot = this.slot(i)
        const turn = earlier ? earlier.then(() => slot.run(job)) : slot.run(job)
        turns.set(job.serializationKey, turn)
        return turn
      }),
    )
    const done = outcomes.filter((outcome) => outcome !== null)
    if (done.length < outcomes.length) return null
    for (const seal of this.seals.values()) void this.slot(0).alone.putAuditSeal(seal)
    return done
  }

  private slot(index: number): TransactionSlot {
    this.slots[index] ??= new TransactionSlot(this.send, (tx) => this.linking(tx))
    return this.slots[index]
  }

  /** A seal says how far a log goes: each commit needs its last alone. */
  private linking(tx: StoreTransaction): StoreTransaction {
    const auditEnd = (tenantId: string) => {
      let end = this.before.get(tenantId)
      if (!end) {
        end = tx.auditEnd(tenantId)
        this.before.set(tenantId, end)
      }
      return end
    }
    return {
      ...tx,
      auditEnd,
      extendAudit: async (tenantId, follow, asked = auditEnd(tenantId)) => {
        const { head } = await asked
        // Nothing is waited for from here on.
        const { records, seal } = follow(this.heads.get(tenantId) ?? head)
        this.heads.set(tenantId, records.at(-1)!)
        this.seals.set(tenantId, seal)
        for (const record of records) void tx.appendAudit(record)
      },
    }
  }
}

/** Where one transaction of a group sits: it is known what it has written. */
class TransactionSlot {
  readonly alone: StoreTransaction
  private readonly tx: StoreTransaction
  private hasWritten = false

  constructor(
    send: (query: QueryConfig) => Promise<QueryResult>,
    linking: (tx: StoreTransaction) => StoreTransaction,
  ) {
    const connection = postgresConnection((query, isWrite) => {
      if (isWrite) this.hasWritten = true
      return send(query)
    })
    this.alone = storeTransaction(connection, () => {})
    this.tx = linking(this.alone)
  }

  /** @returns null where it has failed with something written */
  async run(job: Job): Promise<JobOutcome | null> {
    this.hasWritten = false
    try {
      const value = await job.work(this.tx)
      return { hasSucceeded: true, notifyCaller: () => job.resolve(value) }
    } catch (error) {
      return this.hasWritten ? null : { hasSucceeded: false, notifyCaller: () => job.reject(error) }
    }
  }
}
