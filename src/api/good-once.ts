/** Uses up what a request brings that is good for one call, in the transaction of the request's outcome. */
import type { ErrorCode } from '../contract/error-codes.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { AuditFacts, Commit, Outcome } from './endpoint.js'

export interface GoodOnce {
  /** Facts for the audit entry of a refusal that uses it up. */
  readonly facts: AuditFacts
  /** @throws DomainError where another request has used it up */
  use(tx: StoreTransaction): Promise<void>
}

/**
 * Runs the work and adds the use to its commit. A capture that is refused uses up as well what it came with: otherwise one challenge would
 * give as many tries as somebody likes. Any other error leaves it as it was.
 * @param brought by the request; empty for one that brings nothing of the kind
 * @param spendingErrors further refusals that use it up
 * @param onRefused runs in the transaction that uses it up, and returns further facts for the audit entry
 */
export async function useUp(
  brought: readonly GoodOnce[],
  spendingErrors: ReadonlySet<ErrorCode>,
  work: () => Promise<Commit | Outcome>,
  onRefused: (tx: StoreTransaction, error: DomainError) => Promise<AuditFacts> = async () => ({}),
): Promise<Commit | Outcome> {
  if (brought.length === 0) return work()
  try {
    const result = await work()
    return async (tx) => {
      for (const one of brought) await one.use(tx)
      return typeof result === 'function' ? result(tx) : result
    }
  } catch (error) {
    if (
      !(error instanceof DomainError) ||
      !(error.category === 'biometric_rejected' || spendingErrors.has(error.code))
    )
      throw error
    return async (tx) => {
      for (const one of brought) await one.use(tx)
      return { refused: error, audit: { ...brought[0]!.facts, ...(await onRefused(tx, error)) } }
    }
  }
}
