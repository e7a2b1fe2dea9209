/**
 * Queue of the items that wait for a worker. Production is served before the sandbox; within each of them, the flows
 * take turns by their weights. An item waits for one turn: a series with more tasks to hand over waits for its next
 * turn by `requeue`.
 */
import type { SchedulingClass } from '../types.js'
import { StartTimeFairQueue, type Turn } from './start-time-fair-queue.js'

export class FairQueue<Item> {
  private readonly queues = {
    production: new StartTimeFairQueue<Item>(),
    sandbox: new StartTimeFairQueue<Item>(),
  }
  /** Items that were served once and lost their worker: they are served before all others. */
  private readonly returned: Item[] = []

  /** @param limit maximum number of waiting items; `requeue` and `putFirst` may exceed it */
  constructor(private readonly limit: number) {}

  get size(): number {
    return this.returned.length + this.queues.production.size + this.queues.sandbox.size
  }

  /** @param mayTakeSeries false when no worker has a place for a task of a series: the next single task is returned */
  first(mayTakeSeries: boolean): Item | undefined {
    return this.returned[0] ?? this.queue.first(mayTakeSeries)
  }

  /** Returns whether an item of this priority may pass the waiting ones, as long as a worker has a place for it. */
  isOpenTo({ priority }: SchedulingClass): boolean {
    return this.returned.length === 0 && (priority === 'production' || this.queues.production.size === 0)
  }

  /** Returns whether one more item of this flow would be refused. */
  isFullFor(schedulingClass: SchedulingClass): boolean {
    return this.size >= this.limit && this.queueToShorten(schedulingClass) === null
  }

  /**
   * @param turn the item's first turn
   * @returns the item that has no place: the newest one of a flow that holds more than its share, or the item itself
   */
  push(item: Item, schedulingClass: SchedulingClass, turn: Turn): Item | undefined {
    let displaced: Item | undefined
    if (this.size >= this.limit) {
      const queue = this.queueToShorten(schedulingClass)
      if (queue === null) return item
      displaced = queue.dropFromLongest()
    }
    this.queues[schedulingClass.priority].push(item, schedulingClass, turn)
    return displaced
  }

  /** Queues a series again for its next turn, before all other series of its flow; a full queue does not refuse it. */
  requeue(item: Item, schedulingClass: SchedulingClass, turn: Turn): void {
    this.queues[schedulingClass.priority].push(item, schedulingClass, turn, true)
  }

  /** Puts an item before all others, even if it waits already. */
  putFirst(item: Item): void {
    this.remove(item)
    this.returned.unshift(item)
  }

  /** @param mayTakeSeries as in `first` */
  shift(mayTakeSeries: boolean): Item | undefined {
    return this.returned.shift() ?? this.queue.shift(mayTakeSeries)
  }

  /** Does nothing if the item does not wait. */
  remove(item: Item): void {
    const position = this.returned.indexOf(item)
    if (position >= 0) this.returned.splice(position, 1)
    else if (!this.queues.production.remove(item)) this.queues.sandbox.remove(item)
  }

  removeAll(): Item[] {
    const all: Item[] = []
    for (let item = this.shift(true); item !== undefined; item = this.shift(true)) all.push(item)
    return all
  }

  /** The queue to serve next: the sandbox waits while production has anything waiting. */
  private get queue(): StartTimeFairQueue<Item> {
    return this.queues.production.size > 0 ? this.queues.production : this.queues.sandbox
  }

  /**
   * The queue in which room can be made for one more item of this flow; null where every flow holds no more than its
   * share.
   */
  private queueToShorten(schedulingClass: SchedulingClass): StartTimeFairQueue<Item> | null {
    if (schedulingClass.priority === 'production' && this.queues.sandbox.size > 0) return this.queues.sandbox
    const queue = this.queues[schedulingClass.priority]
    return queue.yieldsTo(schedulingClass) ? queue : null
  }
}
