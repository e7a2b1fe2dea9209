import sharp from 'sharp'
import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/lib/clock.js'
import { altered, base64, face, photosOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const [ada, adaToday, joan] = await photosOf('ada', 'adaElsewhere', 'joan')
const recompressed = await altered('adaElsewhere', (photo) => photo.jpeg({ quality: 88 }))
const adaTodayRecompressed = base64(recompressed)

for (const policy of ['reject_identical', 'report', 'reject'] as const) {
  const running = await serviceOfFile({
    COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
    // An empty setting takes the default, `reject_identical`.
    COUNTERSIGN_REPLAY_POLICY: policy === 'reject_identical' ? '' : policy,
  })
  const tenant = await running.tenant()
  const production = await running.production(tenant)

  describe(`a replayed capture under the policy ${policy}`, () => {
    let user: string
    let users = 0

    beforeEach(async () => {
      user = `user-${++users}`
      await production.enroll({ user_id: user, image: ada })
    })

    const verify = async (images: string | string[], user_id = user) => {
      const field = typeof images === 'string' ? { image: images } : { images }
      const { body } = await production.verify({ user_id, ...field, action: 'x' })
      const { claims, valid } = decodeJwt(body.jwt, tenant.secret.secret)
      expect(valid).toBe(true)
      expect(claims.replay).toEqual(body.replay)
      expect([claims.verdict, claims.reason ?? null]).toEqual([body.verdict, body.reason])
      return body
    }
    const fresh = { verdict: 'approved', reason: null, replay: { suspected: false } }
    const marked = { verdict: 'approved', reason: null, replay: { suspected: true } }
    const refused = { verdict: 'rejected', reason: 'replayed_capture', replay: { suspected: true } }
    /** Expected verdicts: `replayed` for the same file, `alike` for a nearly identical face. */
    const replayed = policy === 'report' ? marked : refused
    const alike = policy === 'reject' ? refused : marked

    it('detects the same file as a replay', async () => {
      expect(await verify(adaToday)).toMatchObject(fresh)
      expect(await verify(adaToday)).toMatchObject(replayed)
    })

    it('detects the same picture, compressed again, as a replay', async () => {
      expect(await verify(adaToday)).toMatchObject(fresh)
      expect(await verify(adaTodayRecompressed)).toMatchObject(alike)
    })

    it('detects the photo of the enrollment as a replay', async () => {
      expect(await verify(ada)).toMatchObject(replayed)
    })

    it('answers a call repeated with its idempotency key with the kept response, not as a replayed capture', async () => {
      const headers = { 'X-Svc-Idempotency-Key': `${policy}-${user}` }
      const call = () => production.verify({ user_id: user, image: adaToday, action: 'x' }, { headers })
      const first = await call()
      expect(first.body).toMatchObject(fresh)
      expect((await call()).body).toEqual(first.body)
    })

    it('detects a replay that hides among other images', async () => {
      expect(await verify(adaToday)).toMatchObject(fresh)
      const other = await altered('ada', (photo) =>
        photo.rotate(-9, { background: '#606060' }).jpeg({ quality: 60 }),
      )
      expect(await verify([base64(other), adaToday])).toMatchObject(replayed)
    })

    it('detects a replay of a capture that a rejected verify used first', async () => {
      expect(await verify(joan)).toMatchObject({ reason: 'no_match', replay: { suspected: false } })
      expect(await verify(joan)).toMatchObject({ reason: 'no_match', replay: { suspected: true } })
    })

    it('takes one of four parallel captures as fresh, and detects the others as replays', async () => {
      // Another connection holds the write lock, so that all four are judged before the first one is stored.
      const release = await running.database.holdWrites()
      const pending = Array.from({ length: 4 }, () => verify(adaToday))
      await new Promise((resolve) => setTimeout(resolve, 500))
      await release()
      const all = await Promise.all(pending)
      expect(all.filter(({ replay }) => !replay.suspected)).toHaveLength(1)
    })

    it('forgets a capture after 24 hours', async () => {
      await verify(adaToday)
      running.clock.advance(DAY_MS - 1)
      expect(await verify(adaTodayRecompressed)).toMatchObject(alike)
      running.clock.advance(1)
      // The copy was remembered as a capture a moment ago.
      expect(await verify(adaToday)).toMatchObject(alike)
      running.clock.advance(DAY_MS)
      expect(await verify(adaToday)).toMatchObject(fresh)
    })

    it('detects a replay after any number of later captures', async () => {
      expect(await verify(adaToday)).toMatchObject(fresh)
      const grace = await face('grace')
      for (let i = 0; i < 14; i++) {
        const others = await Promise.all(
          Array.from({ length: 5 }, (_, j) =>
            sharp(grace).extract({ left: i, top: j, width: 400, height: 400 }).jpeg().toBuffer(),
          ),
        )
        await verify(others.map(base64))
      }
      expect(await verify(adaToday)).toMatchObject(replayed)
    })

    it('detects replays only among captures of the same user', async () => {
      await production.enroll({ user_id: `${user}-twin`, image: ada })
      expect(await verify(adaToday)).toMatchObject(fresh)
      expect(await verify(adaToday, `${user}-twin`)).toMatchObject(fresh)
    })
  })
}

const running = await serviceOfFile({ COUNTERSIGN_REPLAY_POLICY: '', COUNTERSIGN_LOCKOUT_ATTEMPTS: '3' })
const tenant = await running.tenant()
const production = await running.production(tenant)

describe('the same capture once more within seconds', () => {
  let keys = 0
  let user: string

  beforeEach(async () => {
    user = `impatient-${++keys}`
    await production.enroll({ user_id: user, image: ada })
  })

  const verify = (fields: Record<string, unknown> = {}, key: string | null = `key-${++keys}`) =>
    production.verify(
      { user_id: user, image: adaToday, action: { type: 'transfer', amount: '1.00' }, nonce: 'n', ...fields },
      key === null ? {} : { headers: { 'X-Svc-Idempotency-Key': key } },
    )
  const auditHead = () => running.service.core.store.read.auditHead(tenant.id)

  it('gets the first answer again, with the same id, and is no verification of its own', async () => {
    const first = await verify()
    expect(first.body).toMatchObject({ verdict: 'approved' })
    const head = await auditHead()
    running.clock.advance(30_000)
    const again = await verify({}, 'again')
    expect(again.text).toBe(first.text)
    expect(again.headers.get('x-svc-idempotent-replay')).toBe('true')
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await auditHead())?.sequence).toBe(head?.sequence)
    // The repeat has a kept answer of its own, which makes no later one innocent.
    expect((await verify({}, 'again')).text).toBe(first.text)
    running.clock.advance(1)
    expect((await verify()).body).toMatchObject({ reason: 'replayed_capture' })
  })

  it('gets the first answer where both are under way at once', async () => {
    const release = await running.database.holdWrites()
    const pending = Array.from({ length: 3 }, () => verify())
    await new Promise((resolve) => setTimeout(resolve, 500))
    await release()
    const answers = await Promise.all(pending)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]!.body).toMatchObject({ verdict: 'approved' })
  })

  it('gets the first rejection again, which counts once', async () => {
    const first = await verify({ image: joan })
    expect(first.body).toMatchObject({ reason: 'no_match' })
    for (let i = 0; i < 5; i++) expect((await verify({ image: joan })).text).toBe(first.text)
    expect((await verify()).body).toMatchObject({ verdict: 'approved' })
  })

  it('is a replay for another action, nonce, or other member of the request, and without an idempotency key', async () => {
    expect((await verify()).body).toMatchObject({ verdict: 'approved' })
    const refused = { verdict: 'rejected', reason: 'replayed_capture' }
    for (const other of [
      { action: { type: 'transfer', amount: '9.00' } },
      { nonce: 'of another session' },
      { require_liveness: 'none' },
    ])
      expect((await verify(other)).body).toMatchObject(refused)
    expect((await verify({}, null)).body).toMatchObject(refused)
  })

  it('is a replay for a user who was enrolled or erased since, and for one of another tenant', async () => {
    const refused = { verdict: 'rejected', reason: 'replayed_capture' }
    expect((await verify()).body).toMatchObject({ verdict: 'approved' })
    running.clock.advance(1)
    await production.enroll({ user_id: user, image: ada, replace: true })
    expect((await verify()).body).toMatchObject(refused)
    await production.erase(user)
    await production.enroll({ user_id: user, image: ada })
    const afresh = await verify()
    expect(afresh.body).toMatchObject({ verdict: 'approved' })
    expect(afresh.headers.get('x-svc-idempotent-replay')).toBeNull()
    const other = await running.production(await running.tenant())
    await other.enroll({ user_id: user, image: ada })
    const theirs = await other.verify({ user_id: user, image: adaToday, action: 'x' })
    expect(theirs.body).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
  })

  it('never counts for the lockout, however often it is refused', async () => {
    expect((await verify()).body).toMatchObject({ verdict: 'approved' })
    for (let i = 0; i < 10; i++)
      expect((await verify({}, null)).body).toMatchObject({ reason: 'replayed_capture' })
    const image = base64(await altered('adaElsewhere', (photo) => photo.rotate(1)))
    expect((await verify({ image })).body).toMatchObject({ verdict: 'approved' })
    // Nor does it end a series of rejections.
    const other = await face('joan')
    const stranger = async (i: number) =>
      base64(await sharp(other).extract({ left: i, top: 0, width: 400, height: 400 }).jpeg().toBuffer())
    for (const i of [0, 1]) expect((await verify({ image: await stranger(i) })).body.reason).toBe('no_match')
    expect((await verify({}, null)).body).toMatchObject({ reason: 'replayed_capture' })
    expect((await verify({ image: await stranger(2) })).body.reason).toBe('no_match')
    expect((await verify({ image: adaToday }, null)).body).toMatchObject({ reason: 'locked_out' })
  })
})
