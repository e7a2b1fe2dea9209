/** Calls the API on behalf of the hosted page, with the key that created the session. Such a call passes the same checks as any other. */
import type { Environment } from '../config/config.js'
import type { ApiServer } from '../http/api-server.js'
import type { IncomingRequest } from '../http/listeners/listener.js'
import type { Store } from '../storage/store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { ShownDisplay } from '../verification/call.js'
import type { CaptureSession } from '../verification/capture-session-book.js'

export interface InternalCallParts {
  store: Store
  tenancy: Tenancy
  secrets: SigningSecrets
  apis: Record<Environment, ApiServer['handle']>
}

export interface InternalAnswer {
  status: number
  body: Record<string, unknown>
}

export class InternalCalls {
  constructor(private readonly parts: InternalCallParts) {}

  /**
   * @param request the browser's request, which is answered with the result of the call
   * @param idempotencyKey key under which the answer is stored, or null to store none
   * @param display text that the page showed for the action
   * @throws DomainError when the key that created the session is no longer valid
   */
  async post(
    { record }: CaptureSession,
    request: IncomingRequest,
    path: string,
    fields: Record<string, unknown>,
    idempotencyKey: string | null,
    display?: ShownDisplay,
  ): Promise<InternalAnswer> {
    const { store, tenancy, secrets, apis } = this.parts
    const caller = await tenancy.callerAgain(record.tenantId, record.keyId)
    const identity = { caller, secrets: await secrets.active(store.read, caller.tenant.id) }
    const body = Buffer.from(JSON.stringify(fields))
    const { remoteAddress, encrypted, signal } = request
    const answer = await apis[record.environment](
      {
        method: 'POST',
        path,
        query: '',
        headers: {
          'content-type': 'application/json',
          ...(idempotencyKey === null ? {} : { 'x-svc-idempotency-key': idempotencyKey }),
        },
        remoteAddress,
        encrypted,
        signal,
        body: async () => body,
      },
      { identity, captureSession: record.id, display },
    )
    answer.afterwards?.()
    const text = answer.body.toString()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
  }
}
