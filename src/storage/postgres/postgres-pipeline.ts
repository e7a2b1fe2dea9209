/**
 * Shares one connection between the statements of many callers: they leave together and are answered in order, so that no caller waits for
 * a free connection.
 */
import type { PoolClient } from 'pg'

/** No statement joins a connection whose oldest statement has waited for longer than this. */
const MAX_WAIT_TO_JOIN_MS = 50

export class Pipeline {
  private client: PoolClient | null = null
  private readonly begunMs = performance.now()
  private users = 0
  private isLost = false
  private hasEnded = false

  /** @param connecting a connection that nobody else uses, released once the last caller has left */
  constructor(private readonly connecting: Promise<PoolClient>) {
    connecting.then(
      (client) => {
        this.client = client
      },
      () => {
        this.hasEnded = true
      },
    )
  }

  /**
   * Whether another statement may join. @param silentMs for how long a connection has owed an answer; null when it must not be used any
   * more
   */
  isOpen(silentMs: (client: PoolClient) => number | null): boolean {
    if (this.hasEnded || this.isLost) return false
    // Until the connection is made, the wait counts from the request for it.
    const waitMs = this.client ? silentMs(this.client) : performance.now() - this.begunMs
    return waitMs !== null && waitMs < MAX_WAIT_TO_JOIN_MS
  }

  /** Adds a caller, who has to call `leave`, unless the promise rejects. */
  join(): Promise<PoolClient> {
    this.users++
    return this.connecting
  }

  /** @param isLost whether the connection is lost, and with it the answers that other callers wait for */
  leave(isLost: boolean): void {
    this.isLost ||= isLost
    if (--this.users > 0) return
    this.hasEnded = true
    this.client!.release(this.isLost)
  }
}
