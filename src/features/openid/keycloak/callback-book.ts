/**
 * The requests of Keycloak that wait for a result, as rows: each is taken once, and outlives the process. A row is sealed under the data key
 * of the user whom it names, and goes with the user.
 */
import { createHash } from 'node:crypto'
import { openWithAny, sealFor } from '../../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../../crypto/service-keys.js'
import type { StoreReader, StoreTransaction } from '../../../storage/store.js'
import type { TemplateVault } from '../../../users/template-vault.js'
import type { AskedAcr } from '../asked-acr.js'
import { type CallbackRecord, callbackWriter } from '../openid-tables.js'
import type { RealmRequest } from './realm-token.js'

/** A request, as it was when the session began. */
export interface Callback {
  /** Application of the OpenID provider in whose name the session was opened. */
  clientId: string
  /** The token that came with the request, which the answer brings back. */
  token: string
  userId: string
  /** Client of the realm. Absent in requests of earlier versions. */
  requestedBy?: string
  action: unknown
  asked: AskedAcr
  /** Milliseconds since the Unix epoch. After that, Keycloak takes no result. */
  expiresAt: number
}

/** A request is known for this long after its token has expired, so that clocks that differ do not make it new. */
const KEPT_MS = 60_000

export class CallbackBook {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly vault: Pick<TemplateVault, 'dataKey'>,
  ) {}

  /** Notes a request before anything else is done for it. @returns null for a request that is known already */
  async reserve(
    tx: StoreTransaction,
    tenantId: string,
    issuer: string,
    { id, expiresAt }: RealmRequest,
  ): Promise<CallbackRecord | null> {
    const request = createHash('sha256')
      .update(JSON.stringify([issuer, id]))
      .digest()
    const record: CallbackRecord = {
      request,
      tenantId,
      sessionId: null,
      blindIndex: null,
      attempts: 0,
      nextAt: null,
      sealed: Buffer.alloc(0),
      expiresAt: expiresAt + KEPT_MS,
    }
    return (await tx.statements(callbackWriter).insert(record)) ? record : null
  }

  /**
   * Makes the result of a session be reported from now on.
   * @param dataKey of the user; null for a user of the sandbox who is not enrolled
   */
  async enqueue(
    tx: StoreTransaction,
    reserved: CallbackRecord,
    { sessionId, blindIndex, dataKey }: { sessionId: string; blindIndex: Buffer; dataKey: Buffer | null },
    callback: Callback,
    now: number,
  ): Promise<void> {
    const text = Buffer.from(JSON.stringify(callback))
    const sealed = sealFor(dataKey, this.keys.secrets.current, text, contextOf(reserved))
    await tx.statements(callbackWriter).put({ ...reserved, sessionId, blindIndex, sealed, nextAt: now })
  }

  async opened(store: StoreReader, record: CallbackRecord): Promise<Callback> {
    const user = record.blindIndex && (await store.subjectWithoutReference(record.blindIndex))
    const { current, others } = this.keys.secrets
    // Services of an earlier version seal under the key of the service.
    const keys = user
      ? { current: this.vault.dataKey(user), others: [current, ...others] }
      : this.keys.secrets
    return JSON.parse(openWithAny(keys, record.sealed, contextOf(record)).toString())
  }
}

function contextOf({ request }: CallbackRecord): string {
  return `openid-callback ${request.toString('hex')}`
}
