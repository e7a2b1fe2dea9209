import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { overTransports } from '../support/transports.js'
import { runCampaign } from './campaign.js'
import { startVictim, type Victim } from './service.js'

const INPUTS = 300

overTransports((transport) => {
  let victim: Victim

  beforeAll(async () => {
    victim = await startVictim(inject('modelsDir'), transport)
  })
  afterAll(() => victim?.stop())

  describe('hostile input', () => {
    it('crashes nothing, and every answer is signed and coded', async () => {
      const { verdict, answers } = await runCampaign(victim, {
        inputs: INPUTS,
        seed: 4711,
        progress: () => {},
      })
      expect({ ...verdict, crashes: victim.crashes() }).toEqual({
        http_inputs: INPUTS / 2,
        image_inputs: INPUTS / 2,
        crashes: 0,
        responses_5xx: 0,
        unsigned_or_uncoded: 0,
      })
      // Were everything refused at the door, the rest would prove nothing.
      // node:http's parser leaves its refusals to the service, which signs them.
      if (transport === 'node') expect(answers.parser).toBeUndefined()
      expect(await victim.peakUnansweredBodyBytes()).toBeGreaterThan(2 ** 20)
      expect(await victim.peakUnansweredBodyBytes()).toBeLessThan(256 * 2 ** 20)
      // How long is the machine's affair as well: test/server/json-body.test.ts holds the parser to its bound.
      expect(victim.longestStallMs()).toBeGreaterThan(0)
      expect(answers['201']).toBeGreaterThan(0)
      expect(answers['422']).toBeGreaterThan(0)
    }, 120_000)
  })
})
