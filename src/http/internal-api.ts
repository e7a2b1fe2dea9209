/** Calls the API on behalf of a page of the service, with the key of the customer who has led the person there. Such a call passes the same checks as any other. */
import type { Environment } from '../config/config.js'
import type { Store } from '../storage/store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { PageFacts } from '../verification/call.js'
import type { ApiServer } from './api-server.js'
import type { IncomingRequest } from './listeners/listener.js'

export interface InternalApiParts {
  store: Store
  tenancy: Tenancy
  secrets: SigningSecrets
  apis: Record<Environment, ApiServer['handle']>
}

/** The customer in whose name the API is called. */
interface InternalCustomer {
  tenantId: string
  environment: Environment
  /** API key whose rights the call has. */
  keyId: string
}

export interface InternalRequest extends PageFacts {
  method: 'GET' | 'POST'
  path: string
  /** Fields of the query, encoded; undefined for none. */
  query?: string | undefined
  /** Fields of the body; undefined for none. */
  fields?: Record<string, unknown>
  /** Key under which the answer is stored; null or undefined to store none. */
  idempotencyKey?: string | null
}

export interface InternalAnswer {
  status: number
  body: Record<string, unknown>
}

export class InternalApi {
  constructor(private readonly parts: InternalApiParts) {}

  /**
   * @param browser the browser's request, which is answered with the result of the call
   * @throws DomainError when the customer's key is no longer valid
   */
  async send(
    { tenantId, keyId, environment }: InternalCustomer,
    browser: Pick<IncomingRequest, 'remoteAddress' | 'encrypted' | 'signal'>,
    { method, path, query = '', fields, idempotencyKey, ...facts }: InternalRequest,
  ): Promise<InternalAnswer> {
    const { store, tenancy, secrets, apis } = this.parts
    const caller = await tenancy.callerAgain(tenantId, keyId)
    const identity = { caller, secrets: await secrets.active(store.read, caller.tenant.id) }
    const body = Buffer.from(fields === undefined ? '' : JSON.stringify(fields))
    const { remoteAddress, encrypted, signal } = browser
    const answer = await apis[environment](
      {
        method,
        path,
        query,
        headers: {
          ...(fields === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey == null ? {} : { 'x-svc-idempotency-key': idempotencyKey }),
        },
        remoteAddress,
        encrypted,
        signal,
        body: async () => body,
      },
      { identity, facts },
    )
    answer.afterwards?.()
    const text = answer.body.toString()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
  }
}
