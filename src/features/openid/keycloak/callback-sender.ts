/**
 * Reports the results of capture sessions to Keycloak. A second report can destroy the first: Keycloak then forgets the request, unless
 * its client has fetched the tokens (`BackchannelAuthenticationCallbackEndpoint`). So an attempt whose outcome is unknown is repeated only
 * after the time in which clients fetch them.
 */
import type { Logger } from 'pino'
import { canonicalJson } from '../../../contract/canonical-json.js'
import { SECOND_MS } from '../../../lib/clock.js'
import { PeriodicTask } from '../../../lib/periodic-task.js'
import { VERSION } from '../../../lib/version.js'
import type { OpenIdClient } from '../openid-clients.js'
import { type CallbackRecord, callbackReader, callbackWriter } from '../openid-tables.js'
import type { Refused } from '../refusals.js'
import { approvalIn, callAs } from '../sign-in.js'
import type { AuthenticationChannelParts } from './authentication-channel.js'
import { type Callback, CallbackBook } from './callback-book.js'

interface CallbackSenderParts extends Omit<AuthenticationChannelParts, 'addresses'> {
  log: Logger
}

/** Values of Keycloak's `AuthenticationChannelResponse.Status`. */
type Status = 'SUCCEED' | 'UNAUTHORIZED' | 'CANCELLED'
type Result = { status: Status; refused?: Refused }

/** Path below the issuer of the realm (`CibaRootEndpoint`). */
const CALLBACK_PATH = '/protocol/openid-connect/ext/ciba/auth/callback'
const POLL_MS = SECOND_MS
const MAX_AT_ONCE = 20
const TIMEOUT_MS = 5 * SECOND_MS
/** Twice the interval at which Keycloak's clients ask for their tokens by default. Longer than an attempt takes. */
export const UNKNOWN_OUTCOME_MS = 10 * SECOND_MS
const NOT_SENT_MS = SECOND_MS
/** Failures before which nothing of the request was sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']

export class CallbackSender extends PeriodicTask {
  private readonly stopped = new AbortController()

  private readonly book: CallbackBook

  constructor(private readonly parts: CallbackSenderParts) {
    super(
      POLL_MS,
      () => this.sendDue(),
      (err) => parts.log.warn({ err }, 'due callbacks to Keycloak could not be read'),
    )
    this.book = new CallbackBook(parts.keys, parts.vault)
  }

  /** Aborts the attempts in flight: the next process takes their outcome for unknown. */
  override async stop(): Promise<void> {
    this.stopped.abort()
    await super.stop()
  }

  private async sendDue(): Promise<void> {
    const { store, clock, log } = this.parts
    const due = await store.read.statements(callbackReader).due(clock.now(), MAX_AT_ONCE)
    const reports = due.map((record) =>
      this.report(record).catch((err) => log.warn({ err }, 'a callback to Keycloak could not be attempted')),
    )
    await Promise.all(reports)
  }

  private async report(record: CallbackRecord): Promise<void> {
    const { store, clock, clients } = this.parts
    const callback = await this.book.opened(store.read, record)
    const client = await clients.find(store.read, callback.clientId)
    if (!client?.keycloak || callback.expiresAt <= clock.now()) return this.next(record, null)
    const result = await this.resultOf(record, callback, client)
    if (result === null) return this.next(record, null)
    if (result === 'unavailable') return this.next(record, clock.now() + NOT_SENT_MS)
    // Committed before the attempt, so that a process that is killed during it leaves an outcome that is unknown.
    const nextAt = clock.now() + UNKNOWN_OUTCOME_MS
    const isTaken = await store.transaction('rows', (tx) =>
      tx.statements(callbackWriter).take(record, nextAt),
    )
    if (!isTaken) return
    const taken = { ...record, attempts: record.attempts + 1 }
    if (result.refused && taken.attempts === 1) {
      if (result.refused.code === 'user_disowned') await this.reportDisowned(record, callback, client)
      await this.refused(client, callback, result.refused)
    }
    const outcome = await this.post(client, callback, result.status)
    if (outcome === 'not_sent') return this.next(taken, clock.now() + NOT_SENT_MS)
    if (outcome === 'unknown') return
    await this.next(taken, null)
    if (outcome >= 300)
      await this.refused(client, callback, { code: 'result_not_taken', detail: `HTTP ${outcome}` })
  }

  /** @returns null where Keycloak is to wait in vain: the person did not finish in time, or was erased */
  private async resultOf(
    { sessionId }: CallbackRecord,
    { userId, action, asked }: Callback,
    client: OpenIdClient,
  ): Promise<Result | null | 'unavailable'> {
    const visitor = { remoteAddress: '127.0.0.1', encrypted: true, signal: this.stopped.signal }
    const { status, body } = await callAs(this.parts.calls, client, visitor, {
      method: 'GET',
      path: `/v1/capture-sessions/${sessionId}`,
    })
    if (status >= 500 || status === 429) return 'unavailable'
    if (status !== 200 || !['completed', 'cancelled'].includes(String(body.status))) return null
    // A session that was cancelled keeps the result of the last try.
    if (body.status === 'cancelled' && !body.disowned)
      return { status: 'CANCELLED', refused: { code: 'user_gave_up' } }
    const approval = approvalIn(body, userId, asked, client.acr)
    if ('code' in approval) return { status: 'UNAUTHORIZED', refused: approval }
    return canonicalJson(approval.action) === canonicalJson(action)
      ? { status: 'SUCCEED' }
      : { status: 'UNAUTHORIZED', refused: { code: 'action_not_valid' } }
  }

  /** @returns the HTTP status; `unknown` where Keycloak may have taken the result; `not_sent` where it has not */
  private async post(
    { keycloak }: OpenIdClient,
    { token }: Callback,
    status: Status,
  ): Promise<number | 'unknown' | 'not_sent'> {
    try {
      const response = await fetch(`${keycloak!.url}${CALLBACK_PATH}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': `Countersign/${VERSION}`,
          Authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ status }),
        // A redirect must not lead the token to somebody else.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.stopped.signal]),
      })
      await response.body?.cancel()
      this.parts.log.info({ status, answer: response.status }, 'reported a result to Keycloak')
      return response.status >= 500 || response.status === 429 ? 'unknown' : response.status
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: unknown }
      this.parts.log.warn({ status, reason: code ?? 'no answer' }, 'Keycloak was not reached, will retry')
      return NOT_SENT.includes(String(code)) ? 'not_sent' : 'unknown'
    }
  }

  private async reportDisowned(
    { sessionId, tenantId }: CallbackRecord,
    { userId, requestedBy = '' }: Callback,
    { record: { environment }, name }: OpenIdClient,
  ): Promise<void> {
    const { store, events, vault } = this.parts
    const blindIndex = vault.blindIndex(tenantId, environment, userId)
    await store.transaction({ tenantId }, async (tx) => {
      const user = await tx.subjectWithoutReference(blindIndex)
      await events.put(tx, {
        tenantId,
        environment,
        type: 'openid.request_disowned',
        data: { user_id: userId, session_id: sessionId, application: name, requested_by: requestedBy },
        ...(user ? { subject: { blindIndex, id: user.id, dataKey: vault.dataKey(user) } } : {}),
      })
    })
  }

  private next(record: CallbackRecord, nextAt: number | null): Promise<void> {
    return this.parts.store.transaction('rows', (tx) => tx.statements(callbackWriter).setNext(record, nextAt))
  }

  private refused({ record }: OpenIdClient, { userId }: Callback, refusal: Refused): Promise<void> {
    const { id: clientId, environment } = record
    return this.parts.refusals.record({ ...refusal, environment, clientId, userId })
  }
}
