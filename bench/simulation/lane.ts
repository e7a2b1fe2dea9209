/** The lane of a database in a simulation: each service commits its transactions in groups, and a row is held by one group at a time. */
import type { EventQueue } from './event-queue.js'
import type { MainThread } from './main-thread.js'

interface LaneParts {
  laneTrips: number
  groupTrips: number
  most: number
  roundTripMs: number
  syncMs: number
  laneMs: number
  visitMs: { small: number }
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
    const { roundTripMs, groupTrips, syncMs } = this.parts
    const half = roundTripMs / 2
    this.events.after(half + (groupTrips - 2) * roundTripMs, () =>
      this.lane.take(() => {
        const takenMs = this.events.nowMs
        this.events.after(half, () =>
          this.runJobs(group.length, () =>
            this.events.after(half + syncMs, () => {
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

  private runJobs(jobs: number, then: () => void): void {
    // Alone, its writes go with the commit.
    const { laneTrips } = this.parts
    this.runTrips(jobs === 1 ? Math.max(0, laneTrips - 1) : jobs * laneTrips, then)
  }

  private runTrips(trips: number, then: () => void): void {
    if (trips === 0) {
      then()
      return
    }
    const { roundTripMs, laneMs, laneTrips, visitMs } = this.parts
    this.events.after(roundTripMs + laneMs / laneTrips, () =>
      this.main.visit(visitMs.small, () => this.runTrips(trips - 1, then)),
    )
  }
}
