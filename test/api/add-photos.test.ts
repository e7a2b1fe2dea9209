/** Tests of photos that are added to an enrolled user, and of photos that are only assessed. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/answers.js'
import { countRows } from '../support/database.js'
import { base64, landscape, photosOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')

const score = async (user_id: string, image: string) =>
  (await production.verify({ user_id, image, action: 'x' })).body.score as number

const lastEntry = async () => (await tenant.audit()).at(-1)

describe('a photo that is added', () => {
  it('adds a photo to a reference as if it had been there from the start', async () => {
    await production.enroll({ user_id: 'at-once', images: [ada, adaToday] })
    const first = await production.enroll({ user_id: 'later', image: ada })
    const before = await score('later', adaToday)
    const { status, body } = await production.enroll({ user_id: 'later', image: adaToday, add: true })
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'enrolled', user_id: 'later', quality: { views: 2 } })
    expect(body.reference_id).not.toBe(first.body.reference_id)
    expect(await score('later', adaToday)).toBeGreaterThan(before)
    expect(await score('later', adaToday)).toBeCloseTo(await score('at-once', adaToday), 4)
  })

  it('audits an added photo', async () => {
    await production.enroll({ user_id: 'audited', image: ada })
    const { body } = await production.enroll({ user_id: 'audited', image: adaToday, add: true })
    const { reference_id } = body
    expect(await lastEntry()).toMatchObject({
      event: 'enroll',
      status: 201,
      reference_id,
      added: 1,
      views: 2,
    })
  })

  it('keeps the earlier consent of a reference, unless the added photo brings its own', async () => {
    const consent = { id: 'c-1', agreed_at: '2026-01-31T12:00:00Z' }
    await production.enroll({ user_id: 'consenting', image: ada, consent })
    await production.enroll({ user_id: 'consenting', image: adaToday, add: true })
    const { body } = await production.call('GET', '/v1/users/consenting')
    expect(body.reference).toMatchObject({ consent, views: 2 })
  })

  it('refuses, counts and audits an added photo of somebody else, and changes nothing', async () => {
    await production.enroll({ user_id: 'guarded', image: ada })
    const before = await score('guarded', ada)
    const refused = production.enroll({ user_id: 'guarded', image: grace, add: true })
    await expectRefusal(refused, 422, 'different_people', { details: [{ path: 'image' }] })
    const entry = { event: 'enroll', status: 422, code: 'different_people', added: 0 }
    expect(await lastEntry()).toMatchObject(entry)
    expect(await score('guarded', ada)).toBe(before)
  })

  it('refuses added photos while the user is locked out', async () => {
    await production.enroll({ user_id: 'locked', image: ada })
    const guess = () => production.enroll({ user_id: 'locked', image: grace, add: true })
    expect((await guess()).body.code).toBe('different_people')
    expect((await guess()).body.code).toBe('different_people')
    const refused = await production.enroll({ user_id: 'locked', image: adaToday, add: true })
    expect([refused.status, refused.body.code]).toEqual([409, 'locked_out'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const verified = await production.verify({ user_id: 'locked', image: adaToday, action: 'x' })
    expect(verified.body.reason).toBe('locked_out')
  })

  it('refuses an added photo for a user who is not enrolled', async () => {
    const adding = production.enroll({ user_id: 'nobody', image: ada, add: true })
    await expectRefusal(adding, 404, 'reference_not_found')
  })

  it('refuses add together with replace', async () => {
    const { status, body } = await production.enroll({ user_id: 'x', image: ada, add: true, replace: true })
    expect([status, body.details[0].path]).toEqual([400, 'add'])
  })

  it('keeps both of two photos that are added at once', async () => {
    await production.enroll({ user_id: 'busy', image: ada })
    await Promise.all([
      production.enroll({ user_id: 'busy', image: adaToday, add: true }),
      production.enroll({ user_id: 'busy', image: ada, add: true }),
    ])
    const third = await production.enroll({ user_id: 'busy', image: adaToday, add: true })
    expect(third.body.quality.views).toBe(4)
  })

  it('counts added photos in the sandbox as well', async () => {
    const { sandbox } = tenant
    await sandbox.enroll({ user_id: 'plays', images: [ada, ada] })
    const { body } = await sandbox.enroll({ user_id: 'plays', image: ada, add: true })
    expect(body.quality.views).toBe(3)
    const differs = await sandbox.enroll({ user_id: 'plays+different_people', images: [ada, ada] })
    expect(differs.body).toMatchObject({ code: 'different_people', details: [{ path: 'images.1' }] })
  })
})

describe('a dry run', () => {
  it('answers a dry run as an enrollment, and stores nothing', async () => {
    const rows = () => Promise.all([countRows(running, 'subject'), countRows(running, 'reference')])
    const before = await rows()
    const request = { user_id: 'dry', images: [ada, adaToday], dry_run: true }
    const { status, body } = await production.enroll(request)
    expect(status).toBe(200)
    expect(body).toEqual({
      user_id: 'dry',
      status: 'assessed',
      quality: expect.objectContaining({ views: 2, score: expect.any(Number) }),
      liveness: { checked: false, score: null, passed: null, methods: [], guidance: [], findings: [] },
      capture_integrity: null,
      model: expect.any(String),
    })
    expect(await rows()).toEqual(before)
    expect(await lastEntry()).toMatchObject({ event: 'enroll', status: 200, dry_run: true })
  })

  it('refuses in a dry run what an enrollment refuses', async () => {
    const run = (...images: string[]) => production.enroll({ user_id: 'dry', images, dry_run: true })
    expect((await run(base64(await landscape()))).body.code).toBe('face_not_found')
    expect((await run(ada, grace)).body.code).toBe('different_people')
  })

  it('does not show in a dry run who is enrolled, nor whether a photo is theirs', async () => {
    await production.enroll({ user_id: 'known', image: ada })
    for (const add of [false, true])
      for (const user_id of ['known', 'unknown'])
        expect((await production.enroll({ user_id, image: grace, add, dry_run: true })).status).toBe(200)
  })
})
