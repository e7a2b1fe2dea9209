/** The writer of a service in a simulation: groups, one after the other, each of those whose lanes can be had. */
import type { EventQueue } from './event-queue.js'
import type { SimulatedLanes } from './lanes.js'
import type { MainThread } from './main-thread.js'

interface WriterParts {
  most: number
  /** A lane that was not free so often is waited for. */
  mostMisses: number
  roundTripMs: number
  syncMs: number
  laneMs: number
  visitMs: { inLane: number }
}

interface Job {
  lane: number
  misses: number
  then: () => void
}

export class SimulatedWriter {
  private queue: Job[] = []
  private isFlushing = false

  constructor(
    private readonly lanes: SimulatedLanes,
    private readonly main: MainThread,
    private readonly parts: WriterParts,
    private readonly events: EventQueue,
  ) {}

  write(lane: number, then: () => void): void {
    this.queue.push({ lane, misses: 0, then })
    if (!this.isFlushing) this.flush()
  }

  private flush(): void {
    const jobs = this.queue.splice(0, this.parts.most)
    this.isFlushing = jobs.length > 0
    if (this.isFlushing) this.events.after(this.parts.roundTripMs / 2, () => this.begin(jobs))
  }

  /** At the server. */
  private begin(jobs: Job[]): void {
    const wanted = new Set(jobs.map(({ lane }) => lane))
    const due = wanted.size === 1 ? jobs[0] : jobs.find(({ misses }) => misses >= this.parts.mostMisses)
    const taken = new Set<number>()
    const begun = () => {
      for (const lane of wanted) if (!taken.has(lane) && this.lanes.tryTake(lane)) taken.add(lane)
      if (taken.size > 0) return this.commit(jobs, taken)
      jobs[0]!.misses = this.parts.mostMisses
      // Back, rolled back, and begun again.
      this.events.after(2 * this.parts.roundTripMs, () => this.begin(jobs))
    }
    if (due)
      this.lanes.take(due.lane, () => {
        taken.add(due.lane)
        begun()
      })
    else begun()
  }

  private commit(jobs: Job[], taken: ReadonlySet<number>): void {
    const group = jobs.filter(({ lane }) => taken.has(lane))
    const left = jobs.filter(({ lane }) => !taken.has(lane))
    for (const job of left) job.misses++
    const { roundTripMs, syncMs } = this.parts
    this.events.after(roundTripMs, () =>
      this.runJobs(group.length, () =>
        this.events.after(syncMs, () => {
          this.lanes.release(taken, group.length)
          this.events.after(roundTripMs / 2, () => {
            for (const { then } of group) then()
            this.queue.unshift(...left)
            this.flush()
          })
        }),
      ),
    )
  }

  /**
   * From all that is read standing before the server until all is written. The server takes what comes in order; the main thread goes on
   * with each transaction when that one's answers are there, among whatever else wants it.
   */
  private runJobs(jobs: number, then: () => void): void {
    const { roundTripMs, laneMs, visitMs } = this.parts
    const part = laneMs / 2
    let serverFreeMs = this.events.nowMs + jobs * part
    let written = 0
    const write = () => {
      serverFreeMs = Math.max(serverFreeMs, this.events.nowMs) + part
      this.events.after(serverFreeMs - this.events.nowMs, () => {
        if (++written === jobs) then()
      })
    }
    for (let job = 1; job <= jobs; job++)
      this.events.after(job * part + roundTripMs / 2, () =>
        this.main.visit(visitMs.inLane, () => this.events.after(roundTripMs / 2, write)),
      )
  }
}
