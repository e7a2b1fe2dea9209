/** The requests of Keycloak that wait for a result, as sealed rows: each is taken once, and outlives the process. */
import { createHash } from 'node:crypto'
import { openWithAny, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { OpenIdCallbackRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { AskedAcr } from '../asked-acr.js'
import type { RealmRequest } from './realm-token.js'

/** A request, as it was when the session began. */
export interface Callback {
  /** Application of the OpenID provider in whose name the session was opened. */
  clientId: string
  /** The token that came with the request, which the answer brings back. */
  token: string
  userId: string
  action: unknown
  asked: AskedAcr
  /** Milliseconds since the Unix epoch. After that, Keycloak takes no result. */
  expiresAt: number
}

/** A request is known for this long after its token has expired, so that clocks that differ do not make it new. */
const KEPT_MS = 60_000

export class CallbackBook {
  constructor(private readonly keys: Pick<ServiceKeys, 'secrets'>) {}

  /** Notes a request before anything else is done for it. @returns null for a request that is known already */
  async reserve(
    tx: StoreTransaction,
    tenantId: string,
    issuer: string,
    { id, expiresAt }: RealmRequest,
  ): Promise<OpenIdCallbackRecord | null> {
    const request = createHash('sha256')
      .update(JSON.stringify([issuer, id]))
      .digest()
    const record: OpenIdCallbackRecord = {
      ...{ request, tenantId, sessionId: null, attempts: 0, nextAt: null },
      sealed: Buffer.alloc(0),
      expiresAt: expiresAt + KEPT_MS,
    }
    return (await tx.insertOpenIdCallback(record)) ? record : null
  }

  /** Makes the result of a session be reported from now on. */
  async enqueue(
    tx: StoreTransaction,
    reserved: OpenIdCallbackRecord,
    sessionId: string,
    callback: Callback,
    now: number,
  ): Promise<void> {
    const text = Buffer.from(JSON.stringify(callback))
    const sealed = seal(this.keys.secrets.current, text, contextOf(reserved))
    await tx.putOpenIdCallback({ ...reserved, sessionId, sealed, nextAt: now })
  }

  opened(record: OpenIdCallbackRecord): Callback {
    return JSON.parse(openWithAny(this.keys.secrets, record.sealed, contextOf(record)).toString())
  }
}

function contextOf({ request }: OpenIdCallbackRecord): string {
  return `openid-callback ${request.toString('hex')}`
}
