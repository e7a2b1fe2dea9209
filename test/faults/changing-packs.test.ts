import { expect, it } from 'vitest'
import { runPackCampaign } from './pack-campaign.js'

it('changes from baseline to standard and to a third pack under load, killed at every step, without a refused call or a lost user', async () => {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 100_000)
  const progress = [`seed ${seed}`]
  const report = await runPackCampaign(seed, (line) => progress.push(line))
  expect(report.problems, progress.join('\n')).toEqual([])
  expect(report).toMatchObject({
    models: ['baseline@1.0.0', 'standard@1.0.0', 'third@1.0.0'],
    references: ['third@1.0.0'],
    templatesLeft: 0,
    usersTooMany: 0,
  })
  expect(report.kills).toBeGreaterThan(10)
  for (const counted of [report.commandsKilled, report.cut, report.rejected])
    expect(counted).toBeGreaterThan(0)
})
