/** What every operation on a tenant has in common: somebody does it, and the audit log says so in the same transaction. */
import type { AuditFacts, AuditLog } from '../audit/audit-log.js'
import type { Store, StoreTransaction } from '../storage/store.js'

/** Who acts, and the request by which they do. */
export interface Actor {
  /** As the audit log names them. */
  name: string
  /** Null at the command line. */
  requestId: string | null
}

/** Whoever may run the command line is the operator. */
export const COMMAND_LINE: Actor = { name: 'operator', requestId: null }

/** What was done, and what the audit log is to say of it. */
export interface Act<Result> {
  result: Result
  facts: AuditFacts
}

export class AuditedTransactions {
  constructor(
    private readonly store: Store,
    private readonly audit: AuditLog,
  ) {}

  /** Runs `work` and appends its entry to the tenant's log: both, or neither. `work` may await nothing but `tx`. */
  run<Result>(
    tenantId: string,
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<Act<Result>>,
  ): Promise<Result> {
    return this.store.transaction(async (tx) => {
      const { result, facts } = await work(tx)
      await this.audit.append(tx, tenantId, { ...facts, actor: actor.name, request_id: actor.requestId })
      return result
    })
  }

  /** Appends an entry to every tenant's log: to all, or to none. */
  async note(actor: Actor, facts: AuditFacts): Promise<void> {
    const tenants = await this.store.read.tenants()
    await this.store.transaction(async (tx) => {
      for (const { id } of tenants)
        await this.audit.append(tx, id, { ...facts, actor: actor.name, request_id: actor.requestId })
    })
  }
}
