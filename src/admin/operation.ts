/** What every operation on a tenant has in common: somebody does it, and the audit log says so in the same transaction. */
import type { AuditFacts, AuditLog } from '../audit/audit-log.js'
import type { Scope, Store, StoreTransaction } from '../storage/store.js'
import { assertNotSuspended } from '../tenants/tenancy.js'

/** Who acts, and the request by which they do. */
export interface Actor {
  /** As the audit log names them. */
  name: string
  /** Null at the command line. */
  requestId: string | null
  /** True for a tenant, who may do nothing while it is suspended. */
  isTenant?: boolean
}

/** Whoever may run the command line is the operator. */
export const COMMAND_LINE: Actor = { name: 'operator', requestId: null }

/** What was done, and what the audit log is to say of it. */
export interface Act<Result> {
  result: Result
  facts: AuditFacts
}

type FoundAct<Result> = (Act<Result> & { tenantId: string }) | { result: Result; tenantId: null }

const TENANTS_AT_ONCE = 20

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
    return this.within({ tenantId }, actor, async (tx) => ({ tenantId, ...(await work(tx)) }))
  }

  /** The same for work that finds out whom it concerns; nobody where it found nothing. */
  runFound<Result>(actor: Actor, work: (tx: StoreTransaction) => Promise<FoundAct<Result>>): Promise<Result> {
    return this.within(undefined, actor, work)
  }

  /** The same for what concerns every tenant: each log says it. */
  runForAll<Result>(actor: Actor, work: (tx: StoreTransaction) => Promise<Act<Result>>): Promise<Result> {
    return this.store.transaction(async (tx) => {
      const { result, facts } = await work(tx)
      for (const { id } of await tx.tenants())
        await this.audit.append(tx, id, { ...facts, actor: actor.name, request_id: actor.requestId })
      return result
    })
  }

  /** The same for what concerns one tenant, or, where it is null, every tenant. */
  runFor<Result>(
    tenantId: string | null,
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<Act<Result>>,
  ): Promise<Result> {
    return tenantId === null ? this.runForAll(actor, work) : this.run(tenantId, actor, work)
  }

  /**
   * Says in every log what is of no single transaction. Some at a time: with many tenants, callers of the service would be kept
   * waiting.
   */
  async noteInAll({ name, requestId }: Actor, facts: AuditFacts): Promise<void> {
    const tenants = await this.store.read.tenants()
    for (let start = 0; start < tenants.length; start += TENANTS_AT_ONCE) {
      await this.store.transaction(async (tx) => {
        for (const { id } of tenants.slice(start, start + TENANTS_AT_ONCE))
          await this.audit.append(tx, id, { ...facts, actor: name, request_id: requestId })
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  private within<Result>(
    scope: Scope | undefined,
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<FoundAct<Result>>,
  ): Promise<Result> {
    const acting = async (tx: StoreTransaction) => {
      // Asked within the transaction: a suspension that was committed before it holds for an act that was under way.
      if (actor.isTenant && scope) assertNotSuspended((await tx.tenantById(scope.tenantId))!)
      const act = await work(tx)
      if (act.tenantId !== null)
        await this.audit.append(tx, act.tenantId, {
          ...act.facts,
          actor: actor.name,
          request_id: actor.requestId,
        })
      return act.result
    }
    return this.store.transaction(acting, undefined, scope)
  }
}
