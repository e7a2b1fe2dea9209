/** Runs one endpoint for one request: its work, then one transaction for effect, kept response and audit entry. */

import type { Commit, Endpoint, Outcome, Refusal } from '../api/endpoint.js'
import { errorBody, errorHeaders, statusOf } from '../api/error-response.js'
import type { AuditEventName } from '../audit/audit-events.js'
import type { AuditFacts, AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { BiometricError } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { Execution, KeptResponse, ResponseOwner } from '../idempotency/idempotency.js'
import { DomainError } from '../lib/domain-error.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Call } from '../verification/call.js'
import { SignatureAwaited } from '../verification/verdict-token.js'
import { serialize } from './reply-signer.js'

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

  /** @throws DomainError that is not the outcome of an execution; BiometricError cancelled when the caller hung up */
  async run(
    endpoint: Endpoint<unknown>,
    call: Call<unknown>,
    execution: Execution | undefined,
  ): Promise<Outcome> {
    let work: Commit | Outcome
    try {
      work = await endpoint.handle(call)
    } catch (error) {
      work = outcomeOf(error, call)
    }
    if (typeof work !== 'function' && !execution && !this.auditEventOf(endpoint)) return work
    try {
      for (;;) {
        const done = await this.commit(endpoint, call, execution, work).catch(awaitedBy)
        if (!(done instanceof SignatureAwaited)) return done
        await signatureOf(done, call)
      }
    } catch (error) {
      // The transaction refused the effect and was rolled back: only the refusal is kept and audited.
      return this.commit(endpoint, call, execution, outcomeOf(error, call))
    }
  }

  private async commit(
    endpoint: Endpoint<unknown>,
    call: Call<unknown>,
    execution: Execution | undefined,
    work: Commit | Outcome,
  ): Promise<Outcome> {
    if (call.signal.aborted) throw new BiometricError('cancelled', 'The caller hung up.')
    const started = performance.now()
    // Thrown before the transaction, so that the database is not held responsible for the time.
    if (started > call.deadlineMs) throw new DomainError('deadline_exceeded')
    const { sign = 0 } = call.timings
    const event = this.auditEventOf(endpoint)
    try {
      return await this.audited.run(
        call.tenant.id,
        { name: call.keyId, requestId: call.requestId },
        async (tx) => {
          // The lock may have come late: after a 504 nothing may have happened.
          if (performance.now() > call.deadlineMs) throw new DomainError('deadline_exceeded')
          const outcome = settle(typeof work === 'function' ? await work(tx) : work, call)
          if (event && outcome.code && !outcome.audit?.subject)
            outcome.audit = { ...outcome.audit, ...(await this.refusedUser(tx, call)) }
          await execution?.keep(tx, keptResponse(outcome), ownerOf(call, outcome))
          return { result: outcome, facts: event && !outcome.isRepeat ? factsOf(event, call, outcome) : null }
        },
        {
          deadlineMs: call.deadlineMs,
          serializationKey: this.serializationKeyOf(call),
          isAudited: event !== undefined,
        },
      )
    } finally {
      // A verdict is signed inside the transaction if the service holds the key; its time counts as a stage of its own.
      const signingMs = (call.timings.sign ?? 0) - sign
      call.timings.store = (call.timings.store ?? 0) + performance.now() - started - signingMs
    }
  }

  /** Pseudonym of the user whose call was refused; empty where the user does not exist. */
  private async refusedUser(tx: StoreTransaction, { user }: Call<unknown>): Promise<{ subject?: string }> {
    const found = user && (await this.parts.vault.find(tx, user.blindIndex, user.id))
    return found ? { subject: found.pseudonym } : {}
  }

  /** Calls about different users run concurrently. In the sandbox none do: a call may also issue the tenant's production key. */
  private serializationKeyOf({ user }: Call<unknown>): string | undefined {
    return this.parts.environment === 'production' ? user?.blindIndex.toString('latin1') : undefined
  }

  private auditEventOf(endpoint: Endpoint<unknown>): AuditEventName | undefined {
    return this.parts.environment === 'production' ? endpoint.auditEvent : undefined
  }
}

function awaitedBy(error: unknown): SignatureAwaited {
  if (error instanceof SignatureAwaited) return error
  throw error
}

/** Waits for the signature outside of any transaction. The deadline, which the next one checks, bounds how often. */
async function signatureOf({ signed }: SignatureAwaited, { timings }: Call<unknown>): Promise<void> {
  const started = performance.now()
  await signed
  timings.sign = (timings.sign ?? 0) + performance.now() - started
}

function factsOf(event: AuditEventName, call: Call<unknown>, { status, code, audit }: Outcome): AuditFacts {
  return {
    ...audit,
    ...(call.captureSession ? { capture_session: call.captureSession.id } : {}),
    event,
    ...(call.address === null ? {} : { address: call.address }),
    status,
    ...(code ? { code } : {}),
  }
}

/** The outcome of an executed request that failed. Only here is decided which errors are outcomes. @throws the error itself if it is not */
function outcomeOf(error: unknown, call: Call<unknown>): Outcome {
  if (!(error instanceof DomainError)) throw error
  const status = statusOf(error)
  if (status >= 500 || NOT_EXECUTED.has(status)) throw error
  return { status, code: error.code, body: errorBody(error, call), headers: errorHeaders(error) }
}

/** The outcome with its body as text, which is serialized once to be kept, signed and sent. */
function settle(done: Outcome | Refusal, call: Call<unknown>): Outcome {
  if (!('refused' in done)) return { ...done, body: serialize(done.body) }
  const { refused, ...facts } = done
  const outcome = outcomeOf(refused, call)
  return { ...outcome, ...facts, body: serialize(outcome.body) }
}

function keptResponse({ status, body, keptBody, onlyForCaller }: Outcome): KeptResponse {
  return { status, body: serialize(keptBody ?? body), onlyForCaller }
}

/** Every kept response of a request about a user is erased with the user, a refusal as well. */
function ownerOf({ user }: Call<unknown>, { sealedFor = null }: Outcome): ResponseOwner | undefined {
  return user ? { blindIndex: user.blindIndex, subject: sealedFor } : undefined
}
