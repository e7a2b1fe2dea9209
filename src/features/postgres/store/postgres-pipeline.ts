/**
 * Shares one connection between the statements of many callers: they leave together and are answered in order, so that no caller waits for
 * a free connection.
 */
import type { PoolClient } from 'pg'

/** No statement joins a connection whose oldest statement has waited for longer than this. */
const MAX_WAIT_TO_JOIN_MS = 50

export class Pipeline {
  private client: PoolClient | null = null
  private users = 0
  /** When the last answer came, or, without one, when the first statement was sent; on the axis of `performance.now()`. */
  private answeredMs = performance.now()
  private isLost = false
  private hasEnded = false

  /** @param connecting a connection that nobody else uses, released once the last caller has left */
  constructor(private readonly connecting: Promise<PoolClient>) {
    connecting.then(
      (client) => {
        this.client = client
        this.answeredMs = performance.now()
      },
      () => {
        this.hasEnded = true
      },
    )
  }

  /** Whether another statement may join. @param isUsable whether new statements may use the connection */
  isOpen(isUsable: (client: PoolClient) => boolean): boolean {
    if (this.hasEnded || this.isLost || (this.client && !isUsable(this.client))) return false
    return performance.now() - this.answeredMs < MAX_WAIT_TO_JOIN_MS
  }

  /** Adds a caller, who has to call `leave`, unless the promise rejects. */
  join(): Promise<PoolClient> {
    this.users++
    return this.connecting
  }

  /** @param isLost whether the connection is lost, and with it the answers that other callers wait for */
  leave(isLost: boolean): void {
    this.answeredMs = performance.now()
    this.isLost ||= isLost
    if (--this.users > 0) return
    this.hasEnded = true
    this.client!.release(this.isLost)
  }
}
