/** What the services of one database agree on while they run. Nothing of it is durable: with them it is gone. */

import type { EpochProgress } from './epoch-book.js'

/** Tokens of a bucket that fills by `ratePerSecond` up to `burst`. */
export interface TokenBucket {
  ratePerSecond: number
  burst: number
}

export interface TokenLease {
  /** Whole tokens that were taken out; 0 where there was none. */
  granted: number
  /** What the bucket holds after that, with its fraction. */
  left: number
}

/** Held, or the digest of the payload for which another holds it, and when that is free if its holder has died. */
export type Claim = { release(): void } | { heldFor: Buffer; leaseSeconds: number }

/** The right to execute a request for an idempotency key. */
export interface Claims {
  /** Takes what nobody holds, or whose holder is gone. @throws StoreUnavailableError */
  claim(scope: Buffer, payloadHash: Buffer): Promise<Claim>
}

/** A service as the others on its database know it. */
export interface ServiceNode {
  id: string
  /** Machine and process. */
  name: string
  version: string
  /** The commit that the service was built from; `unknown` where the build did not say. */
  commit: string
  /** Schema version of the database, as the service's code knows it; null for a version that does not say. */
  schema: number | null
  /** Milliseconds since the Unix epoch. */
  startedAt: number
  /** Until others may take over what it holds. */
  leaseMs: number
  /** What all are to have alike, by the settings' names; null before it serves. */
  settings: Record<string, string> | null
  /** Ids of the master keys that it could read at its last look; null before the first one, and of a version that does not say. */
  masterKeys: string[] | null
  /** Why the service is not ready, as /readyz names it; empty for one that is ready. */
  notReady: string[]
}

/** A service's reports about itself to other services and to commands. */
export interface Presence {
  /** Addresses, and what all services are to have alike. @throws StoreUnavailableError */
  announce(settings: Record<string, string>): Promise<void>
  /** @param ids of the master keys that it can read at this moment */
  showMasterKeys(ids: readonly string[]): void
  /** @param notReady why this service is not ready; empty for one that is */
  showReadiness(notReady: readonly string[]): void
}

export interface Coordinator extends Claims, Presence {
  readonly id: string
  /** The schema was changed in a way for which this version's code is too old. */
  readonly isOutdated: boolean
  /**
   * Takes or keeps what one service does for all, unless another one has it; 0 gives it up.
   * @returns whether it is ours for so long, and milliseconds since the Unix epoch by the database's clock
   * @throws StoreUnavailableError
   */
  takeDuty(forMs: number): Promise<{ isTaken: boolean; nowMs: number }>
  /** Lets the others know with the next beat. */
  showEpochs(progress: EpochProgress): void
  /** @throws StoreUnavailableError */
  leaseTokens(holder: string, bucket: TokenBucket, most: number): Promise<TokenLease>
  /** The service is to end: where the database says nothing, all that it is asked from here on fails soon. */
  leave(): void
}
