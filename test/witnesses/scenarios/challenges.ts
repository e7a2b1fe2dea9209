/** Challenges, their frames, and the text of a typed action that is shown with them. */
import sharp from 'sharp'
import { answerTo } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face } from '../../support/faces.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

const PAYMENT = {
  type: 'payment',
  amount: '1250.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}

export const challengeFor = async (client: ApiClient, fields: Record<string, unknown>) =>
  (await client.call('POST', '/v1/challenges', fields)).body

/** Frames of a photo that is held still, each another file. */
async function stillFrames(): Promise<string[]> {
  const photo = await face('ada')
  const sizes = Array.from({ length: 16 }, (_, index) => 400 + index)
  return Promise.all(sizes.map(async (size) => base64(await sharp(photo).resize(size).jpeg().toBuffer())))
}

export const challenges: Record<string, Scenario> = {
  async 'approves the frames of a challenge without movements, once'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    const frames = await stillFrames()
    for (const client of [production, sandbox]) {
      const asked = await challengeFor(client, { user_id, action: ACTION, modes: [] })
      const pictures = client === production ? frames : photos.blank
      const challenge = answerTo(asked, pictures)
      await client.verify({ user_id, action: ACTION, challenge })
      await client.verify({ user_id, action: ACTION, challenge })
    }
  },

  async 'rejects a photo that is held still where movements are asked for'(stage) {
    const { production, quiet } = stage
    const user_id = await enrolled(stage)
    const asked = await challengeFor(quiet.production, { user_id, action: ACTION, modes: ['turn'] })
    await production.verify({ user_id, action: ACTION, challenge: answerTo(asked, await stillFrames()) })
  },

  async 'approves the movements of a challenge in the sandbox, and rejects what the user id asks for'(stage) {
    const { sandbox, quiet, photos } = stage
    for (const outcome of ['match', 'mirrored', 'flat', 'slower', 'challenge_expired']) {
      const user_id = `ada+${outcome}`
      const client = outcome === 'match' ? sandbox : quiet.sandbox
      const asked = await challengeFor(client, { user_id, action: ACTION })
      await sandbox.verify({ user_id, action: ACTION, challenge: answerTo(asked, photos.blank) })
    }
  },

  async 'enrolls by a challenge'({ production, sandbox, photos }) {
    for (const client of [production, sandbox]) {
      const asked = await challengeFor(client, { user_id: 'ada', purpose: 'enroll', modes: [] })
      const pictures = client === production ? await stillFrames() : photos.blank
      await client.enroll({ user_id: 'ada', challenge: answerTo(asked, pictures) })
    }
    const asked = await challengeFor(sandbox, { user_id: 'ada+flat', purpose: 'enroll' })
    await sandbox.enroll({ user_id: 'ada+flat', challenge: answerTo(asked, photos.blank) })
  },

  async 'shows the text of a typed action with the challenge, and names it in the verdict'(stage) {
    const { production, sandbox, photos } = stage
    const user_id = await enrolled(stage)
    for (const client of [production, sandbox]) {
      const fields = { user_id, action: PAYMENT, modes: [], locale: 'en' }
      const asked = await challengeFor(client, fields)
      const pictures = client === production ? await stillFrames() : photos.blank
      const { body } = await client.verify({ user_id, action: PAYMENT, challenge: answerTo(asked, pictures) })
      const query = new URLSearchParams({ user_id, display_hash: asked.display.hash })
      await client.call('GET', `/v1/verifications/${body.verification_id}?${query}`)
    }
    await sandbox.call('POST', '/v1/challenges', { user_id, action: ACTION, locale: 'en' })
  },

  async 'refuses a challenge that is unknown, expired, or for another action or purpose'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    const fields = { user_id, action: ACTION, modes: [] }
    for (const [client, silent] of [
      [production, quiet.production],
      [sandbox, quiet.sandbox],
    ] as const) {
      const challenge = answerTo(await challengeFor(silent, fields), photos.blank)
      await client.verify({ user_id, action: 'another', challenge })
      await client.enroll({ user_id, replace: true, challenge })
      const unknown = { ...challenge, challenge_id: `chl_${'0'.repeat(32)}` }
      await client.verify({ user_id, action: ACTION, challenge: unknown })
      await client.enroll({ user_id, replace: true, challenge: unknown })
      const enrolling = answerTo(await challengeFor(silent, { user_id, purpose: 'enroll' }), photos.blank)
      stage.advance(90_000)
      await client.verify({ user_id, action: ACTION, challenge })
      await client.enroll({ user_id, replace: true, challenge: enrolling })
    }
    const late = answerTo(await challengeFor(quiet.sandbox, { user_id, purpose: 'enroll' }), photos.blank)
    for (const client of [quiet.sandbox, sandbox])
      await client.enroll({ user_id, replace: true, challenge: late })
  },

  async 'makes no challenge for a verify that cannot succeed'({ production, sandbox }) {
    for (const client of [production, sandbox])
      for (const fields of [{ user_id: 'nobody', action: ACTION }, { user_id: 'nobody' }])
        await client.call('POST', '/v1/challenges', fields)
    for (const outcome of ['locked_out', 'unavailable'])
      await sandbox.call('POST', '/v1/challenges', { user_id: `ada+${outcome}`, action: ACTION })
  },
}
