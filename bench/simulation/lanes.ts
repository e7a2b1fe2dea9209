/** The lanes of a database in a simulation: each is held by one group at a time, of whatever service. */
export class SimulatedLanes {
  groups = 0
  jobs = 0
  /** Of each that is held, the groups that wait for it. */
  private readonly held = new Map<number, Array<() => void>>()

  /** @returns whether nobody had it */
  tryTake(lane: number): boolean {
    if (this.held.has(lane)) return false
    this.held.set(lane, [])
    return true
  }

  /** Calls back when it is taken, in the order of asking. */
  take(lane: number, granted: () => void): void {
    if (this.tryTake(lane)) granted()
    else this.held.get(lane)!.push(granted)
  }

  release(lanes: Iterable<number>, jobs: number): void {
    this.groups++
    this.jobs += jobs
    for (const lane of lanes) {
      const next = this.held.get(lane)!.shift()
      // Whoever waits has it at once: the lock is handed on.
      if (next) next()
      else this.held.delete(lane)
    }
  }
}
