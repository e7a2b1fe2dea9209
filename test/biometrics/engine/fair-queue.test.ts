import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../../src/biometrics/engine/fair-queue.js'
import type { SchedulingClass } from '../../../src/biometrics/types.js'

const production = (flow: string, weight = 1): SchedulingClass => ({ flow, priority: 'production', weight })
const sandbox = (flow: string, weight = 1): SchedulingClass => ({ flow, priority: 'sandbox', weight })

/** Items are named by flow and number: `a1`, `a2`. */
class Line {
  readonly queue: FairQueue<string>
  private readonly counts = new Map<string, number>()

  constructor(limit = 1000) {
    this.queue = new FairQueue(limit)
  }

  /** @returns the item that has no place */
  push(schedulingClass: SchedulingClass, times = 1, cost = 1, isSeries = false): string[] {
    const refused: string[] = []
    for (let i = 0; i < times; i++) {
      const count = (this.counts.get(schedulingClass.flow) ?? 0) + 1
      this.counts.set(schedulingClass.flow, count)
      const without = this.queue.push(schedulingClass.flow + count, schedulingClass, { cost, isSeries })
      if (without !== undefined) refused.push(without)
    }
    return refused
  }

  serve(times = this.queue.size): string {
    return Array.from({ length: times }, () => this.queue.shift(true)).join(' ')
  }
}

describe('order of service', () => {
  it('serves a flow in the order of arrival', () => {
    const line = new Line()
    line.push(production('a'), 4)
    expect(line.queue.first(true)).toBe('a1')
    expect(line.serve()).toBe('a1 a2 a3 a4')
    expect(line.queue.shift(true)).toBeUndefined()
  })

  it('serves flows in turn, however many items one of them has queued before', () => {
    const line = new Line()
    line.push(production('greedy'), 100)
    line.push(production('b'), 2)
    line.push(production('c'), 2)
    expect(line.serve(6)).toBe('greedy1 b1 c1 greedy2 b2 c2')
  })

  it('gives a late flow its turn without waiting behind flows that have had more', () => {
    const line = new Line()
    line.push(production('greedy'), 100)
    line.serve(50)
    line.push(production('late'), 2)
    expect(line.serve(4)).toMatch(/^(greedy51 )?late1 (greedy51|greedy52) late2/)
  })

  it('gives no credit for an absence', () => {
    const line = new Line()
    line.push(production('a'), 40)
    line.push(production('b'), 1)
    line.serve(21)
    line.push(production('b'), 10)
    const served = line.serve(10).split(' ')
    expect(served.filter((item) => item.startsWith('b'))).toHaveLength(5)
  })

  it('remembers the turns of a flow that has nothing waiting for a moment', () => {
    const line = new Line()
    line.push(production('a'), 10, 5)
    line.push(production('b'), 10, 5)
    // The flow queues another item each time it was served, as a caller does that waits for the response.
    let ofC = 0
    for (let i = 0; i < 12; i++) {
      if (i % 2 === 0) line.push(production('c'), 1, 5)
      if (line.serve(1).startsWith('c')) ofC++
    }
    expect(ofC).toBe(4)
  })

  it('serves flows by weight', () => {
    const line = new Line()
    line.push(production('small', 10), 100)
    line.push(production('large', 30), 100)
    const served = line.serve(80).split(' ')
    expect(served.filter((item) => item.startsWith('large'))).toHaveLength(60)
  })

  it('charges a flow by cost: five pictures are five turns', () => {
    const line = new Line()
    line.push(production('five'), 20, 5)
    line.push(production('one'), 100, 1)
    const served = line.serve(60).split(' ')
    expect(served.filter((item) => item.startsWith('five'))).toHaveLength(10)
  })

  it('charges nothing for an item that left before it was served', () => {
    const line = new Line()
    line.push(production('a'), 10)
    line.push(production('b'), 10)
    for (let i = 1; i <= 8; i++) line.queue.remove(`a${i}`)
    expect(line.serve(4)).toBe('a9 b1 a10 b2')
    expect(line.queue.size).toBe(8)
  })

  it('serves production before the sandbox at any weights', () => {
    const line = new Line()
    line.push(sandbox('s', 1000), 2)
    line.push(production('p', 0.1), 2)
    expect(line.serve()).toBe('p1 p2 s1 s2')
  })

  it('serves a returned item before all others', () => {
    const line = new Line(1)
    line.push(production('p'))
    line.queue.putFirst('lost')
    expect(line.queue.size).toBe(2)
    expect(line.serve()).toBe('lost p1')
  })
})

describe('series of tasks', () => {
  it('series and single tasks of one flow take turns', () => {
    const line = new Line()
    line.push(production('film'), 3, 1, true)
    // Names tell the flow; here singles and series are of one flow.
    for (const name of ['one', 'two']) line.queue.push(name, production('film'), { cost: 1, isSeries: false })
    expect(line.serve()).toBe('one film1 two film2 film3')
  })

  it('a begun series continues before later ones of its flow', () => {
    const line = new Line()
    const film = production('film')
    line.push(film, 2, 1, true)
    const first = line.queue.shift(true)!
    line.queue.requeue(first, film, { cost: 1, isSeries: true })
    expect(line.serve()).toBe('film1 film2')
  })

  it('series of different flows take turns, one task at a time', () => {
    const line = new Line()
    const [a, b] = [production('a'), production('b')]
    line.push(a, 1, 1, true)
    line.push(b, 1, 1, true)
    const served: string[] = []
    for (let i = 0; i < 6; i++) {
      const item = line.queue.shift(true)!
      served.push(item)
      line.queue.requeue(item, item === 'a1' ? a : b, { cost: 1, isSeries: true })
    }
    expect(served).toEqual(['a1', 'b1', 'a1', 'b1', 'a1', 'b1'])
  })

  it('series are passed over while no worker has a place for them', () => {
    const line = new Line()
    line.push(production('a'), 1, 1, true)
    line.push(production('b'), 2)
    expect([line.queue.first(false), line.queue.shift(false), line.queue.shift(false)]).toEqual([
      'b1',
      'b1',
      'b2',
    ])
    expect([line.queue.first(false), line.queue.shift(false)]).toEqual([undefined, undefined])
    expect(line.serve()).toBe('a1')
  })

  it('series save up no turns while they are passed over', () => {
    const line = new Line()
    line.push(production('film'), 1, 1, true)
    line.push(production('b'), 100)
    for (let i = 0; i < 50; i++) line.queue.shift(false)
    line.queue.requeue(line.queue.shift(true)!, production('film'), { cost: 1, isSeries: true })
    line.push(production('c'), 100)
    const served = line.serve(20).split(' ')
    expect(served.filter((item) => item.startsWith('b')).length).toBeGreaterThanOrEqual(9)
  })

  it('series of production keep the sandbox waiting while they are passed over', () => {
    const line = new Line()
    line.push(sandbox('s'))
    expect(line.queue.isOpenTo(sandbox('t'))).toBe(true)
    line.push(production('p'), 1, 1, true)
    expect(line.queue.first(false)).toBeUndefined()
    expect([line.queue.isOpenTo(sandbox('t')), line.queue.isOpenTo(production('q'))]).toEqual([false, true])
  })
})

describe('a full queue', () => {
  it('a single flow may fill the queue to the last place', () => {
    const line = new Line(4)
    expect(line.push(production('a'), 4)).toEqual([])
    expect(line.queue.isFullFor(production('a'))).toBe(true)
    expect(line.push(production('a'))).toEqual(['a5'])
    expect(line.serve()).toBe('a1 a2 a3 a4')
  })

  it('makes room for a flow that holds less by dropping the newest item of the flow that holds most', () => {
    const line = new Line(4)
    line.push(production('greedy'), 4)
    expect(line.queue.isFullFor(production('polite'))).toBe(false)
    expect(line.push(production('polite'), 2)).toEqual(['greedy4', 'greedy3'])
    expect(line.queue.isFullFor(production('polite'))).toBe(true)
    expect(line.queue.isFullFor(production('greedy'))).toBe(true)
    expect(line.push(production('polite'))).toEqual(['polite3'])
    expect(line.serve()).toBe('greedy1 polite1 greedy2 polite2')
  })

  it('refuses only the greedy flow while the others keep to their share', () => {
    const line = new Line(20)
    const polite = Array.from({ length: 9 }, (_, i) => production(`polite-${i}-`))
    const refused: string[] = []
    for (let round = 0; round < 50; round++) {
      refused.push(...line.push(production('greedy'), 100))
      for (const schedulingClass of polite) refused.push(...line.push(schedulingClass))
      line.serve(12)
    }
    expect(refused.length).toBeGreaterThan(1000)
    expect(refused.filter((item) => !item.startsWith('greedy'))).toEqual([])
  })

  it('divides a full queue by weight', () => {
    const line = new Line(8)
    line.push(production('large', 30), 8)
    expect(line.push(production('small', 10), 3)).toEqual(['large8', 'large7', 'small3'])
  })

  it('drops items of the sandbox before any of production', () => {
    const line = new Line(4)
    line.push(production('p'), 2)
    line.push(sandbox('s'), 2)
    expect(line.push(production('p'), 2)).toEqual(['s2', 's1'])
    expect(line.queue.isFullFor(sandbox('t', 1000))).toBe(true)
    expect(line.push(sandbox('t', 1000))).toEqual(['t1'])
  })

  it('divides a full queue among the sandboxes too', () => {
    const line = new Line(4)
    line.push(sandbox('greedy'), 4)
    expect(line.push(sandbox('polite'))).toEqual(['greedy4'])
  })
})
