/**
 * Appends the entries of the audit log. Every audited act of the API, the command line, the dashboard and the capture page goes through
 * `AuditedUnitOfWork`: the work and its entry are committed in one transaction, or neither is.
 */
import type { Scope, Store, StoreTransaction } from '../storage/store.js'
import { assertNotSuspended } from '../tenants/tenancy-error.js'
import type { AuditFacts, AuditLog } from './audit-log.js'

/** The person or program that acts, and the request by which it acts. */
export interface Actor {
  /** Name of the actor in the audit log. */
  name: string
  /** Id of the request, or null at the command line. */
  requestId: string | null
  /** True for a tenant, who may do nothing while it is suspended. */
  isTenant?: boolean
}

/** The operator: anyone who can run the command line has the machine. */
export const COMMAND_LINE: Actor = { name: 'operator', requestId: null }

/** The result of the work, and the facts that the audit log records about it; null where there is nothing to record. */
export interface AuditedResult<Result, Facts extends AuditFacts | null = AuditFacts> {
  result: Result
  facts: Facts
}

/** The result of work that finds out itself which tenant's log gets an entry, if any. */
export type FoundResult<Result> =
  | (AuditedResult<Result> & { tenantId: string })
  | { result: Result; tenantId: null }

export interface UnitOptions {
  /** Serialization key within the tenant: units with different keys may run concurrently. Default: the whole tenant. */
  serializationKey?: string | undefined
  /** Time by which the transaction must have begun, on the axis of performance.now(). Default: none. */
  deadlineMs?: number | undefined
  /** False for work that gets no entry, such as all work in the sandbox. Default: true. */
  isAudited?: boolean
}

/** How many logs get an entry at once: the transactions share a commit, and callers of the service wait while it runs. */
const TENANTS_AT_ONCE = 20

/**
 * The transaction of an API call, for an operation that is one part of the call's work. The call appends the entry itself, with the
 * facts that the operation leaves here.
 */
export class OpenUnitOfWork {
  facts: Partial<AuditFacts> = {}

  constructor(readonly tx: StoreTransaction) {}
}

export class AuditedUnitOfWork {
  constructor(
    private readonly store: Pick<Store, 'read' | 'transaction'>,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Runs `work` and appends its entry to the tenant's log. `work` may await nothing but `tx`.
   * @param by who acts, in a transaction of its own; or the open unit that `work` becomes a part of, to which the options do not apply
   * @throws TenancyError tenant_suspended where a suspended tenant acts
   */
  async run<Result>(
    tenantId: string,
    by: Actor | OpenUnitOfWork,
    work: (tx: StoreTransaction) => Promise<AuditedResult<Result, AuditFacts | null>>,
    { serializationKey, deadlineMs, isAudited = true }: UnitOptions = {},
  ): Promise<Result> {
    if (by instanceof OpenUnitOfWork) {
      const { result, facts } = await work(by.tx)
      by.facts = facts ?? {}
      return result
    }
    const scope = { tenantId, serializationKey }
    const audited = async (tx: StoreTransaction) => {
      // Read within the transaction: a suspension that was committed before it holds for an act that was in flight.
      if (by.isTenant) assertNotSuspended((await tx.tenantById(tenantId))!)
      // Sent together with the first statement of the work, so that it costs no network round trip of its own.
      const end = isAudited ? tx.auditEnd(tenantId) : undefined
      end?.catch(() => {})
      const { result, facts } = await work(tx)
      if (end && facts) await this.audit.append(tx, tenantId, entryOf(facts, by), end)
      return result
    }
    return this.store.transaction(scope, audited, deadlineMs)
  }

  /** Appends an entry about something that changes nothing else. */
  record(tenantId: string, actor: Actor, facts: AuditFacts, options?: UnitOptions): Promise<void> {
    return this.run(tenantId, actor, async () => ({ result: undefined, facts }), options)
  }

  /**
   * Runs `work` that finds out whether anything is to be recorded, and in whose log.
   * @param scope as of `Store.transaction`
   */
  runFound<Result>(
    scope: Scope,
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<FoundResult<Result>>,
  ): Promise<Result> {
    return this.store.transaction(scope, async (tx) => {
      const found = await work(tx)
      if (found.tenantId !== null) await this.audit.append(tx, found.tenantId, entryOf(found.facts, actor))
      return found.result
    })
  }

  /** Runs `work` that concerns every tenant, and appends its entry to every log, unless there is nothing to record. */
  runForAll<Result>(
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<AuditedResult<Result, AuditFacts | null>>,
  ): Promise<Result> {
    return this.store.transaction('installation', async (tx) => {
      const { result, facts } = await work(tx)
      if (facts === null) return result
      const entry = entryOf(facts, actor)
      for (const { id } of await tx.tenants()) await this.audit.append(tx, id, entry)
      return result
    })
  }

  /** Runs `work` that concerns one tenant, or every tenant where `tenantId` is null. */
  runFor<Result>(
    tenantId: string | null,
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<AuditedResult<Result>>,
  ): Promise<Result> {
    return tenantId === null ? this.runForAll(actor, work) : this.run(tenantId, actor, work)
  }

  /**
   * Appends an entry to every log about something that no single transaction did. Each log has a transaction of its own, of which 20 are
   * under way at once, so that callers of a service with many tenants are not kept waiting.
   */
  async recordInAll(actor: Actor, facts: AuditFacts): Promise<void> {
    const tenants = await this.store.read.tenants()
    for (let start = 0; start < tenants.length; start += TENANTS_AT_ONCE) {
      const some = tenants.slice(start, start + TENANTS_AT_ONCE)
      await Promise.all(
        some.map(({ id: tenantId }) => {
          const append = (tx: StoreTransaction) => this.audit.append(tx, tenantId, entryOf(facts, actor))
          // A key of its own, because the entry follows from nothing else of the tenant: so the appends share their round trips.
          return this.store.transaction({ tenantId, serializationKey: tenantId }, append)
        }),
      )
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

function entryOf(facts: AuditFacts, { name, requestId }: Actor) {
  return { ...facts, actor: name, request_id: requestId }
}
