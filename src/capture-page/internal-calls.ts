/** Calls the API on behalf of the hosted page, with the key that created the session. */
import { type InternalAnswer, InternalApi, type InternalApiParts } from '../http/internal-api.js'
import type { IncomingRequest } from '../http/listeners/listener.js'
import type { ShownDisplay } from '../verification/call.js'
import type { CaptureSession } from '../verification/capture-session-book.js'

export type { InternalAnswer }
export type InternalCallParts = InternalApiParts

export class InternalCalls {
  private readonly api: InternalApi

  constructor(parts: InternalCallParts) {
    this.api = new InternalApi(parts)
  }

  /**
   * @param request the browser's request, which is answered with the result of the call
   * @param idempotencyKey key under which the answer is stored, or null to store none
   * @param display text that the page showed for the action
   * @throws DomainError when the key that created the session is no longer valid
   */
  post(
    { record, content }: CaptureSession,
    request: IncomingRequest,
    path: string,
    fields: Record<string, unknown>,
    idempotencyKey: string | null,
    display?: ShownDisplay,
  ): Promise<InternalAnswer> {
    const { id, binding } = record
    const { isDiscreet } = content.captureRequest
    return this.api.send(record, request, {
      method: 'POST',
      ...{ path, fields, idempotencyKey, captureSession: { id, binding }, display, isDiscreet },
    })
  }
}
