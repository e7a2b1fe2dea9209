/** One connection for the statements of many: they leave together, are answered in order, and nobody waits for a connection to be free. */
import type { PoolClient } from 'pg'

/** Nobody joins those who wait for something for so long. */
const MAX_WAIT_TO_JOIN_MS = 50

export class Pipeline {
  private client: PoolClient | null = null
  private readonly begunMs = performance.now()
  private users = 0
  private isLost = false
  private hasEnded = false

  /** @param connecting a connection that is nobody else's, given back once nobody is left on it */
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

  /** @param silentMs for how long a connection has owed an answer; null for one that is not to be used any more */
  isOpen(silentMs: (client: PoolClient) => number | null): boolean {
    if (this.hasEnded || this.isLost) return false
    // While there is none, everybody's patience counts from when it was asked for.
    const waitMs = this.client ? silentMs(this.client) : performance.now() - this.begunMs
    return waitMs !== null && waitMs < MAX_WAIT_TO_JOIN_MS
  }

  /** To be left, unless it rejects. */
  join(): Promise<PoolClient> {
    this.users++
    return this.connecting
  }

  /** @param isLost the connection, and with it what others are waiting for there */
  leave(isLost: boolean): void {
    this.isLost ||= isLost
    if (--this.users > 0) return
    this.hasEnded = true
    this.client!.release(this.isLost)
  }
}
