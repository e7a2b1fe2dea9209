/** Runs one endpoint for one request: its work, then one transaction for effect, kept response and audit entry. */

import type { Call, Commit, Endpoint, Outcome } from '../api/endpoint.js'
import type { AuditEventName } from '../audit/audit-events.js'
import type { AuditFacts, AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { BiometricError } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { Execution, KeptResponse } from '../idempotency/idempotency.js'
import { ApiError } from '../lib/api-error.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Answer } from './answer.js'

/** Statuses that say nothing of an execution: never kept for a replay, never audited. */
const NOT_EXECUTED = new Set([400, 401, 403, 405, 413, 415, 429])

export class EndpointRunner {
  private readonly audited: AuditedUnitOfWork

  constructor(
    private readonly parts: {
      environment: Environment
      store: Store
      audit: AuditLog
      vault: Pick<TemplateVault, 'find'>
    },
  ) {
    this.audited = new AuditedUnitOfWork(parts.store, parts.audit)
  }

  /** @throws ApiError that is no outcome of an execution; BiometricError cancelled when the caller hung up */
  async run(
    endpoint: Endpoint<unknown>,
    call: Call<unknown>,
    execution: Execution | undefined,
  ): Promise<Answer> {
    let work: Commit | Outcome
    try {
      work = await endpoint.handle(call)
    } catch (error) {
      work = refusal(error, call)
    }
    if (typeof work !== 'function' && !execution && !this.auditEventOf(endpoint)) return toAnswer(work)
    try {
      return await this.commit(endpoint, call, execution, work)
    } catch (error) {
      // The effect was refused inside its transaction, which is rolled back; the refusal itself is what remains.
      return this.commit(endpoint, call, execution, refusal(error, call))
    }
  }

  private async commit(
    endpoint: Endpoint<unknown>,
    call: Call<unknown>,
    execution: Execution | undefined,
    work: Commit | Outcome,
  ): Promise<Answer> {
    if (call.signal.aborted) throw new BiometricError('cancelled', 'The caller hung up.')
    const started = performance.now()
    // The database is not to be blamed for it.
    if (started > call.deadlineMs) throw new ApiError('deadline_exceeded')
    const { sign = 0 } = call.timings
    const event = this.auditEventOf(endpoint)
    try {
      return await this.audited.run(
        call.tenant.id,
        { name: call.keyId, requestId: call.requestId },
        async (tx) => {
          // The lock may have come late: a caller that gets a 504 must find that nothing has happened.
          if (performance.now() > call.deadlineMs) throw new ApiError('deadline_exceeded')
          const outcome = typeof work === 'function' ? await work(tx) : work
          const refusedUser =
            event && outcome.code && !outcome.audit?.subject ? await this.refusedUser(tx, call) : {}
          const audit = { ...refusedUser, ...outcome.audit }
          const answer = toAnswer({ ...outcome, audit })
          await execution?.keep(tx, keptResponse(outcome, answer), outcome.owner)
          return { result: answer, facts: event && factsOf(event, call, { ...outcome, audit }) }
        },
        {
          deadlineMs: call.deadlineMs,
          serializationKey: this.serializationKeyOf(call),
          isAudited: event !== null,
        },
      )
    } finally {
      // A verdict is signed inside the transaction: a stage of its own.
      const signingMs = (call.timings.sign ?? 0) - sign
      call.timings.store = (call.timings.store ?? 0) + performance.now() - started - signingMs
    }
  }

  /** The pseudonym of the user whose call was refused; nothing for a user who does not exist. */
  private async refusedUser(tx: StoreTransaction, { user }: Call<unknown>): Promise<{ subject?: string }> {
    const found = user && (await this.parts.vault.find(tx, user.blindIndex, user.id))
    return found ? { subject: found.pseudonym } : {}
  }

  /** Calls about different users run concurrently. In the sandbox none do: a call may also issue the tenant's production key. */
  private serializationKeyOf({ user }: Call<unknown>): string | undefined {
    return this.parts.environment === 'production' ? user?.blindIndex.toString('latin1') : undefined
  }

  private auditEventOf(endpoint: Endpoint<unknown>): AuditEventName | null {
    return this.parts.environment === 'production' ? endpoint.auditEvent : null
  }
}

/** The outcome that an error amounts to when the request was executed; other errors go on. */
function refusal(error: unknown, call: Call<unknown>): Outcome {
  if (!(error instanceof ApiError) || error.status >= 500 || NOT_EXECUTED.has(error.status)) throw error
  return {
    status: error.status,
    code: error.code,
    body: error.toBody(call),
    headers: error.headers,
    // Sealed under the service's key: the user may be gone, and a refusal says nothing of them.
    ...(call.user ? { owner: { blindIndex: call.user.blindIndex, subject: null } } : {}),
  }
}

function factsOf(event: AuditEventName, call: Call<unknown>, { status, code, audit }: Outcome): AuditFacts {
  return {
    ...audit,
    ...(call.captureSession ? { capture_session: call.captureSession } : {}),
    event,
    ...(call.address === null ? {} : { address: call.address }),
    status,
    ...(code ? { code } : {}),
  }
}

function keptResponse({ keptBody }: Outcome, answer: Answer): KeptResponse {
  return keptBody ? { status: answer.status, body: JSON.stringify(keptBody) } : answer
}

function toAnswer({ status, body, headers, code, observed, audit, furtherTokens }: Outcome): Answer {
  const { subject, verification_id: verificationId } = audit ?? {}
  return {
    status,
    body: JSON.stringify(body),
    headers: headers ?? {},
    code,
    observed,
    subject,
    ...(typeof verificationId === 'string' ? { verificationId } : {}),
    furtherTokens,
  }
}
