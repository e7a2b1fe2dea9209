/** Agreements between the services of one database while they run. Nothing of it is durable: it ends with the services. */

/** A token bucket that fills by `ratePerSecond` tokens up to `burst`. */
export interface TokenBucket {
  ratePerSecond: number
  burst: number
}

export interface TokenLease {
  /** Whole tokens that were taken out; 0 when the bucket had none. */
  granted: number
  /** Tokens that the bucket holds afterwards, with the fraction. */
  left: number
}

/**
 * Either the claim, or the digest of the payload for which another service holds it and the seconds until its lease ends if that service
 * has died.
 */
export type Claim = { release(): void } | { holderHash: Buffer; leaseSeconds: number }

/** The right to execute a request for an idempotency key. */
export interface Claims {
  /** Claims a key that no service holds, or whose holder's lease has ended. @throws StoreUnavailableError */
  claim(scope: Buffer, payloadHash: Buffer): Promise<Claim>
}

/** A service as the others on its database know it. */
export interface ServiceNode {
  id: string
  /** Host name and process id. */
  name: string
  version: string
  /** The commit that the service was built from; `unknown` where the build did not say. */
  commit: string
  /** Schema version of the database, as the service's code knows it; null for a version that does not say. */
  schema: number | null
  /** Milliseconds since the Unix epoch. */
  startedAt: number
  /** Milliseconds until other services may take over what this one holds. */
  leaseMs: number
  /** Values that must be alike on all services, by the settings' names; null before the service listens. */
  settings: Record<string, string> | null
  /**
   * Ids of the master keys that the service could read when it last looked; null before it has looked, and for a version that does not
   * report them.
   */
  masterKeys: string[] | null
  /** Why the service is not ready, as /readyz names it; empty for one that is ready. */
  notReady: string[]
}

/** A service's reports about itself to other services and to commands. */
export interface Presence {
  /** Publishes the addresses of this service, and the values that all services must share. @throws StoreUnavailableError */
  announce(settings: Record<string, string>): Promise<void>
  /** @param ids of the master keys that this service can read at this moment */
  showMasterKeys(ids: readonly string[]): void
  /** @param notReady why this service is not ready; empty for one that is */
  showReadiness(notReady: readonly string[]): void
}

export interface Coordinator extends Claims, Presence {
  readonly id: string
  /** Whether the schema was changed in a way for which this version's code is too old. */
  readonly isOutdated: boolean
  /**
   * Acquires or renews the leader lease unless another service holds it.
   * @param forMs length of the lease; 0 gives it up
   * @returns whether this service holds it for so long, and the database's clock in milliseconds since the Unix epoch
   * @throws StoreUnavailableError
   */
  acquireLeaderLease(forMs: number): Promise<{ isTaken: boolean; nowMs: number }>
  /** Takes tokens out of the bucket of `holder`. @param most tokens to take at most @throws StoreUnavailableError */
  leaseTokens(holder: string, bucket: TokenBucket, most: number): Promise<TokenLease>
}
