import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectInvalid, expectRefusal } from '../support/answers.js'
import { countRows, keptBytes } from '../support/database.js'
import { altered, base64, face, landscape, photoOf, photosOf } from '../support/faces.js'
import { pngHeader, UNUSABLE, unreadableFiles } from '../support/images.js'
import { serviceOfFile } from '../support/service.js'

const action = 'sign in'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')

describe('a first enrolment', () => {
  it('answers a first enrollment with 201, the reference and its quality', async () => {
    const response = await production.enroll({ user_id: 'ada', image: ada })
    expect(response.status).toBe(201)
    expect(response.body).toEqual({
      reference_id: expect.stringMatching(/^ref_[0-9a-f]{32}$/),
      user_id: 'ada',
      status: 'enrolled',
      quality: { score: expect.any(Number), passed: true, issues: [], views: 1 },
      liveness: { checked: false, score: null, passed: null, methods: [], guidance: [], findings: [] },
      capture_integrity: null,
      model: expect.stringMatching(/^.+@.+$/),
      created_at: new Date(running.clock.now()).toISOString(),
      passkey: null,
    })
    expect(response.body.quality.score).toBeGreaterThan(0)
    expect(response.body.quality.score).toBeLessThanOrEqual(1)
  })

  it.each([
    ['a zero-width space', 'ada\u200b'],
    ['a right-to-left override', 'ada\u202egpj'],
    ['a joiner', 'a\u200dda'],
    ['a private-use character', 'ada\ue000'],
  ])('refuses an enrollment and its challenge under a user id with %s', async (_, user_id) => {
    const issue = 'must not hold control, format, invisible, private-use or unassigned characters'
    const details = [{ path: 'user_id', issue }]
    for (const call of [
      production.enroll({ user_id, image: ada }),
      production.enroll({ user_id, image: ada, dry_run: true }),
      production.call('POST', '/v1/challenges', { user_id, purpose: 'enroll' }),
    ])
      expect(await call).toMatchObject({ status: 400, body: { code: 'invalid_request', details } })
  })

  it('verifies and erases users of an earlier version whose id has such characters', async () => {
    const user_id = 'early\u200b'
    const { vault, store } = running.service.core
    await production.enroll({ user_id: 'early', image: ada })
    const [known, odd] = ['early', user_id].map((id) => vault.blindIndex(tenant.id, 'production', id))
    const enrolled = (await vault.find(store.read, known!, 'early'))!
    const { reference } = enrolled
    const early = vault.create(tenant.id, 'production', odd!, user_id)
    await store.transaction('installation', async (tx) => {
      await tx.insertSubject(early.record)
      const content = vault.openReference(enrolled, reference!)
      await vault.putReference(tx, early, reference!.model, content)
    })
    const verified = await production.verify({ user_id, image: adaToday, action })
    expect(verified.body).toMatchObject({ user_id, verdict: 'approved' })
    expect((await production.erase(user_id)).status).toBe(200)
  })

  it('reports the times of the stages of an enrollment', async () => {
    const response = await production.enroll({ user_id: 'timed', image: ada })
    const timing = response.headers.get('server-timing') ?? ''
    for (const stage of ['auth', 'queue', 'decode', 'detect', 'align', 'embed', 'store', 'sign'])
      expect(timing).toMatch(new RegExp(`(^|, )${stage};dur=\\d+(\\.\\d+)?(,|$)`))
  })

  it('enrolls from WebP and PNG', async () => {
    const image = await face('ada')
    for (const format of ['webp', 'png'] as const) {
      const coded = base64(await sharp(image).toFormat(format).toBuffer())
      expect((await production.enroll({ user_id: format, image: coded })).status).toBe(201)
    }
  })

  it('turns a photo upright by its EXIF orientation', async () => {
    const sideways = await altered('ada', (photo) => photo.rotate(90).withMetadata({ orientation: 8 }))
    expect((await production.enroll({ user_id: 'sideways', image: base64(sideways) })).status).toBe(201)
  })

  it('stores no image and no embedding in the clear', async () => {
    const digits = (await face('mary')).subarray(500, 532)
    await production.enroll({ user_id: 'mary-private', image: await photoOf('mary') })
    for (const [name, bytes] of await keptBytes(running)) {
      expect(bytes.includes(digits), name).toBe(false)
      expect(bytes.includes('mary-private'), name).toBe(false)
    }
  })

  it('writes one audit entry for an enrollment, which names the user only by a pseudonym', async () => {
    const before = await countRows(running, 'audit')
    const response = await production.enroll({ user_id: 'audited-user', image: ada })
    const entries = await running.service.core.store.read.auditEntries(tenant.id, before, 10)
    expect(entries).toHaveLength(1)
    const entry = JSON.parse(entries[0]!.entry)
    expect(entry).toMatchObject({
      event: 'enroll',
      status: 201,
      request_id: response.headers.get('x-request-id'),
      reference_id: response.body.reference_id,
      subject: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(entries[0]!.entry).not.toContain('audited-user')
  })
})

describe('several images', () => {
  it('combines several images into one reference that matches each of them', async () => {
    expect((await production.enroll({ user_id: 'fused', images: [ada, adaToday] })).status).toBe(201)
    expect((await production.enroll({ user_id: 'alone', image: ada })).status).toBe(201)
    const score = async (user_id: string, image: string) =>
      (await production.verify({ user_id, image, action })).body.score as number
    expect(await score('fused', adaToday)).toBeGreaterThan(await score('alone', adaToday))
    expect(await score('fused', ada)).toBeLessThan(await score('alone', ada))
  })

  it('enrolls from five images', async () => {
    const response = await production.enroll({ user_id: 'five', images: [ada, adaToday, ada, adaToday, ada] })
    expect(response.status).toBe(201)
  })

  it('refuses six images, and none', async () => {
    for (const images of [Array(6).fill(ada), []])
      await expectInvalid(production.enroll({ user_id: 'too-many', images }), 'images')
  })

  it('refuses all images when one is unusable, and names it in the details', async () => {
    const response = production.enroll({ user_id: 'half', images: [ada, base64(await landscape())] })
    await expectRefusal(response, 422, 'face_not_found', { details: [{ path: 'images.1' }] })
    const verified = await production.verify({ user_id: 'half', image: ada, action })
    expect(verified.body.code).toBe('reference_not_found')
  })

  it('refuses `images` together with `image`', async () => {
    const details = [{ path: 'image', issue: 'give one of `image`, `images` and `challenge`' }]
    for (const images of [{ image: ada, images: [ada] }, {}])
      await expectRefusal(production.enroll({ user_id: 'both', ...images }), 400, 'invalid_request', {
        details,
      })
  })
})

describe('a user who is enrolled already', () => {
  beforeAll(() => production.enroll({ user_id: 'taken', image: ada }))

  it('refuses a user who is already enrolled with 409', async () => {
    const response = production.enroll({ user_id: 'taken', image: grace })
    await expectRefusal(response, 409, 'already_enrolled', { error: 'conflict' })
    const explicit = await production.enroll({ user_id: 'taken', image: grace, replace: false })
    expect(explicit.body.code).toBe('already_enrolled')
    const verified = await production.verify({ user_id: 'taken', image: adaToday, action })
    expect(verified.body.verdict).toBe('approved')
  })

  it('replaces a reference on demand: the old face no longer matches, the new one does', async () => {
    expect((await production.enroll({ user_id: 'taken', image: grace, replace: true })).status).toBe(201)
    const old = await production.verify({ user_id: 'taken', image: adaToday, action })
    expect(old.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    const verified = await production.verify({ user_id: 'taken', image: grace, action })
    expect(verified.body.verdict).toBe('approved')
  })

  it('keeps the reference when the replacement is unusable', async () => {
    await production.enroll({ user_id: 'kept', image: ada })
    const image = base64(await landscape())
    await expectRefusal(production.enroll({ user_id: 'kept', image, replace: true }), 422, 'face_not_found')
    const verified = await production.verify({ user_id: 'kept', image: adaToday, action })
    expect(verified.body.verdict).toBe('approved')
  })

  it('enrolls a user once in a storm of parallel requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => production.enroll({ user_id: 'storm', image: ada })),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409])
  })

  it('takes `replace` for a user who is not enrolled yet', async () => {
    expect((await production.enroll({ user_id: 'fresh', image: ada, replace: true })).status).toBe(201)
  })
})

describe('consent', () => {
  it('records consent with the reference, and in the audit log only that it was given', async () => {
    const consent = { id: 'consent-42', agreed_at: '2026-01-31T12:00:00Z' }
    expect((await production.enroll({ user_id: 'consenting', image: ada, consent })).status).toBe(201)
    const { body } = await production.call('GET', '/v1/users/consenting')
    expect(body.reference.consent).toEqual(consent)
    const head = await running.service.core.store.read.auditHead(tenant.id)
    expect(JSON.parse(head!.entry)).toMatchObject({ consent_recorded: true })
    expect(head!.entry).not.toContain('consent-42')
  })

  const agreed_at = '2026-01-31T12:00:00Z'
  it.each<[how: string, consent: unknown, path: string]>([
    ['without a time', { id: 'c' }, 'consent.agreed_at'],
    ['without an id', { agreed_at }, 'consent.id'],
    ['with an empty id', { id: '', agreed_at }, 'consent.id'],
    ['with a time that is none', { id: 'c', agreed_at: 'yesterday' }, 'consent.agreed_at'],
    ['with a field too many', { id: 'c', agreed_at, by: 'me' }, 'consent.by'],
    ['as a string', 'yes', 'consent'],
  ])('refuses consent %s', async (_, consent, path) => {
    await expectInvalid(production.enroll({ user_id: 'refused', image: ada, consent }), path)
  })
})

describe('an unusable image', () => {
  const refusal = async (image: Uint8Array) =>
    production.enroll({ user_id: 'unusable', image: base64(image) })

  it('refuses an image that is not a complete JPEG, PNG or WebP as unreadable', async () => {
    for (const [what, file] of Object.entries(await unreadableFiles())) {
      const { status, body } = await refusal(file)
      expect([status, body.error, body.code], what).toEqual([422, 'biometric_rejected', 'image_unreadable'])
    }
  })

  it('refuses an image whose header announces over 25 megapixels, however few bytes it has', async () => {
    await expectRefusal(refusal(pngHeader(25_000_001, 1)), 422, 'image_too_large')
  })

  it.each(UNUSABLE)('refuses an unusable image as %s', async (code, make) => {
    await expectRefusal(refusal(await make()), 422, code, { error: 'biometric_rejected' })
  })

  it('names a refused image `image` in the details when it was sent as `image`', async () => {
    const response = await refusal(await landscape())
    expect(response.body.details).toMatchObject([{ path: 'image', issue: expect.any(String) }])
  })

  it('enrolls nobody from an unusable image', async () => {
    await refusal(await landscape())
    expect((await production.verify({ user_id: 'unusable', image: ada, action })).status).toBe(404)
  })
})

describe('user_id', () => {
  const attempt = (user_id: unknown) =>
    production.enroll({ user_id, image: base64(Buffer.from('not an image')) })

  for (const [what, id] of Object.entries({
    'one character': 'a',
    '128 characters': 'x'.repeat(128),
    '128 characters outside the basic plane': '😀'.repeat(128),
    'spaces, slashes and quotes': ' a/b?c=d&"\'<e> ',
  }))
    it(`takes as user_id: ${what}`, async () => {
      // The user id passes validation, so that the image is refused.
      expect((await attempt(id)).body.code).toBe('image_unreadable')
    })

  for (const [what, id] of Object.entries({
    empty: '',
    '129 characters': 'x'.repeat(129),
    'one letter with a thousand accents': `a${'\u0301'.repeat(1000)}`,
    'with a line break': 'a\nb',
    'with a NUL': 'a\0b',
    'with a C1 control character': 'a\u0085b',
    'a number': 17,
    null: null,
    'an object': {},
  }))
    it(`refuses as user_id: ${what}`, async () => {
      await expectInvalid(attempt(id), 'user_id')
    })

  it('refuses a user_id with a lone surrogate', async () => {
    const raw = `{"user_id":"a\\ud800","image":${JSON.stringify(ada)}}`
    await expectInvalid(production.call('POST', '/v1/enroll', undefined, { raw }), 'user_id')
  })
})
