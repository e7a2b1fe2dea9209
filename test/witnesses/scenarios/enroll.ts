/** References: made, added to, replaced, and what an enrollment refuses. */

import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { base64, groupPhoto, landscape } from '../../support/faces.js'
import { blurredFace, distantFace, plain, pngHeader, upsideDownFace } from '../../support/images.js'
import { operationsOf } from '../../support/operations.js'
import type { Scenario } from './groups.js'
import { enrolled } from './verify.js'

const consent = { id: 'terms-1', agreed_at: '2026-11-23T09:00:00Z' }
const AGREED = { type: 'replace_reference' }

export const enroll: Record<string, Scenario> = {
  async 'enrolls a user with a consent and the report of the capture'(stage) {
    const { production, sandbox, photos } = stage
    for (const environment of ['production', 'sandbox'] as const) await stage.addWebhook(environment)
    const fields = { user_id: 'ada', consent, capture_integrity: { signals: [] } }
    await production.enroll({ ...fields, image: photos.ada })
    await sandbox.enroll({ ...fields, image: photos.blank })
  },

  async 'makes one reference of several photos, and names all it has measured'({ production, photos }) {
    const images = [photos.ada, photos.adaToday, photos.adaElsewhere]
    await production.enroll({ user_id: 'ada', images, include: ['quality'] })
  },

  async 'assesses photos without keeping anything'({ production, sandbox, photos }) {
    await production.enroll({ user_id: 'ada', image: photos.ada, dry_run: true })
    await sandbox.enroll({ user_id: 'ada', image: photos.blank, dry_run: true })
  },

  async 'refuses to enroll a user again, adds photos, and replaces the reference'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    for (const client of [production, sandbox]) {
      await client.enroll({ user_id, image: photos.adaToday })
      await client.enroll({ user_id, image: photos.adaToday, add: true })
      await client.enroll({ user_id, image: photos.adaElsewhere, replace: true })
    }
    await production.enroll({ user_id, image: photos.grace, add: true })
    await production.enroll({ user_id: 'nobody', image: photos.ada, add: true })
  },

  async 'replaces a reference by a verdict where the contract asks for one'(stage) {
    const { production, sandbox, quiet, photos, running } = stage
    const user_id = await enrolled(stage)
    await operationsOf(running.service).tenants.setContract(await stage.record(), COMMAND_LINE, {
      ...{ ratePerSecond: 1000, fmr: null, requireLiveness: null, replaceVerdictMinutes: 10 },
    })
    await production.enroll({ user_id, image: photos.ada, replace: true })
    await sandbox.enroll({ user_id, image: photos.ada, replace: true })
    const { body } = await production.verify({ user_id, image: photos.adaToday, action: AGREED })
    const { verification_id } = body
    await production.enroll({ user_id, image: photos.adaElsewhere, replace: true, verification_id })
    const { body: scripted } = await quiet.sandbox.verify({ user_id, image: photos.blank, action: AGREED })
    await sandbox.enroll({
      ...{ user_id, image: photos.blank, replace: true, verification_id: scripted.verification_id },
    })
  },

  async 'refuses pictures that no reference can be made of'({ production, photos }) {
    const pictures = [
      Buffer.from('no picture'),
      pngHeader(20_000, 20_000),
      await plain(16, 16),
      await landscape(),
      groupPhoto(),
      await distantFace(),
      await upsideDownFace(),
      await blurredFace(),
    ]
    for (const picture of pictures) await production.enroll({ user_id: 'ada', image: base64(picture) })
    await production.enroll({ user_id: 'ada', images: [photos.ada, photos.grace] })
    await production.enroll({ user_id: 'ada', image: photos.ada, require_liveness: 'active' })
    await production.enroll({ user_id: 'ada', image: photos.ada, require_liveness: 'passive' })
  },

  async 'refuses users of the sandbox by the end of their id'({ sandbox, photos }) {
    for (const outcome of ['spoof', 'low_quality', 'no_face', 'multiple_faces', 'unavailable'])
      await sandbox.enroll({ user_id: `ada+${outcome}`, image: photos.blank })
  },

  async 'refuses a request that is none'({ production, photos }) {
    const complete = { user_id: 'ada', image: photos.ada }
    for (const fields of [{ image: undefined }, { add: true, replace: true }, { verification_id: 'ver_1' }])
      await production.enroll({ ...complete, ...fields })
  },
}
