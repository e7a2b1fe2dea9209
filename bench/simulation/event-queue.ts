/** What is to happen when, in a simulation: a binary heap by time, first come first served among equals. */

interface Event {
  atMs: number
  order: number
  happen: () => void
}

export class EventQueue {
  nowMs = 0
  private readonly heap: Event[] = []
  private count = 0

  after(delayMs: number, happen: () => void): void {
    const event = { atMs: this.nowMs + delayMs, order: this.count++, happen }
    let place = this.heap.push(event) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!isBefore(event, this.heap[parent]!)) break
      this.heap[place] = this.heap[parent]!
      place = parent
    }
    this.heap[place] = event
  }

  /** Until nothing is left to happen. */
  run(): void {
    for (let event = this.next(); event; event = this.next()) {
      this.nowMs = event.atMs
      event.happen()
    }
  }

  private next(): Event | undefined {
    const { heap } = this
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = last
    return first
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
