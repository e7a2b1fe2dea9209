import { describe, expect, it } from 'vitest'
import { runFairness } from './fairness.js'

describe('a greedy tenant next to nine polite ones', () => {
  it('is refused while the polite ones are served: none of them is refused, and their p99 at most doubles', async () => {
    const { problems, greedy_refused } = await runFairness({ seconds: 5, workers: 1 })
    expect(problems).toEqual([])
    expect(greedy_refused).toBeGreaterThan(0)
  })

  it('would harm them in a single queue in the order of arrival', async () => {
    const { problems } = await runFairness({ seconds: 1, workers: 1, isOneTenant: true })
    expect(problems).toEqual([
      expect.stringContaining('times as long in calls served'),
      expect.stringContaining('calls of polite tenants were refused'),
    ])
  })
})
