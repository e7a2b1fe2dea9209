/**
 * Start-time fair queueing (Goyal, Vin, Cheng: Start-Time Fair Queuing, SIGCOMM 1996): serves the flow whose next
 * item starts first in virtual time; each turn advances its flow by cost / weight.
 *
 * Within a flow, single tasks and series of tasks wait in two lines, each in the order of arrival, and the lines take
 * turns. So a single task waits for at most one task of a series, and no number of single tasks keeps a series
 * waiting.
 */
import type { SchedulingClass } from '../types.js'

/** Cost and kind of an item's next turn. */
export interface Turn {
  /** Number of pictures, above 0. */
  cost: number
  isSeries: boolean
}

interface Waiting<Item> {
  item: Item
  cost: number
  /** Order of arrival over all flows: breaks ties. */
  arrival: number
}

class Flow<Item> {
  readonly singles: Waiting<Item>[] = []
  readonly series: Waiting<Item>[] = []
  /** Virtual time at which the flow's next item starts. */
  start = 0
  private isSeriesNext = false

  constructor(public weight: number) {}

  get size(): number {
    return this.singles.length + this.series.length
  }

  line(isSeries: boolean): Waiting<Item>[] {
    return isSeries ? this.series : this.singles
  }

  /** The line whose turn it is; it may be empty. */
  next(mayTakeSeries: boolean): Waiting<Item>[] {
    if (!mayTakeSeries || this.series.length === 0) return this.singles
    return this.isSeriesNext || this.singles.length === 0 ? this.series : this.singles
  }

  shift(mayTakeSeries: boolean): Waiting<Item> {
    const line = this.next(mayTakeSeries)
    this.isSeriesNext = line === this.singles
    return line.shift()!
  }

  remove(item: Item): boolean {
    for (const line of [this.singles, this.series]) {
      const position = line.findIndex((one) => one.item === item)
      if (position >= 0) return line.splice(position, 1).length > 0
    }
    return false
  }

  dropNewest(): Item {
    const [single, series] = [this.singles.at(-1), this.series.at(-1)]
    const isSeries = !single || (series !== undefined && series.arrival > single.arrival)
    return this.line(isSeries).pop()!.item
  }
}

export class StartTimeFairQueue<Item> {
  private readonly flows = new Map<string, Flow<Item>>()
  private virtualTime = 0
  private arrivals = 0
  private count = 0

  get size(): number {
    return this.count
  }

  /** @param mayTakeSeries false: series are passed over */
  first(mayTakeSeries: boolean): Item | undefined {
    return this.next(mayTakeSeries)?.next(mayTakeSeries)[0]?.item
  }

  /** @param isBegun puts the item before all others of its kind and flow */
  push(item: Item, { flow: name, weight }: SchedulingClass, { cost, isSeries }: Turn, isBegun = false): void {
    const flow = this.flows.get(name) ?? new Flow<Item>(weight)
    this.flows.set(name, flow)
    flow.weight = weight
    // A flow that was absent has saved up no time: it starts where the others are.
    if (flow.size === 0) flow.start = Math.max(flow.start, this.virtualTime)
    const waiting = { item, cost, arrival: this.arrivals++ }
    if (isBegun) flow.line(isSeries).unshift(waiting)
    else flow.line(isSeries).push(waiting)
    this.count++
  }

  shift(mayTakeSeries: boolean): Item | undefined {
    const flow = this.next(mayTakeSeries)
    if (!flow) return undefined
    const { item, cost } = flow.shift(mayTakeSeries)
    // A flow whose series were passed over has saved up no time either.
    this.virtualTime = Math.max(this.virtualTime, flow.start)
    flow.start = this.virtualTime + cost / flow.weight
    this.leave()
    return item
  }

  /** @returns whether the item waited here */
  remove(item: Item): boolean {
    for (const flow of this.flows.values()) {
      if (!flow.remove(item)) continue
      this.leave()
      return true
    }
    return false
  }

  /** Returns whether another flow holds more for its weight than this one would with one more item. */
  yieldsTo({ flow: name, weight }: SchedulingClass): boolean {
    const held = this.flows.get(name)?.size ?? 0
    const longest = this.longest()
    return longest !== undefined && heldByWeight(longest) > (held + 1) / weight
  }

  /** Removes the newest item of the flow that holds most for its weight; there must be one. */
  dropFromLongest(): Item {
    const item = this.longest()!.dropNewest()
    this.leave()
    return item
  }

  private next(mayTakeSeries: boolean): Flow<Item> | undefined {
    let next: Flow<Item> | undefined
    for (const flow of this.flows.values()) {
      if (!flow.next(mayTakeSeries)[0]) continue
      if (next === undefined || isBefore(flow, next, mayTakeSeries)) next = flow
    }
    return next
  }

  private longest(): Flow<Item> | undefined {
    let longest: Flow<Item> | undefined
    for (const flow of this.flows.values())
      if (longest === undefined || heldByWeight(flow) > heldByWeight(longest)) longest = flow
    return longest
  }

  /**
   * Forgets flows that hold nothing and are not ahead in virtual time, so that the number of flows is bounded by the
   * queue's limit.
   */
  private leave(): void {
    this.count--
    for (const [name, { size, start }] of this.flows)
      if (this.count === 0 || (size === 0 && start <= this.virtualTime)) this.flows.delete(name)
    if (this.count === 0) this.virtualTime = 0
  }
}

function isBefore<Item>(a: Flow<Item>, b: Flow<Item>, mayTakeSeries: boolean): boolean {
  if (a.start !== b.start) return a.start < b.start
  return a.next(mayTakeSeries)[0]!.arrival < b.next(mayTakeSeries)[0]!.arrival
}

function heldByWeight<Item>({ size, weight }: Flow<Item>): number {
  return size / weight
}
