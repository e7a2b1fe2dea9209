import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { Random } from '../../hostile/random.js'
import { headFilm } from '../../liveness/films.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { portraitOf } from '../../liveness/portrait.js'
import { expectInvalid, expectRefusal } from '../../support/answers.js'
import { answerTo, takes } from '../../support/challenges.js'
import { countRows } from '../../support/database.js'
import { base64, face } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { operationsOf } from '../../support/operations.js'
import { serviceOfFile } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s' })
const tenant = await running.tenant({ ratePerSecond: 1000 })
const production = await running.production(tenant)

const action = { type: 'wire_transfer', amount: '1250.00' }
let users = 0
const newUser = (suffix = '') => `challenged-${++users}${suffix}`
const ask = (fields: Record<string, unknown>, client = tenant.sandbox) =>
  client.call('POST', '/v1/challenges', fields)

/** Enrolls a user in the sandbox and asks for a challenge. */
async function challenged(suffix = '', fields: Record<string, unknown> = {}) {
  const user_id = newUser(suffix)
  await tenant.sandbox.enroll({ user_id, image: blank })
  const { body } = await ask({ user_id, action, ...fields })
  return { user_id, asked: body }
}

describe('a challenge', () => {
  it('draws a challenge of both movements between two looks straight ahead, in an order that varies', async () => {
    const user_id = newUser('+match')
    const seen = new Set<string>()
    for (let i = 0; i < 40; i++) {
      const { status, body } = await ask({ user_id, action })
      expect(status).toBe(201)
      expect([body.steps[0], body.steps.at(-1)]).toEqual(['frontal', 'frontal'])
      const movements = body.steps.slice(1, -1).join(' ')
      expect(movements).toMatch(/turn_(left|right)/)
      expect(movements).toMatch(/nod_(up|down)/)
      expect(movements.split(' ').length).toBeLessThanOrEqual(3)
      seen.add(movements)
    }
    expect(seen.size).toBeGreaterThan(8)
  })

  it('answers a challenge with the limits of its frames, its expiry and the name of its check', async () => {
    const { body } = await ask({ user_id: newUser('+match'), action })
    expect(body).toEqual({
      challenge_id: expect.stringMatching(/^chl_[0-9a-f]{32}$/),
      nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_id: `challenged-${users}+match`,
      purpose: 'verify',
      method: 'active-geometry@1',
      steps: expect.any(Array),
      capture: {
        min_frames: 16,
        max_frames: 40,
        min_interval_ms: 60,
        max_interval_ms: 600,
        max_gap_ms: 1_000,
        min_duration_ms: 2000,
        max_duration_ms: 20_000,
      },
      expires_in: 90,
      expires_at: new Date(running.clock.now() + 90_000).toISOString(),
    })
  })

  it.each([
    [['turn'], 'active-turn@1', /^frontal( turn_(left|right)){2,3} frontal$/],
    [['nod'], 'active-nod@1', /^frontal( nod_(up|down)){2,3} frontal$/],
    [[], null, /^frontal$/],
  ])(
    'draws a weaker challenge, named so, for a person who can move only by %j',
    async (modes, method, steps) => {
      const { body } = await ask({ user_id: newUser('+match'), action, modes })
      expect(body.method).toBe(method)
      expect(body.steps.join(' ')).toMatch(steps)
    },
  )

  it.each([
    [{ action: undefined }, 'action'],
    [{ purpose: 'enroll' }, 'action'],
    [{ modes: ['smile'] }, 'modes.0'],
    [{ purpose: 'login' }, 'purpose'],
  ])('refuses a challenge for %j', async (fields, path) => {
    await expectInvalid(ask({ user_id: newUser('+match'), action, ...fields }), path)
  })

  it('makes no challenge for a user who could not be verified', async () => {
    expect((await ask({ user_id: newUser(), action })).body.code).toBe('reference_not_found')
  })

  it('stores neither the nonce of a challenge nor a hash of the action that could be guessed at', async () => {
    const { asked } = await challenged()
    const [row] = await running.database.query('SELECT * FROM challenge WHERE id = $1', [asked.challenge_id])
    const text = Object.values(row!)
      .map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value)))
      .join(' ')
    expect(text).not.toContain(asked.nonce)
    expect(text).not.toContain(Buffer.from(asked.nonce, 'base64url').toString('hex'))
  })

  it('erases a challenge with its user', async () => {
    const { user_id, asked } = await challenged()
    await tenant.sandbox.erase(user_id)
    expect(await countRows(running, 'challenge', 'id = $1', [asked.challenge_id])).toBe(0)
  })
})

describe('the frames of a challenge', () => {
  it('takes frames of a challenge instead of photos, and names the method in the verdict', async () => {
    const { user_id, asked } = await challenged()
    const challenge = answerTo(asked, blank)
    const { status, body } = await tenant.sandbox.verify({ user_id, action, challenge })
    expect([status, body.verdict]).toEqual([200, 'approved'])
    expect(body.liveness).toEqual({
      checked: true,
      passed: true,
      score: null,
      methods: ['active-geometry@1'],
      guidance: [],
      findings: [],
    })
    const { claims } = decodeJwt(body.jwt, tenant.secret.secret)
    expect(claims).toMatchObject({
      acr: 'urn:countersign:acr:face-active',
      challenge_id: asked.challenge_id,
      liveness: { checked: true, passed: true, methods: ['active-geometry@1'] },
    })
  })

  it.each([
    [['turn'], ['active-turn@1'], 'face-active-turn'],
    [['nod'], ['active-nod@1'], 'face-active-nod'],
    [[], [], 'face-no-motion'],
  ])(
    'of a person who can move by %j alone have a weaker statement and name',
    async (modes, methods, name) => {
      const { user_id, asked } = await challenged('', { modes })
      const { body } = await tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, blank) })
      expect(body.liveness).toMatchObject({ checked: methods.length > 0, methods })
      expect(decodeJwt(body.jwt, tenant.secret.secret).claims.acr).toBe(`urn:countersign:acr:${name}`)
    },
  )

  it('enrolls a user by frames of a challenge', async () => {
    const user_id = newUser()
    const { body: asked } = await ask({ user_id, purpose: 'enroll' })
    const { status, body } = await tenant.sandbox.enroll({ user_id, challenge: answerTo(asked, blank) })
    expect([status, body.quality.views, body.liveness.methods]).toEqual([201, 2, ['active-geometry@1']])
  })

  it.each([
    ['+turn_more', { guidance: ['turn_more'] }],
    ['+mirrored', { guidance: ['mirrored'], findings: ['mirrored'] }],
    ['+multiple_faces', { guidance: ['several_faces'] }],
    ['+flat', { guidance: ['try_again'], findings: ['flat'] }],
    ['+discontinuous', { guidance: ['slower'], findings: ['discontinuous'] }],
  ])('fails the frames of a sandbox user %s for that', async (suffix, expected) => {
    const { user_id, asked } = await challenged(suffix)
    const { body } = await tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, blank) })
    expect([body.verdict, body.reason, body.score]).toEqual(['rejected', 'liveness_failed', null])
    expect(body.liveness).toMatchObject({ checked: true, passed: false, ...expected })
  })

  it('takes a challenge once among parallel calls', async () => {
    const { user_id, asked } = await challenged()
    const challenge = answerTo(asked, blank)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tenant.sandbox.verify({ user_id, action, challenge })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.code))).toEqual(
      new Set(['challenge_used']),
    )
  })

  it('refuses frames for another user, another action, another purpose and another tenant', async () => {
    const { user_id, asked } = await challenged()
    const challenge = answerTo(asked, blank)
    const other = newUser('+match')
    const stranger = await running.tenant()
    const codes = [
      await tenant.sandbox.verify({ user_id: other, action, challenge }),
      await tenant.sandbox.verify({ user_id, action: { ...action, amount: '9999.00' }, challenge }),
      await tenant.sandbox.enroll({ user_id, replace: true, challenge }),
      await stranger.sandbox.verify({ user_id: other, action, challenge }),
    ].map(({ body }) => body.code)
    expect(codes).toEqual([
      'challenge_mismatch',
      'challenge_mismatch',
      'challenge_mismatch',
      'challenge_not_found',
    ])
    // No refusal used the challenge up.
    expect((await tenant.sandbox.verify({ user_id, action, challenge })).body.verdict).toBe('approved')
  })

  it('refuses frames of an expired challenge', async () => {
    const { user_id, asked } = await challenged()
    running.clock.advance(90_000)
    const challenge = answerTo(asked, blank)
    await expectRefusal(tenant.sandbox.verify({ user_id, action, challenge }), 422, 'challenge_expired')
  })

  it('takes 16 to 40 frames, each a readable image', async () => {
    const { user_id, asked } = await challenged()
    const few = await tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, blank, 15) })
    const many = await tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, blank, 41) })
    expect([few.body.code, many.body.code]).toEqual(['invalid_request', 'invalid_request'])
    const frames = Array.from({ length: 20 }, (_, i) => (i === 7 ? btoa('no picture') : blank))
    const broken = await tenant.sandbox.verify({ user_id, action, challenge: answerTo(asked, frames) })
    expect([broken.body.code, broken.body.details[0].path]).toEqual([
      'image_unreadable',
      'challenge.frames.7.image',
    ])
  })

  it('refuses frames together with photos', async () => {
    const { user_id, asked } = await challenged()
    const challenge = answerTo(asked, blank)
    const { body } = await tenant.sandbox.verify({ user_id, action, challenge, image: blank })
    expect([body.code, body.details[0].issue]).toEqual([
      'invalid_request',
      'give one of `image`, `images` and `challenge`',
    ])
  })
})

describe('in production', () => {
  it('refuses a photo held still in front of the camera, and counts it for the lockout', async () => {
    const user_id = newUser()
    const photo = await face('grace')
    await production.enroll({ user_id, image: base64(photo) })
    const { body: asked } = await ask({ user_id, action, modes: ['turn'] }, production)
    const challenge = answerTo(asked, await takes(photo))
    const { body } = await production.verify({ user_id, action, challenge })
    expect([body.verdict, body.reason]).toEqual(['rejected', 'liveness_failed'])
    expect(body.liveness).toMatchObject({ passed: false, guidance: ['turn_more'] })
    const user = await production.call('GET', `/v1/users/${user_id}`)
    expect(user.body.lockout.rejections).toBe(1)
  })

  // The steps are drawn, and a rendered film of some draws fails in another way as well, which is then named instead.
  it('names a camera that mirrors, and counts its films for no lockout', { retry: 3 }, async () => {
    const user_id = newUser()
    await production.enroll({ user_id, image: base64(await face('ada')) })
    const pipeline = await loadPipeline()
    const portrait = await portraitOf(pipeline, 'ada', await face('adaElsewhere'))
    await pipeline.release()
    const { body: asked } = await ask({ user_id, action }, production)
    const { frames, notes } = await headFilm({ portrait }, asked.steps, new Random(4))
    const mirrored = await Promise.all(frames.map((frame) => sharp(frame).flop().jpeg().toBuffer()))
    const { challenge_id, nonce } = asked
    const sent = mirrored.map((frame, index) => {
      const { step, tMs } = notes[index]!
      return { step, t_ms: tMs, image: base64(frame) }
    })
    const challenge = { challenge_id, nonce, frames: sent }
    const { body } = await production.verify({ user_id, action, challenge })
    expect([body.verdict, body.reason, body.score]).toEqual(['rejected', 'liveness_failed', null])
    expect(body.liveness).toMatchObject({ passed: false, guidance: ['mirrored'], findings: ['mirrored'] })
    const user = await production.call('GET', `/v1/users/${user_id}`)
    expect(user.body.lockout.rejections).toBe(0)
    // A film that was sent before is another matter.
    const { body: next } = await ask({ user_id, action, modes: [] }, production)
    const sentBefore = answerTo(next, base64(mirrored[0]!), 16)
    const again = await production.verify({ user_id, action, challenge: sentBefore })
    expect(again.body.liveness.findings).toContain('replayed')
    expect((await production.call('GET', `/v1/users/${user_id}`)).body.lockout.rejections).toBe(1)
  })
})

describe('a call that must carry a check of liveness', () => {
  it('refuses a call without the liveness check that it asks for, and takes one with it', async () => {
    const { user_id, asked } = await challenged()
    const required = { user_id, action, require_liveness: 'active' }
    await expectRefusal(tenant.sandbox.verify({ ...required, image: blank }), 422, 'liveness_required')
    const with_ = await tenant.sandbox.verify({ ...required, challenge: answerTo(asked, blank) })
    expect(with_.body.verdict).toBe('approved')
  })

  it('never lets a call weaken the liveness requirement of the contract', async () => {
    const strict = await running.tenant()
    const { tenancy } = running.service.core
    const operations = operationsOf(running.service)
    await operations.tenants.setContract(await tenancy.find(strict.id), COMMAND_LINE, {
      ...{ ratePerSecond: 50, fmr: null, requireLiveness: 'active', replaceVerdictMinutes: null },
    })
    const asked = { user_id: newUser('+match'), action, image: blank, require_liveness: 'none' }
    await expectRefusal(strict.sandbox.verify(asked), 422, 'liveness_required')
  })

  it('does not take frames without a movement for a check of liveness', async () => {
    const { user_id, asked } = await challenged('', { modes: [] })
    const challenge = answerTo(asked, blank)
    const { body } = await tenant.sandbox.verify({ user_id, action, require_liveness: 'active', challenge })
    expect(body.code).toBe('liveness_required')
  })
})
