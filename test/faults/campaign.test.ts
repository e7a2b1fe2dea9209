import { expect, it } from 'vitest'
import { runCampaign } from './campaign.js'

it('keeps every acknowledged effect, and executes none twice, when it is killed under load', async () => {
  const { acknowledged, ...result } = await runCampaign({ kills: 3, seed: 7 })
  expect(result).toEqual({ kills: 3, lost: 0, executed_twice: 0, native_crashes: 1, problems: [] })
  expect(acknowledged).toBeGreaterThan(0)
})
