/** A main thread in a simulation: one visit after the other, in order of arrival. */
import type { EventQueue } from './event-queue.js'

export class MainThread {
  private freeMs = 0

  constructor(private readonly events: EventQueue) {}

  visit(ms: number, then: () => void): void {
    this.freeMs = Math.max(this.freeMs, this.events.nowMs) + ms
    this.events.after(this.freeMs - this.events.nowMs, then)
  }
}
