/**
 * Queue of the items that wait for a worker. Production goes before sandbox; within each, the flows take turns by their weights. An item
 * waits for one turn: a series that has more to hand over after it goes on waiting by `goOn`.
 */
import type { FlowShare } from '../types.js'
import { FairLane, type Turn } from './fair-lane.js'

export class FairQueue<Item> {
  private readonly lanes = { production: new FairLane<Item>(), sandbox: new FairLane<Item>() }
  /** They were served once, and lost their worker: first of all. */
  private readonly returned: Item[] = []

  /** @param limit items that may wait; what is put back does not ask */
  constructor(private readonly limit: number) {}

  get size(): number {
    return this.returned.length + this.lanes.production.size + this.lanes.sandbox.size
  }

  /** @param mayTakeSeries false: no worker has a place for a task of a series, and single tasks are next */
  first(mayTakeSeries: boolean): Item | undefined {
    return this.returned[0] ?? this.lane.first(mayTakeSeries)
  }

  /** Something of this priority need not wait behind what is here, as long as a worker has a place for it. */
  isOpenTo({ priority }: FlowShare): boolean {
    return this.returned.length === 0 && (priority === 'production' || this.lanes.production.size === 0)
  }

  /** One more of this flow would not be let in. */
  isFullFor(share: FlowShare): boolean {
    return this.size >= this.limit && this.laneToShorten(share) === null
  }

  /**
   * @param turn its first
   * @returns what has no place: the newest of a flow that holds more than its part, or the item itself
   */
  push(item: Item, share: FlowShare, turn: Turn): Item | undefined {
    let displaced: Item | undefined
    if (this.size >= this.limit) {
      const lane = this.laneToShorten(share)
      if (lane === null) return item
      displaced = lane.dropFromLongest()
    }
    this.lanes[share.priority].push(item, share, turn)
    return displaced
  }

  /** A series that was let in before waits for its next turn, before all later ones of its flow; it is let in again. */
  goOn(item: Item, share: FlowShare, turn: Turn): void {
    this.lanes[share.priority].push(item, share, turn, true)
  }

  /** First of all, wherever it waits. */
  putBack(item: Item): void {
    this.remove(item)
    this.returned.unshift(item)
  }

  /** @param mayTakeSeries as of `first` */
  shift(mayTakeSeries: boolean): Item | undefined {
    return this.returned.shift() ?? this.lane.shift(mayTakeSeries)
  }

  /** Nothing happens where it does not wait. */
  remove(item: Item): void {
    const position = this.returned.indexOf(item)
    if (position >= 0) this.returned.splice(position, 1)
    else if (!this.lanes.production.remove(item)) this.lanes.sandbox.remove(item)
  }

  removeAll(): Item[] {
    const all: Item[] = []
    for (let item = this.shift(true); item !== undefined; item = this.shift(true)) all.push(item)
    return all
  }

  /** Nothing of the sandbox is next while anything of production waits. */
  private get lane(): FairLane<Item> {
    return this.lanes.production.size > 0 ? this.lanes.production : this.lanes.sandbox
  }

  /** Where room can be made for one more of this flow; null where everybody before it holds no more than their part. */
  private laneToShorten(share: FlowShare): FairLane<Item> | null {
    if (share.priority === 'production' && this.lanes.sandbox.size > 0) return this.lanes.sandbox
    const lane = this.lanes[share.priority]
    return lane.yieldsTo(share) ? lane : null
  }
}
