/**
 * Flows that take turns: start-time fair queueing (Goyal, Vin, Cheng: Start-Time Fair Queuing, SIGCOMM 1996). Served is the
 * flow whose next item starts first in virtual time; each item moves its flow on by cost / weight.
 */
import type { FlowShare } from '../types.js'

interface Waiting<Item> {
  item: Item
  cost: number
  /** Order of arrival over all flows: decides between equals. */
  arrival: number
}

interface Flow<Item> {
  weight: number
  waiting: Waiting<Item>[]
  /** Virtual time at which its next item starts. */
  start: number
}

export class FairLane<Item> {
  private readonly flows = new Map<string, Flow<Item>>()
  private virtualTime = 0
  private arrivals = 0
  private count = 0

  get size(): number {
    return this.count
  }

  get first(): Item | undefined {
    return this.next()?.waiting[0]?.item
  }

  push(item: Item, { flow: name, weight }: FlowShare, cost: number): void {
    const flow = this.flows.get(name) ?? { weight, waiting: [], start: 0 }
    this.flows.set(name, flow)
    flow.weight = weight
    // Whoever was away has saved up nothing: it starts where the others are.
    if (flow.waiting.length === 0) flow.start = Math.max(flow.start, this.virtualTime)
    flow.waiting.push({ item, cost, arrival: this.arrivals++ })
    this.count++
  }

  shift(): Item | undefined {
    const flow = this.next()
    if (!flow) return undefined
    const { item, cost } = flow.waiting.shift()!
    this.virtualTime = flow.start
    flow.start += cost / flow.weight
    this.leave()
    return item
  }

  /** @returns whether it waited here */
  remove(item: Item): boolean {
    for (const { waiting } of this.flows.values()) {
      const position = waiting.findIndex((one) => one.item === item)
      if (position < 0) continue
      waiting.splice(position, 1)
      this.leave()
      return true
    }
    return false
  }

  /** Another flow would hold more for its weight than this one with one item more. */
  yieldsTo({ flow: name, weight }: FlowShare): boolean {
    const held = this.flows.get(name)?.waiting.length ?? 0
    const longest = this.longest()
    return longest !== undefined && heldByWeight(longest) > (held + 1) / weight
  }

  /** The newest item of the flow that holds most for its weight; there must be one. */
  dropFromLongest(): Item {
    const { item } = this.longest()!.waiting.pop()!
    this.leave()
    return item
  }

  private next(): Flow<Item> | undefined {
    let next: Flow<Item> | undefined
    for (const flow of this.flows.values())
      if (flow.waiting.length > 0 && (next === undefined || isBefore(flow, next))) next = flow
    return next
  }

  private longest(): Flow<Item> | undefined {
    let longest: Flow<Item> | undefined
    for (const flow of this.flows.values())
      if (longest === undefined || heldByWeight(flow) > heldByWeight(longest)) longest = flow
    return longest
  }

  /** Forgets the flows that wait for nothing and are ahead of nobody, so that their number has the bound of the queue. */
  private leave(): void {
    this.count--
    for (const [name, { waiting, start }] of this.flows)
      if (this.count === 0 || (waiting.length === 0 && start <= this.virtualTime)) this.flows.delete(name)
    if (this.count === 0) this.virtualTime = 0
  }
}

function isBefore<Item>(a: Flow<Item>, b: Flow<Item>): boolean {
  return a.start === b.start ? a.waiting[0]!.arrival < b.waiting[0]!.arrival : a.start < b.start
}

function heldByWeight<Item>({ waiting, weight }: Flow<Item>): number {
  return waiting.length / weight
}
