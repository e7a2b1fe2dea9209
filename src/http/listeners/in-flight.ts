/** Counts the requests between their head and their reply, so that a listener can wait for them before it closes. */

const POLL_MS = 5

export class InFlight {
  private count = 0

  begin(): void {
    this.count++
  }

  end(): void {
    this.count--
  }

  /** Resolves when no request is under way, or when `patienceMs` have passed. */
  async drained(patienceMs: number): Promise<void> {
    const giveUpAt = performance.now() + patienceMs
    while (this.count > 0 && performance.now() < giveUpAt)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
