/** The queue of verifies that a candidate is to see: it runs what finds an idle worker soon, and drops the rest. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ShadowQueue } from '../../../../src/features/insight/shadow/shadow-queue.js'

let isFree: boolean
let ran: number[]
let dropped: number[]
/** Ends of the runs, in order; `done` where nothing is given. */
let ends: Array<'done' | 'interrupted'>
let queue: ShadowQueue<number>

beforeEach(() => {
  isFree = true
  ran = []
  dropped = []
  ends = []
  queue = new ShadowQueue<number>({
    hasPlace: () => isFree,
    run: async (item) => {
      ran.push(item)
      return ends.shift() ?? 'done'
    },
    onDropped: (item) => dropped.push(item),
  })
})
afterEach(() => queue.stop())

it('runs at once what finds an idle worker', () => {
  queue.add(1, 10)
  expect(ran).toEqual([1])
})

it('runs an item that waited once a worker is idle, the oldest first', async () => {
  isFree = false
  for (const item of [1, 2]) queue.add(item, 10)
  expect(ran).toEqual([])
  isFree = true
  await expect.poll(() => ran).toEqual([1, 2])
})

it('starts one item for one idle worker, which the item takes only after a look at the database', async () => {
  let isTaken = true
  const started: number[] = []
  const slow = new ShadowQueue<number>({
    hasPlace: () => !isTaken,
    run: async (item) => {
      started.push(item)
      await Promise.resolve()
      isTaken = true
      return 'done'
    },
    onDropped: () => {},
  })
  for (const item of [1, 2, 3]) slow.add(item, 10)
  isTaken = false
  await expect.poll(() => started.length).toBeGreaterThan(0)
  expect(started).toEqual([1])
  await slow.stop()
})

it('drops what comes while 16 items or 32 MiB wait', async () => {
  isFree = false
  for (let item = 1; item <= 17; item++) queue.add(item, 10)
  expect(dropped).toEqual([17])
  const other = new ShadowQueue<number>({
    hasPlace: () => false,
    run: async () => 'done',
    onDropped: (item) => dropped.push(item),
  })
  other.add(20, 20 * 1024 * 1024)
  other.add(21, 20 * 1024 * 1024)
  expect(dropped).toEqual([17, 21])
  await other.stop()
})

it('drops an item that finds no idle worker within two seconds', async () => {
  isFree = false
  queue.add(1, 10)
  await expect.poll(() => dropped, { timeout: 10_000 }).toEqual([1])
  isFree = true
  expect([queue.size, ran]).toEqual([0, []])
})

it('runs an interrupted item again, before the others', async () => {
  ends = ['interrupted']
  queue.add(1, 10)
  isFree = false
  queue.add(2, 10)
  await expect.poll(() => queue.size).toBe(2)
  isFree = true
  await expect.poll(() => ran).toEqual([1, 1, 2])
  expect(dropped).toEqual([])
})

it('drops everything when it is stopped, and takes nothing more', async () => {
  isFree = false
  queue.add(1, 10)
  await queue.stop()
  queue.add(2, 10)
  expect([dropped, ran]).toEqual([[1, 2], []])
})
