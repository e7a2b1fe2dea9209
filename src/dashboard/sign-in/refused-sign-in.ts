/** Records a refused sign-in in the audit log. */
import type { AdministeredCore } from '../../admin/administration.js'

/** @returns the error, or the failure that kept it from being recorded: no refusal must go without a trace */
export async function auditRefusedSignIn(
  error: unknown,
  core: AdministeredCore,
  requestId: string,
): Promise<unknown> {
  try {
    await core.operations.signIns.failed(requestId)
    return error
  } catch (failure) {
    return failure
  }
}
