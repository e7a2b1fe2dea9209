/**
 * An engine in a simulation, as the product's is: a task goes to the least busy worker; a worker with several computes on them in
 * turns; what finds all workers full waits in order of arrival. Workers share the cores that the main thread leaves.
 */
import type { EventQueue } from './event-queue.js'

interface Task {
  /** Of the worker's progress, at which it is done. */
  doneAt: number
  onDone: () => void
}

interface Worker {
  tasks: Task[]
  /** Milliseconds of a core that each task that was there all along has got. */
  progress: number
}

interface EngineParts {
  cores: number
  workers: number
  tasksPerWorker: number
}

export class SimulatedEngine {
  private readonly workers: Worker[]
  private readonly waiting: Array<{ serviceMs: number; onDone: () => void }> = []
  private updatedMs = 0
  private version = 0

  /** @param mainCores what the main thread takes of the cores, on average; it comes first */
  constructor(
    private readonly parts: EngineParts,
    private readonly mainCores: number,
    private readonly events: EventQueue,
  ) {
    this.workers = Array.from({ length: parts.workers }, () => ({ tasks: [], progress: 0 }))
  }

  run(serviceMs: number, onDone: () => void): void {
    this.update()
    this.waiting.push({ serviceMs, onDone })
    this.fill()
    this.plan()
  }

  private fill(): void {
    for (let next = this.waiting[0]; next; next = this.waiting[0]) {
      const worker = this.workers.reduce((least, one) =>
        one.tasks.length < least.tasks.length ? one : least,
      )
      if (worker.tasks.length >= this.parts.tasksPerWorker) return
      this.waiting.shift()
      worker.tasks.push({ doneAt: worker.progress + next.serviceMs, onDone: next.onDone })
    }
  }

  /** Of a worker that computes. */
  private get speed(): number {
    const busy = this.workers.filter(({ tasks }) => tasks.length > 0).length
    return Math.min(1, (this.parts.cores - this.mainCores) / busy)
  }

  private update(): void {
    const { speed } = this
    const elapsedMs = this.events.nowMs - this.updatedMs
    this.updatedMs = this.events.nowMs
    for (const worker of this.workers)
      if (worker.tasks.length > 0) worker.progress += (elapsedMs * speed) / worker.tasks.length
  }

  /** Wakes up when the first task will be done, unless something changes before. */
  private plan(): void {
    const version = ++this.version
    const { speed } = this
    let soonestMs = Number.POSITIVE_INFINITY
    for (const { tasks, progress } of this.workers)
      for (const { doneAt } of tasks)
        soonestMs = Math.min(soonestMs, ((doneAt - progress) * tasks.length) / speed)
    if (soonestMs === Number.POSITIVE_INFINITY) return
    this.events.after(Math.max(0, soonestMs), () => {
      if (version !== this.version) return
      this.update()
      const done: Task[] = []
      for (const worker of this.workers) {
        // What is left by rounding is done.
        const isDone = ({ doneAt }: Task) => doneAt - worker.progress < 1e-9
        done.push(...worker.tasks.filter(isDone))
        worker.tasks = worker.tasks.filter((task) => !isDone(task))
      }
      this.fill()
      this.plan()
      for (const { onDone } of done) onDone()
    })
  }
}
