/** The lane of a database in a simulation: each service commits its transactions in groups, and a row is held by one group at a time. */
import type { EventQueue } from './event-queue.js'
import type { MainThread } from './main-thread.js'

interface LaneParts {
  most: number
  roundTripMs: number
  syncMs: number
  laneMs: number
  visitMs: { inLane: number }
}

export class SimulatedLane {
  heldMs = 0
  groups = 0
  jobs = 0
  private isHeld = false
  private readonly waiting: Array<() => void> = []

  constructor(
    private readonly parts: LaneParts,
    private readonly events: EventQueue,
  ) {}

  writerOf(main: MainThread): SimulatedWriter {
    return new SimulatedWriter(this, main, this.parts, this.events)
  }

  /** Calls back when the row is this group's. */
  take(granted: () => void): void {
    if (this.isHeld) this.waiting.push(granted)
    else {
      this.isHeld = true
      granted()
    }
  }

  release(heldMs: number, jobs: number): void {
    this.heldMs += heldMs
    this.groups++
    this.jobs += jobs
    const next = this.waiting.shift()
    if (next) next()
    else this.isHeld = false
  }
}

/** Of one service. */
class SimulatedWriter {
  private queue: Array<() => void> = []
  private isFlushing = false

  constructor(
    private readonly lane: SimulatedLane,
    private readonly main: MainThread,
    private readonly parts: LaneParts,
    private readonly events: EventQueue,
  ) {}

  write(then: () => void): void {
    this.queue.push(then)
    if (!this.isFlushing) this.flush()
  }

  private flush(): void {
    const group = this.queue.splice(0, this.parts.most)
    this.isFlushing = group.length > 0
    if (!this.isFlushing) return
    const { roundTripMs, syncMs } = this.parts
    const half = roundTripMs / 2
    this.events.after(half, () =>
      this.lane.take(() => {
        const takenMs = this.events.nowMs
        this.events.after(roundTripMs, () =>
          this.runJobs(group.length, () =>
            this.events.after(syncMs, () => {
              this.lane.release(this.events.nowMs - takenMs, group.length)
              this.events.after(half, () => {
                for (const then of group) then()
                this.flush()
              })
            }),
          ),
        )
      }),
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
