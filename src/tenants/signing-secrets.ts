/** Makes, seals and rotates a tenant's signing secret. A rotation has an overlap in which the old and the new secret both validate. */

import { prefixedId, randomBase62 } from '../crypto/identifiers.js'
import type { SigningSecret } from '../crypto/response-signature.js'
import { openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, isoTime, MINUTE_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { SigningSecretRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'

export const OVERLAP_MS = 30 * MINUTE_MS

/** A new signing secret in the clear, which is shown to the tenant once. */
export interface RevealedSecret {
  id: string
  secret: string
  createdAt: number
}

export interface Rotation {
  current: RevealedSecret
  previous: { id: string; validUntil: number }
}

/**
 * The secrets valid now. Outside an overlap `outgoing` is the only one; in it, `outgoing` is the old one, which backends
 * that were not redeployed still hold, and `incoming` the new one.
 */
export interface ActiveSecrets {
  outgoing: SigningSecret
  incoming: SigningSecret | null
}

/** Unsealed secrets in the cache; the oldest makes room. */
const MAX_CACHED = 1024

export class SigningSecrets {
  /** Unsealed secrets by id, with the box that each was in. Every call reads the box from the store, so a resealed secret is unsealed again. */
  private readonly cache = new Map<string, { box: Buffer; secret: SigningSecret }>()

  constructor(
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly clock: Clock,
  ) {}

  async active(store: StoreReader, tenantId: string): Promise<ActiveSecrets> {
    return this.activeOf(tenantId, await store.signingSecrets(tenantId, this.clock.now()))
  }

  /** @param records secrets that are valid now, the current one first */
  activeOf(tenantId: string, [current, previous]: SigningSecretRecord[]): ActiveSecrets {
    if (!current || current.validUntil !== null) throw new Error(`tenant ${tenantId} has no signing secret`)
    return previous
      ? { outgoing: this.unseal(previous), incoming: this.unseal(current) }
      : { outgoing: this.unseal(current), incoming: null }
  }

  async create(tx: StoreTransaction, tenantId: string): Promise<RevealedSecret> {
    const createdAt = this.clock.now()
    const revealed = { id: prefixedId('sec', createdAt), secret: `svc-sec-${randomBase62()}`, createdAt }
    await tx.insertSigningSecret({
      id: revealed.id,
      tenantId,
      sealed: seal(this.keys.secrets.current, Buffer.from(revealed.secret), revealed.id),
      createdAt,
      validUntil: null,
    })
    return revealed
  }

  /**
   * Makes a new current secret; the one before stays valid for the overlap. In an overlap only `force` rotates again: it
   * ends the older secret at once.
   * @throws DomainError rotation_in_progress
   */
  async rotate(tx: StoreTransaction, tenantId: string, force: boolean): Promise<Rotation> {
    const now = this.clock.now()
    const [current, outgoing] = await tx.signingSecrets(tenantId, now)
    if (!current) throw new Error(`tenant ${tenantId} has no signing secret`)
    if (outgoing && !force)
      throw new DomainError('rotation_in_progress', {
        message: `A rotation is in progress: the older secret is valid until ${isoTime(outgoing.validUntil!)}.`,
        retryAfterMs: outgoing.validUntil! - now,
      })
    // Ended secrets are deleted: a clock that is set back must not bring one back into use.
    await tx.deleteEndedSigningSecrets(tenantId)
    const validUntil = now + OVERLAP_MS
    await tx.setSigningSecretEnd(current.id, validUntil)
    return { current: await this.create(tx, tenantId), previous: { id: current.id, validUntil } }
  }

  /**
   * Makes a new secret and ends all others at once, without an overlap: for secrets that may be known to someone who must not
   * sign any more.
   */
  async replace(tx: StoreTransaction, tenantId: string): Promise<RevealedSecret> {
    const now = this.clock.now()
    for (const { id } of await tx.signingSecrets(tenantId, now)) await tx.setSigningSecretEnd(id, now)
    await tx.deleteEndedSigningSecrets(tenantId)
    return this.create(tx, tenantId)
  }

  private unseal({ id, sealed }: SigningSecretRecord): SigningSecret {
    const known = this.cache.get(id)
    if (known?.box.equals(sealed)) return known.secret
    const secret = { id, secret: openWithAny(this.keys.secrets, sealed, id) }
    if (this.cache.size >= MAX_CACHED) this.cache.delete(this.cache.keys().next().value!)
    this.cache.set(id, { box: sealed, secret })
    return secret
  }
}
