/** Who operates the installation: what is done to that concerns every tenant, and stands in every log. */
import type { Actor, AuditedTransactions } from './operation.js'

export class OperatorOperations {
  constructor(private readonly audited: AuditedTransactions) {}

  /** Says that the operator's password, which is in no database, was replaced. */
  recordPasswordReset(actor: Actor): Promise<void> {
    return this.audited.runForAll(actor, async () => ({
      result: undefined,
      facts: { event: 'operator_password_reset' },
    }))
  }
}
