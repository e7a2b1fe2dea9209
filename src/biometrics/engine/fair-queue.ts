/**
 * Queue of the items that wait for a worker. Production goes before sandbox; within each, the flows take turns by their weights. An item
 * waits for one turn: a series that has more to hand over after it goes on waiting by `requeue`.
 */
import type { FlowShare } from '../types.js'
import { StartTimeFairQueue, type Turn } from './start-time-fair-queue.js'

export class FairQueue<Item> {
  private readonly queues = {
    production: new StartTimeFairQueue<Item>(),
    sandbox: new StartTimeFairQueue<Item>(),
  }
  /** They were served once, and lost their worker: first of all. */
  private readonly returned: Item[] = []

  /** @param limit items that may wait; what is put back does not ask */
  constructor(private readonly limit: number) {}

  get size(): number {
    return this.returned.length + this.queues.production.size + this.queues.sandbox.size
  }

  /** @param mayTakeSeries false: no worker has a place for a task of a series, and single tasks are next */
  first(mayTakeSeries: boolean): Item | undefined {
    return this.returned[0] ?? this.queue.first(mayTakeSeries)
  }

  /** Something of this priority need not wait behind what is here, as long as a worker has a place for it. */
  isOpenTo({ priority }: FlowShare): boolean {
    return this.returned.length === 0 && (priority === 'production' || this.queues.production.size === 0)
  }

  /** One more of this flow would not be let in. */
  isFullFor(share: FlowShare): boolean {
    return this.size >= this.limit && this.queueToShorten(share) === null
  }

  /**
   * @param turn its first
   * @returns what has no place: the newest of a flow that holds more than its part, or the item itself
   */
  push(item: Item, share: FlowShare, turn: Turn): Item | undefined {
    let displaced: Item | undefined
    if (this.size >= this.limit) {
      const queue = this.queueToShorten(share)
      if (queue === null) return item
      displaced = queue.dropFromLongest()
    }
    this.queues[share.priority].push(item, share, turn)
    return displaced
  }

  /** A series that was let in before waits for its next turn, before all later ones of its flow; it is let in again. */
  requeue(item: Item, share: FlowShare, turn: Turn): void {
    this.queues[share.priority].push(item, share, turn, true)
  }

  /** First of all, wherever it waits. */
  putFirst(item: Item): void {
    this.remove(item)
    this.returned.unshift(item)
  }

  /** @param mayTakeSeries as of `first` */
  shift(mayTakeSeries: boolean): Item | undefined {
    return this.returned.shift() ?? this.queue.shift(mayTakeSeries)
  }

  /** Nothing happens where it does not wait. */
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

  /** Nothing of the sandbox is next while anything of production waits. */
  private get queue(): StartTimeFairQueue<Item> {
    return this.queues.production.size > 0 ? this.queues.production : this.queues.sandbox
  }

  /** Where room can be made for one more of this flow; null where everybody before it holds no more than their part. */
  private queueToShorten(share: FlowShare): StartTimeFairQueue<Item> | null {
    if (share.priority === 'production' && this.queues.sandbox.size > 0) return this.queues.sandbox
    const queue = this.queues[share.priority]
    return queue.yieldsTo(share) ? queue : null
  }
}
