/**
 * Runs the transactions of one group concurrently on one connection. Their statements interleave, so that the reads of all leave together
 * and the writes leave with the commit.
 *
 * For example, two verifies of ada and one of eve in one group:
 *
 *     round trip 1   BEGIN and the lock partitions
 *     round trip 2   first verify of ada reads | verify of eve reads
 *     round trip 3   first verify of ada writes | verify of eve writes | second verify of ada reads
 *     round trip 4   second verify of ada writes, the seals, COMMIT
 *
 * Transactions that exclude each other, because they have the same serialization key, or are of one tenant and have no key, run one after
 * the other. All of them may extend the audit log of their tenant: entries are linked in memory, in the order in which they are appended, and each log is sealed once, at its last entry.
 */
import type { QueryConfig, QueryResult } from 'pg'
import type { AuditEnd, AuditRecord, AuditSealRecord } from '../../../storage/records.js'
import { storeTransaction } from '../../../storage/statements/statements.js'
import { type StoreTransaction, StoreUnavailableError } from '../../../storage/store.js'
import type { Table } from '../../../storage/table.js'
import { postgresConnection } from './postgres-connection.js'

/** The scope of a job, without the tenant's name: `key` is a tenant with a serialization key. All jobs of a group have the same kind. */
export type JobKind = 'installation' | 'rows' | 'tenant' | 'key'

/** One transaction of a caller. */
export interface Job {
  kind: JobKind
  /** Counts up in the order of arrival. */
  number: number
  /** On the axis of `performance.now()`. */
  deadlineMs: number
  /** Lock partition of the tenant; null for a scope without a tenant. */
  partition: number | null
  /** Number of groups that left the job out because another node held its partition. */
  skippedRounds: number
  /** Jobs of a group with the same value run one after the other; null for a job that excludes none. */
  serializedWith: string | null
  work: (tx: StoreTransaction) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export interface JobOutcome {
  /** Whether the effect of the job is to be committed. */
  hasSucceeded: boolean
  /** Whether the job has failed after it had written, so that the transaction that all jobs share has to be rolled back. */
  isSpoiling: boolean
  /**
   * Resolves or rejects the promise of the caller. Must be called only after the commit.
   * @param failure the statement that has failed, for which the effect of the job is not committed
   */
  notifyCaller: (failure: Error | null) => void
}

type Send = (query: QueryConfig) => Promise<QueryResult>

export class PostgresGroup {
  /** Made when first used: commands, and most services, need few. */
  private readonly slots: TransactionSlot[] = []
  /** End of each tenant's audit log before the group, read once. */
  private readonly before = new Map<string, Promise<AuditEnd>>()
  /** Last entry that the group has appended, by tenant. */
  private readonly heads = new Map<string, AuditRecord>()
  /** Seal of that entry, by tenant. */
  private readonly seals = new Map<string, AuditSealRecord>()
  /** Writes the seals, after the last job. */
  private readonly sealing: StoreTransaction

  /** @param send has to remember the failure of a statement, because nobody awaits writes */
  constructor(
    private readonly send: Send,
    private readonly tables: readonly Table[],
  ) {
    this.sealing = storeTransaction(postgresConnection(send), () => {}, tables)
  }

  /** @param jobs of one kind; only one of the kind `installation` */
  async run(jobs: readonly Job[]): Promise<JobOutcome[]> {
    for (const kept of [this.before, this.heads, this.seals]) kept.clear()
    const last = new Map<string, Promise<unknown>>()
    const outcomes = await Promise.all(
      jobs.map(async (job, i) => {
        const slot = this.slot(i)
        if (job.serializedWith === null) return slot.run(job)
        const earlier = last.get(job.serializedWith)
        const turn = earlier ? earlier.then(() => slot.run(job)) : slot.run(job)
        last.set(job.serializedWith, turn)
        return turn
      }),
    )
    for (const seal of this.seals.values()) void this.sealing.putAuditSeal(seal)
    return outcomes
  }

  private slot(index: number): TransactionSlot {
    this.slots[index] ??= new TransactionSlot(this.send, this.tables, (tx) => this.linking(tx))
    return this.slots[index]
  }

  /** Links the entries of all jobs in memory, and keeps only the last seal of each log. */
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
        // No await from here on: no other job may append in between.
        const { records, seal } = follow(this.heads.get(tenantId) ?? head)
        this.heads.set(tenantId, records.at(-1)!)
        this.seals.set(tenantId, seal)
        for (const record of records) void tx.appendAudit(record)
      },
    }
  }
}

/** Runs one transaction of a group at a time, and knows whether it has written. */
class TransactionSlot {
  private readonly tx: StoreTransaction
  private isOpen = false
  private hasWritten = false

  constructor(send: Send, tables: readonly Table[], linking: (tx: StoreTransaction) => StoreTransaction) {
    const connection = postgresConnection((query, isWrite) => {
      // A part of a job that goes on after the job has failed must not write in the next transaction.
      if (!this.isOpen) return Promise.reject(new StoreUnavailableError('the transaction has ended'))
      if (isWrite) this.hasWritten = true
      return send(query)
    })
    this.tx = linking(storeTransaction(connection, () => {}, tables))
  }

  async run(job: Job): Promise<JobOutcome> {
    this.isOpen = true
    this.hasWritten = false
    try {
      const value = await job.work(this.tx)
      const notifyCaller = (failure: Error | null) => (failure ? job.reject(failure) : job.resolve(value))
      return { hasSucceeded: true, isSpoiling: false, notifyCaller }
    } catch (error) {
      const notifyCaller = (failure: Error | null) => job.reject(failure ?? error)
      return { hasSucceeded: false, isSpoiling: this.hasWritten, notifyCaller }
    } finally {
      this.isOpen = false
    }
  }
}
