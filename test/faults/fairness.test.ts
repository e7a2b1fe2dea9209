import { expect, it } from 'vitest'
import { runFairness } from './fairness.js'

it('a greedy tenant is refused, nine polite ones are served: none refused, p99 within twice of without it', async () => {
  const { problems, greedy_refused } = await runFairness({ seconds: 8, workers: 1 })
  expect(problems).toEqual([])
  expect(greedy_refused).toBeGreaterThan(0)
}, 300_000)
