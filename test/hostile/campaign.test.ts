import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { overTransports } from '../support/transports.js'
import { runCampaign } from './campaign.js'
import { sendLargePictures } from './large-pictures.js'
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
      // How long is the machine's affair as well: test/http/bodies/json-body.test.ts holds the parser to its bound.
      expect(victim.longestStallMs()).toBeGreaterThan(0)
      expect(answers['201']).toBeGreaterThan(0)
      expect(answers['422']).toBeGreaterThan(0)
    })
  })
})

describe('large pictures, in both environments', () => {
  /** Settings of glibc that overwrite freed memory and give large pictures mappings of their own, so that a read after free crashes. */
  const STRICT_MALLOC = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_PERTURB_: '165' }
  let victim: Victim

  beforeAll(async () => {
    victim = await startVictim(inject('modelsDir'), undefined, STRICT_MALLOC)
  })
  afterAll(() => victim?.stop())

  it('crash nothing, and a bystander is served all the while', async () => {
    const { verdict, answers } = await sendLargePictures(victim, { rounds: 2, progress: () => {} })
    console.log(JSON.stringify({ crashes: victim.crashes(), ...verdict }))
    expect({ crashes: victim.crashes(), failed: verdict.bystander_failed }).toEqual({ crashes: 0, failed: 0 })
    expect(verdict.bystander_answers).toBeGreaterThan(0)
    for (const refused of ['cut off', 'frames']) expect(answers[`${refused} image_unreadable`]).toBe(4)
  })
})
