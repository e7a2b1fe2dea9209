/** What the audit log is told of a sign-in that was refused. */
import type { Ledger } from '../ledger.js'

/** @returns the error, or what kept it from being told: nobody is to be refused without a trace */
export async function auditRefusedSignIn(
  error: unknown,
  ledger: Ledger,
  requestId: string,
): Promise<unknown> {
  try {
    await ledger.operations.signIns.failed(requestId)
    return error
  } catch (failure) {
    return failure
  }
}
