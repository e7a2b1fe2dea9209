/** What the audit log is told of a sign-in that was refused. */
import type { DashboardCore } from './dashboard-services.js'

/** @returns the error, or what kept it from being told: nobody is to be refused without a trace */
export async function auditRefusedSignIn(
  error: unknown,
  core: DashboardCore,
  requestId: string,
): Promise<unknown> {
  try {
    await core.operations.signIns.failed(requestId)
    return error
  } catch (failure) {
    return failure
  }
}
