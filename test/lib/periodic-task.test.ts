/** The beat of what a service does again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { PeriodicTask } from '../../src/lib/periodic-task.js'

const OFTEN_MS = 5
const unexpected = (error: unknown) => {
  throw error
}

it('starts no second run while one is under way: a caller of now() joins it', async () => {
  let begun = 0
  let end = () => {}
  const beat = new PeriodicTask(
    OFTEN_MS,
    () => {
      begun++
      return new Promise<void>((resolve) => {
        end = resolve
      })
    },
    unexpected,
  )
  beat.start()
  const asked = beat.now()
  expect(beat.now()).toBe(asked)
  await sleep(10 * OFTEN_MS)
  expect(begun).toBe(1)
  end()
  await asked
  await expect.poll(() => begun).toBe(2)
  const stopped = beat.stop()
  end()
  await stopped
  await sleep(10 * OFTEN_MS)
  expect(begun).toBe(2)
})

it('runs again after a failure, which it reports', async () => {
  const told: unknown[] = []
  let times = 0
  const beat = new PeriodicTask(
    OFTEN_MS,
    async () => {
      throw `failure ${++times}`
    },
    (error) => told.push(error),
  )
  await beat.now()
  expect(told).toEqual(['failure 1'])
  beat.start()
  await expect.poll(() => told.length).toBeGreaterThan(2)
  await beat.stop()
  expect(told).toEqual(told.map((_, index) => `failure ${index + 1}`))
})

it('stops before it began', async () => {
  await new PeriodicTask(OFTEN_MS, async () => {}, unexpected).stop()
})
