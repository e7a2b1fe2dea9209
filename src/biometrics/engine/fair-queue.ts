/** What waits for a worker, and who is next: production before sandbox, and within each the flows in turn, by their weights. */
import type { FlowShare } from '../types.js'
import { FairLane } from './fair-lane.js'

export class FairQueue<Item> {
  private readonly lanes = { production: new FairLane<Item>(), sandbox: new FairLane<Item>() }
  /** They were served once, and lost their worker: first of all. */
  private readonly returned: Item[] = []

  /** @param limit items that may wait; what is put back does not ask */
  constructor(private readonly limit: number) {}

  get size(): number {
    return this.returned.length + this.lanes.production.size + this.lanes.sandbox.size
  }

  get first(): Item | undefined {
    return this.returned[0] ?? this.lanes.production.first ?? this.lanes.sandbox.first
  }

  /** One more of this flow would not be let in. */
  isFullFor(share: FlowShare): boolean {
    return this.size >= this.limit && this.laneToShorten(share) === null
  }

  /**
   * @param cost of serving it, in the unit in which flows take turns
   * @returns what has no place: the newest of a flow that holds more than its part, or the item itself
   */
  push(item: Item, share: FlowShare, cost: number): Item | undefined {
    let displaced: Item | undefined
    if (this.size >= this.limit) {
      const lane = this.laneToShorten(share)
      if (lane === null) return item
      displaced = lane.dropFromLongest()
    }
    this.lanes[share.priority].push(item, share, cost)
    return displaced
  }

  putBack(item: Item): void {
    this.returned.unshift(item)
  }

  shift(): Item | undefined {
    return this.returned.shift() ?? this.lanes.production.shift() ?? this.lanes.sandbox.shift()
  }

  /** Nothing happens where it does not wait. */
  remove(item: Item): void {
    const position = this.returned.indexOf(item)
    if (position >= 0) this.returned.splice(position, 1)
    else if (!this.lanes.production.remove(item)) this.lanes.sandbox.remove(item)
  }

  removeAll(): Item[] {
    const all: Item[] = []
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item)
    return all
  }

  /** Where room can be made for one more of this flow; null where everybody before it holds no more than their part. */
  private laneToShorten(share: FlowShare): FairLane<Item> | null {
    if (share.priority === 'production' && this.lanes.sandbox.size > 0) return this.lanes.sandbox
    const lane = this.lanes[share.priority]
    return lane.yieldsTo(share) ? lane : null
  }
}
