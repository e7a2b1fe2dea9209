/** Calls the API on behalf of the hosted page, with the key that created the session. */
import {
  type InternalAnswer,
  InternalApi,
  type InternalApiParts,
  type InternalRequest,
} from '../../../http/internal-api.js'
import type { IncomingRequest } from '../../../http/listeners/listener.js'
import type { CapturedBy } from '../../../verification/call.js'
import type { CaptureSession } from '../capture-session-book.js'

export type { InternalAnswer }
export type InternalCallParts = InternalApiParts

export class InternalCalls {
  private readonly api: InternalApi

  constructor(parts: InternalCallParts) {
    this.api = new InternalApi(parts)
  }

  /**
   * @param request the browser's request, which is answered with the result of the call
   * @param capture what goes along with a capture: the key under which its answer is stored, the text that the page showed for the action,
   * and the session's own consent text
   * @throws DomainError when the key that created the session is no longer valid
   */
  post(
    { record, content }: CaptureSession,
    request: IncomingRequest,
    path: string,
    fields: Record<string, unknown>,
    {
      ownConsent,
      ...capture
    }: Pick<InternalRequest, 'idempotencyKey' | 'note'> & Pick<CapturedBy, 'ownConsent'> = {},
  ): Promise<InternalAnswer> {
    const { id, binding } = record
    const { isDiscreet } = content.captureRequest
    return this.api.send(record, request, {
      method: 'POST',
      path,
      fields,
      ...capture,
      captureSession: { id, binding, ownConsent },
      isDiscreet,
    })
  }
}
