/**
 * Tests of the rules for a challenge: what it is bound to, when it is used up, and what its frames must be. Each test breaks only one
 * rule.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  ChallengeBook,
  type ChallengeSubject,
  type Purpose,
} from '../../../src/features/challenges/challenge-book.js'
import { MINUTE_MS } from '../../../src/lib/clock.js'
import { expectCode, expectRefusal } from '../../support/answers.js'
import { answerTo, takes } from '../../support/challenges.js'
import { base64, type FaceName, face } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { writeBroughtPack } from '../../support/packs.js'
import { serviceOfFile } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const FRAMES = 16
const action = { type: 'wire_transfer', amount: '1250.00' }

const modelsDir = temporaryFolder()
const dir = join(modelsDir, 'brought')
// The pack sets no bound on where the head looks or how far it moves between two frames, so that only the faces tell two people apart.
const anywhere = { frontalDegrees: 60, returnDegrees: 60 }
const anyMovement = { yaw: 60, pitch: 60, centre: 1, size: 1 }
await writeBroughtPack(dir, inject('modelsDir'), ({ activeLiveness }) => ({
  activeLiveness: { ...(activeLiveness as object), ...anywhere, mostPerStride: anyMovement },
}))
const running = await serviceOfFile({
  COUNTERSIGN_MODELS_DIR: modelsDir,
  COUNTERSIGN_DEADLINE_MS: '60000',
  COUNTERSIGN_MODEL_PACK: 'brought',
  COUNTERSIGN_ACCEPT_PACK: 'brought',
  COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
})
const tenant = await running.tenant()
const production = await running.production(tenant)
afterAll(async () => {
  await rm(modelsDir, { recursive: true, force: true })
})

let users = 0

/** A user of the sandbox with a challenge. */
async function challenged(suffix = '', fields: Record<string, unknown> = { action }) {
  const user_id = `ruled-${++users}${suffix}`
  if (!('purpose' in fields)) await tenant.sandbox.enroll({ user_id: user_id, image: blank })
  const { status, body } = await tenant.sandbox.call('POST', '/v1/challenges', { user_id, ...fields })
  expect(status).toBe(201)
  return { user_id, asked: body }
}

describe('a challenge', () => {
  it.each([
    ['enroll', 'verify'],
    ['verify', 'enroll'],
  ] as Array<[Purpose, Purpose]>)(
    'refuses a challenge issued for %s in a call of %s',
    async (given, used) => {
      const { store } = running.service.core
      const book = new ChallengeBook(running.clock)
      const of = (purpose: Purpose): ChallengeSubject => ({
        tenantId: tenant.id,
        environment: 'production',
        blindIndex: Buffer.alloc(32, 7),
        purpose,
        action: null,
      })
      const challenge = await store.transaction('installation', (tx) =>
        book.issue(tx, of(given), MINUTE_MS, ['frontal']),
      )
      await expectCode(book.open(store.read, challenge, of(used)), 'challenge_mismatch')
      expect((await book.open(store.read, challenge, of(given))).facts).toEqual({
        challenge_id: challenge.id,
      })
    },
  )

  it.each([
    ['an approval', ''],
    ['a rejection', '+flat'],
  ])('refuses a challenge that was used for %s before any frame is decoded', async (_, suffix) => {
    const { user_id, asked } = await challenged(suffix)
    const verify = (image: string) =>
      tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, image) })
    expect((await verify(blank)).status).toBe(200)
    await expectRefusal(verify(btoa('no picture')), 409, 'challenge_used')
  })

  it('uses a challenge up by a capture that was refused', async () => {
    const { user_id, asked } = await challenged('+flat', { purpose: 'enroll' })
    const enroll = () => tenant.sandbox.enroll({ user_id, challenge: answerTo(asked, blank) })
    await expectRefusal(enroll(), 422, 'liveness_failed')
    await expectRefusal(enroll(), 409, 'challenge_used')
  })
})

describe('frames in production', () => {
  let people: Record<'ada' | 'grace', string[]>
  beforeAll(async () => {
    const of = async (name: FaceName) => takes(await face(name), FRAMES)
    people = { ada: await of('adaElsewhere'), grace: await of('grace') }
  })

  /** The answer to a challenge without a movement, by a user who was enrolled with another file. */
  async function verified(frames: string[], enrolled = face('ada')) {
    const user_id = `ruled-${++users}`
    await production.enroll({ user_id, image: base64(await enrolled) })
    const { body } = await production.call('POST', '/v1/challenges', { user_id, action, modes: [] })
    return (await production.verify({ user_id, action, challenge: answerTo(body, frames) })).body
  }

  it('approves frames that all differ and show the enrolled person', async () => {
    expect(await verified(people.ada)).toMatchObject({ verdict: 'approved' })
  })

  it('refuses frames as replayed where only one of them was sent twice', async () => {
    const body = await verified(people.ada.map((frame, index) => (index === 9 ? people.ada[4]! : frame)))
    expect(body).toMatchObject({ verdict: 'rejected', reason: 'liveness_failed' })
    expect(body.liveness).toMatchObject({ passed: false, findings: ['replayed'] })
  })

  it('refuses frames where another person took over between the first look ahead and the last', async () => {
    // Grace's photo is the better one, so it is hers that is compared with the reference.
    const frames = people.grace.map((frame, index) => (index < 10 ? frame : people.ada[index]!))
    const body = await verified(frames, face('grace', 420))
    expect(body).toMatchObject({ verdict: 'rejected', reason: 'liveness_failed' })
    expect(body.liveness).toMatchObject({ passed: false, findings: ['face_changed'] })
  })
})
