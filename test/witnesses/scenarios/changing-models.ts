/** References that follow a new model pack, or age with the face, and replays that are refused. */

import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { askForSession } from '../../support/capture-page.js'
import { base64, face } from '../../support/faces.js'
import { operationsOf } from '../../support/operations.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

/** Days after which a reference takes a capture in. */
export const AGEING_DAYS = 30

export const changingModels: Record<string, Scenario> = {
  async 'refuses a capture that was seen before'(stage) {
    const { production, photos } = stage
    const user_id = await enrolled(stage)
    await production.verify({ user_id, image: photos.adaElsewhere, action: ACTION })
    await production.verify({ user_id, image: photos.adaElsewhere, action: ACTION })
  },

  async 'answers an innocent repeat with the first answer'(stage) {
    const { production, quiet, photos } = stage
    const user_id = await enrolled(stage)
    const fields = { user_id, image: photos.adaElsewhere, action: ACTION }
    const withKey = (key: string) => ({ headers: { 'X-Svc-Idempotency-Key': key } })
    await quiet.production.verify(fields, withKey('first-tap'))
    await production.verify(fields, withKey('second-tap'))
  },

  async 'makes no session where there is no page'({ production, sandbox }) {
    for (const client of [production, sandbox]) await askForSession(client, { user_id: 'ada' })
  },

  async 'has a reference age with the face'(stage) {
    const { production } = stage
    const user_id = await enrolled(stage)
    stage.advance(AGEING_DAYS * 86_400_000)
    for (const side of [396, 392]) {
      const image = base64(await face('ada', side))
      await production.verify({ user_id, image, action: ACTION })
      stage.advance(86_400_000)
    }
    await production.call('GET', `/v1/users/${user_id}`)
  },

  async 'has references follow the model pack that comes next'(stage) {
    const { production, running } = stage
    const { models } = operationsOf(running.service)
    const user_id = await enrolled(stage)
    stage.advance(86_400_000)
    await models.begin(COMMAND_LINE, {
      ...{ from: 'baseline@1.0.0', to: 'shifted@1.0.0', strictFmr: null, atCoverage: null, atTime: null },
    })
    await production.verify({ user_id, image: base64(await face('ada', 396)), action: ACTION })
    await production.enroll({ user_id: 'grace', image: stage.photos.grace })
    await models.decide(await stage.record(), COMMAND_LINE, 'to', { isForced: true })
    stage.advance(86_400_000)
    await production.verify({ user_id, image: base64(await face('ada', 392)), action: ACTION })
  },
}
