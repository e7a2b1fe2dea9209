/** Verdicts under a tenant's policy: met, not met, and left to a second person. */
import { allowReturn, askForSession } from '../../support/capture-page.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

const SECOND = { second_approver: { within_minutes: 30 } }

export const policy: Record<string, Scenario> = {
  async 'approves what meets the policy, and names policy and rule'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    await stage.setPolicy([{ name: 'any', require: { max_fmr: 0.001 } }], {
      retention: { inactive_days: 365, notice_days: 30 },
    })
    for (const client of [production, sandbox])
      await client.verify({ user_id, image: photos.adaToday, action: ACTION })
    await production.verify({ user_id, image: photos.grace, action: ACTION })
    await production.enroll({ user_id: 'grace', image: photos.grace })
  },

  async 'refuses what does not meet it, before the comparison'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    await stage.require({
      ...{ acr: 'urn:countersign:acr:face-active-swk', min_photos: 2, min_reference_photos: 2 },
      ...{ consent_id: 'terms-2', integrity: 'review', capture_binding: 'same', max_fmr: 1e-12 },
      max_reference_age_days: 1,
    })
    await allowReturn(stage.running, stage.tenant)
    stage.advance(86_400_000)
    for (const client of [production, sandbox]) {
      await client.verify({ user_id, image: photos.adaToday, action: ACTION })
      await client.call('POST', '/v1/challenges', { user_id, action: ACTION, modes: [] })
      await askForSession(client, { user_id, modes: ['turn'] })
    }
  },

  async 'gives an approval to a second person only'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    await enrolled(stage, 'twin')
    for (const client of [quiet.production, quiet.sandbox])
      await client.enroll({ user_id: 'grace', image: photos.grace })
    await stage.require(SECOND)
    for (const client of [production, sandbox]) {
      const first = await client.verify({ user_id, image: photos.adaToday, action: ACTION })
      const approval_id = first.body.verification_id
      if (client === production)
        await client.verify({ user_id: 'twin', image: photos.adaElsewhere, action: ACTION, approval_id })
      await client.verify({ user_id: 'grace', image: photos.grace, action: ACTION, approval_id })
      await client.verify({ user_id: 'grace', image: photos.grace, action: ACTION, approval_id })
    }
  },

  async 'leaves a capture with signals to a person'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    await stage.require({ integrity: 'review' })
    const capture_integrity = { signals: ['virtual_camera'] }
    for (const client of [production, sandbox])
      await client.verify({ user_id, image: photos.adaToday, action: ACTION, capture_integrity })
  },
}
