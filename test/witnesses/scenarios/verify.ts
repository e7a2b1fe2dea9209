/** Verdicts by photos: their reasons, and what a request can bring along. */

import { allowReturn, askForSession } from '../../support/capture-page.js'
import { base64, groupPhoto, landscape } from '../../support/faces.js'
import { distantFace, plain, pngHeader, upsideDownFace } from '../../support/images.js'
import type { Stage } from '../stage.js'
import type { Scenario } from './groups.js'

export const ACTION = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }

/** Enrolls Ada in both environments. */
export async function enrolled({ quiet, photos }: Stage, user_id = 'ada'): Promise<string> {
  for (const client of [quiet.production, quiet.sandbox]) await client.enroll({ user_id, image: photos.ada })
  return user_id
}

export const verify: Record<string, Scenario> = {
  async 'approves a face in production, and rejects another one'(stage) {
    const { production, photos } = stage
    const user_id = await enrolled(stage)
    await production.verify({ user_id, image: photos.adaToday, action: ACTION, nonce: 'n-1' })
    await production.verify({ user_id, image: photos.grace, action: 'log in' })
  },

  async 'looks at several images and at the report of their capture, and names all it has measured'(stage) {
    const { production, photos } = stage
    const user_id = await enrolled(stage)
    const images = [photos.adaToday, photos.adaElsewhere]
    const capture_integrity = { signals: ['virtual_camera'] }
    await production.verify({ user_id, images, action: ACTION, capture_integrity, include: ['quality'] })
  },

  async 'approves and rejects users of the sandbox by the end of their id'({ sandbox, photos }) {
    for (const outcome of ['match', 'no_match', 'spoof', 'locked_out', 'replayed', 'expired'])
      await sandbox.verify({ user_id: `ada+${outcome}`, image: photos.blank, action: ACTION })
  },

  async 'marks a capture that was seen before'(stage) {
    const { production, photos } = stage
    const user_id = await enrolled(stage)
    await production.verify({ user_id, image: photos.ada, action: ACTION })
  },

  async 'locks a user out after two rejections, and reports it'(stage) {
    const { production, quiet, photos } = stage
    const user_id = await enrolled(stage)
    await stage.addWebhook('production')
    await quiet.production.verify({ user_id, image: photos.grace, action: ACTION })
    await production.verify({ user_id, image: photos.joan, action: ACTION })
    await production.verify({ user_id, image: photos.adaToday, action: ACTION })
    await production.call('GET', `/v1/users/${user_id}`)
    await production.call('POST', '/v1/challenges', { user_id, action: ACTION })
    await production.enroll({ user_id, image: photos.adaToday, add: true })
    stage.advance(60_000)
    await production.verify({ user_id, image: photos.adaToday, action: ACTION })
  },

  async 'disables a reference after twenty rejections, and reports it'(stage) {
    const { production, running, photos } = stage
    const user_id = await enrolled(stage)
    await stage.addWebhook('production')
    await running.database.query('UPDATE subject SET failures = 19 WHERE tenant_id = $1', [stage.tenant.id])
    await production.verify({ user_id, image: photos.grace, action: ACTION })
    await production.verify({ user_id, image: photos.adaToday, action: ACTION })
    await production.call('GET', `/v1/users/${user_id}`)
    await production.enroll({ user_id, image: photos.ada, replace: true })
  },

  async 'answers a repeated request again, and refuses another one with its key'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    const headers = { 'X-Svc-Idempotency-Key': 'order-7' }
    for (const client of [production, sandbox])
      for (const amount of ['1.00', '1.00', '2.00'])
        await client.verify({ user_id, image: photos.adaToday, action: { ...ACTION, amount } }, { headers })
  },

  async 'signs with both secrets while the signing secret is rotated'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    await quiet.production.rotate()
    await production.verify({ user_id, image: photos.adaToday, action: ACTION })
    await sandbox.verify({ user_id, image: photos.adaToday, action: ACTION })
  },

  async 'issues the production key at the first approval in the sandbox'(stage) {
    await stage.takeProductionKey()
    await stage.sandbox.verify({ user_id: 'ada+match', image: stage.photos.blank, action: ACTION })
  },

  async 'verifies nobody who is not enrolled, or is enrolled for another model'(stage) {
    const { production, sandbox, running, photos } = stage
    for (const client of [production, sandbox])
      await client.verify({ user_id: 'nobody', image: photos.ada, action: ACTION })
    const user_id = await enrolled(stage)
    await running.database.query(
      "UPDATE reference SET model = 'former@1.0.0' WHERE subject_id IN (SELECT id FROM subject WHERE tenant_id = $1)",
      [stage.tenant.id],
    )
    await production.verify({ user_id, image: photos.adaToday, action: ACTION })
    await production.call('POST', '/v1/challenges', { user_id, action: ACTION })
    await production.enroll({ user_id, image: photos.adaToday, add: true })
    await allowReturn(running, stage.tenant)
    await askForSession(production, { user_id })
  },

  async 'refuses pictures that show no face, several, a small one or one upside down'(stage) {
    const { production, photos } = stage
    const user_id = await enrolled(stage)
    const pictures = [
      Buffer.from('no picture'),
      await landscape(),
      groupPhoto(),
      await distantFace(),
      await upsideDownFace(),
    ]
    for (const picture of pictures)
      await production.verify({ user_id, image: base64(picture), action: ACTION })
    const sizes = [pngHeader(20_000, 20_000), await plain(16, 16)]
    for (const picture of sizes) await production.verify({ user_id, image: base64(picture), action: ACTION })
    await production.verify({ user_id, images: [photos.adaToday, photos.grace], action: ACTION })
  },

  async 'refuses pictures of the sandbox by the end of the user id'({ sandbox, photos }) {
    const outcomes = [
      'low_quality',
      'no_face',
      'multiple_faces',
      'different_people',
      'rate_limited',
      'unavailable',
    ]
    for (const outcome of outcomes)
      await sandbox.verify({
        ...{ user_id: `ada+${outcome}`, images: [photos.blank, photos.blank], action: ACTION },
      })
  },

  async 'refuses photos where liveness or a passkey is required'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    for (const client of [production, sandbox]) {
      await client.verify({ user_id, image: photos.ada, action: ACTION, require_liveness: 'active' })
      await client.verify({ user_id, image: photos.ada, action: ACTION, require_liveness: 'passive' })
    }
    await production.verify({ user_id, image: photos.ada, action: ACTION, require_passkey: true })
  },

  async 'refuses a request that is none'({ production, sandbox, photos }) {
    const complete = { user_id: 'ada', image: photos.blank, action: ACTION }
    for (const fields of [{ action: undefined }, { images: [photos.blank] }, { nonce: 7 }, { more: true }])
      await production.verify({ ...complete, ...fields })
    await production.verify({ ...complete, nonce: `cap_${'0'.repeat(32)}` })
    await sandbox.verify({ ...complete, user_id: '' })
  },
}
