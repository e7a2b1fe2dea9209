/**
 * A candidate sees verifies of production after their answers, and what it would have changed is counted: without any effect on a
 * verdict, and without users.
 */

import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMAND_LINE } from '../../../../src/audit/audited-unit-of-work.js'
import { shadowReader } from '../../../../src/features/insight/shadow/shadow-table.js'
import { type ShadowView, shadowViews } from '../../../../src/features/insight/shadow/shadow-view.js'
import { agedReferenceReader } from '../../../../src/features/learning-references/aged-references.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { type ApiClient, apiClient } from '../../../support/client.js'
import { altered, base64, face, photosOf, unseenFace } from '../../../support/faces.js'
import { scrape } from '../../../support/metrics.js'
import { operationsOf } from '../../../support/operations.js'
import { writeShiftedPack } from '../../../support/packs.js'
import { startService, type TestService, type TestTenant } from '../../../support/service.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const action = 'pay'
const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')
/** Too small for the bounds of the service. */
const small = base64(await altered('ada', (photo) => photo.resize(110)))
const photo = { ada, adaToday, grace, small }
const folder = temporaryFolder()
let running: TestService
let tenant: TestTenant
let api: ApiClient
let key: string

beforeAll(() => writeShiftedPack(folder, inject('modelsDir')))
afterEach(() => running?.stop())

async function start(env: Record<string, string>, contract = { ratePerSecond: 1000, fmr: 1e-3 }) {
  running = await startService({ COUNTERSIGN_SHADOW_SHARE: '1', COUNTERSIGN_DEADLINE_MS: '60000', ...env })
  tenant = await running.tenant(contract)
  const production = await running.production(tenant)
  key = production.key
  api = production
}
const enroll = async (user_id: string) =>
  expect((await api.enroll({ user_id, image: photo.ada })).status).toBe(201)
const verify = (user_id: string, name: keyof typeof photo) =>
  api.verify({ user_id, image: photo[name], action })

/** Number of verifies that the candidate saw or did not get to see, by the metrics. */
async function seen(): Promise<number> {
  const text = await scrape(running)
  const counts = [...text.matchAll(/^countersign_shadow_(?:verdicts|uncompared)_total\{.*\} (\d+)/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

/** The counts of the tenant once that many verifies are counted, as the database has them. */
async function counted(verifies: number): Promise<ShadowView[]> {
  await expect.poll(seen, { timeout: 20_000 }).toBe(verifies)
  await running.restart()
  api = apiClient(running.service.url('production'), key)
  return shadowViews(running.service.core.store.read, tenant.id, 0)
}

describe('candidate bounds', () => {
  it('are counted with the code that they would give, and change no verdict', async () => {
    await start({})
    await enroll('ada')
    const plain = await verify('ada', 'adaToday')
    await running.stop()
    await start({ COUNTERSIGN_SHADOW_MIN_FACE_PX: '1000' })
    await enroll('ada')
    const shadowed = await verify('ada', 'adaToday')
    const stranger = await verify('ada', 'grace')
    const told = ({ body }: typeof plain) => [body.verdict, body.reason, body.score, body.threshold]
    expect(told(shadowed)).toEqual(told(plain))
    expect([shadowed.body.verdict, stranger.body.verdict]).toEqual(['approved', 'rejected'])
    const [day, ...others] = await counted(2)
    expect(others).toEqual([])
    expect(day).toMatchObject({
      day: new Date(running.clock.now()).toISOString().slice(0, 10),
      model: 'baseline@1.0.0',
      candidate: 'face >= 1000 px',
      compared: 2,
      would_approve: {},
      would_reject: { face_too_small: 1 },
      other_reason: { 'no_match -> face_too_small': 1 },
      dropped: 0,
      candidate_scores: {},
    })
    expect(Object.values(day!.scores)).toEqual([1, 1])
  })

  it('milder ones are counted as approvals of refused photos', async () => {
    await start({ COUNTERSIGN_SHADOW_MIN_FACE_PX: '20' })
    await enroll('ada')
    expect((await verify('ada', 'small')).body.code).toBe('face_too_small')
    const [day] = await counted(1)
    expect(day).toMatchObject({ compared: 1, would_approve: { face_too_small: 1 }, would_reject: {} })
    expect(Object.values(day!.candidate_scores)).toEqual([1])
  })

  it('those of quality are counted as refusals for it', async () => {
    await start({ COUNTERSIGN_SHADOW_QUALITY: 'sharpness>=100000' })
    await enroll('ada')
    await verify('ada', 'adaToday')
    expect((await counted(1))[0]).toMatchObject({ would_reject: { low_quality: 1 } })
  })
})

it('a candidate of the same pack compares with what a reference has become by captures', async () => {
  await start({ COUNTERSIGN_SHADOW_MIN_FACE_PX: '20', COUNTERSIGN_REFERENCE_AGEING_DAYS: '30' })
  await enroll('ada')
  const sides = [396, 392, 388, 384]
  for (const [before, side] of sides.entries()) {
    running.clock.advance(30 * DAY_MS)
    const image = base64(await face('ada', side))
    expect((await api.verify({ user_id: 'ada', image, action })).body.verdict).toBe('approved')
    await expect.poll(seen, { timeout: 20_000 }).toBe(before + 1)
  }
  expect(await running.service.core.store.read.statements(agedReferenceReader).count(tenant.id)).toBe(1)
  const days = await counted(sides.length)
  expect(days.map(({ compared }) => compared)).toEqual([1, 1, 1, 1])
  expect(days.map((day) => day.candidate_scores)).toEqual(days.map((day) => day.scores))
})

it('a candidate rate is counted for every verify, without a second look', async () => {
  await start({ COUNTERSIGN_SHADOW_FMR: '1e-4', COUNTERSIGN_SHADOW_SHARE: '1e-9' })
  await enroll('ada')
  await verify('ada', 'adaToday')
  await verify('ada', 'grace')
  expect((await verify('ada', 'small')).status).toBe(422)
  const [day] = await counted(2)
  expect(day).toMatchObject({ candidate: 'FMR 0.0001', compared: 2, would_approve: {} })
  expect(day!.scores).toEqual(day!.candidate_scores)
})

describe('a candidate pack', () => {
  const startWithPack = () =>
    start({
      ...{ COUNTERSIGN_FOLLOWING_PACKS: folder, COUNTERSIGN_SHADOW_PACK: folder },
      COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    })
  const begin = () =>
    operationsOf(running.service).models.begin(COMMAND_LINE, {
      ...{ from: 'baseline@1.0.0', to: 'shifted@1.0.0', strictFmr: null, atCoverage: null, atTime: null },
    })

  it('compares the users who have a template of it, and counts the others', async () => {
    await startWithPack()
    await enroll('before')
    await begin()
    await enroll('ada')
    await verify('ada', 'adaToday')
    await verify('ada', 'grace')
    await verify('before', 'grace')
    const [day] = await counted(3)
    expect(day).toMatchObject({ candidate: 'shifted@1.0.0', compared: 2, no_template: 1, would_approve: {} })
    const scores = Object.keys(day!.candidate_scores).map(Number)
    expect(Math.max(...scores)).toBeGreaterThan(Math.min(...scores))
    expect(day!.candidate_scores).not.toEqual(day!.scores)
  })

  it('never compares a capture with the template that was made of this very capture', async () => {
    await startWithPack()
    await enroll('ada')
    await begin()
    expect((await verify('ada', 'adaToday')).body.verdict).toBe('approved')
    const { vault, store } = running.service.core
    const found = await vault.find(store.read, vault.blindIndex(tenant.id, 'production', 'ada'), 'ada')
    expect(found!.following.map(({ model }) => model)).toEqual(['shifted@1.0.0'])
    expect((await counted(1))[0]).toMatchObject({ compared: 0, no_template: 1 })
  })
})

it('verifies without idle workers are dropped and counted, and answered as ever', async () => {
  await start({ COUNTERSIGN_SHADOW_MIN_FACE_PX: '1000', COUNTERSIGN_QUEUE_LIMIT: '100' })
  await enroll('ada')
  const images = await Promise.all(Array.from({ length: 40 }, () => unseenFace('adaToday')))
  const answers = await Promise.all(
    images.map((image) => api.verify({ user_id: 'ada', image: base64(image), action })),
  )
  expect(answers.map(({ body }) => body.verdict)).toEqual(answers.map(() => 'approved'))
  const [day] = await counted(40)
  expect(day!.dropped).toBeGreaterThan(10)
  expect(day!.compared + day!.dropped).toBe(40)
  expect(day!.would_reject).toEqual(day!.compared === 0 ? {} : { face_too_small: day!.compared })
})

it('names no user in rows, metrics and log, and sees no sandbox, lockout or repeated answer', async () => {
  await start({ COUNTERSIGN_SHADOW_MIN_FACE_PX: '1000', COUNTERSIGN_LOCKOUT_ATTEMPTS: '1' })
  await enroll('ada-lovelace')
  const headers = { 'X-Svc-Idempotency-Key': 'a-key-of-the-test' }
  const call = { user_id: 'ada-lovelace', image: photo.grace, action }
  for (const _ of [1, 2]) expect((await api.verify(call, { headers })).body.reason).toBe('no_match')
  expect((await api.verify(call)).body.reason).toBe('locked_out')
  await tenant.sandbox.verify({ user_id: 'u+match', image: photo.ada, action })
  expect((await api.verify({ user_id: 'nobody', image: photo.ada, action })).status).toBe(404)
  const metrics = await scrape(running)
  const views = await counted(1)
  expect(views.map(({ compared }) => compared)).toEqual([1])
  const { store, vault } = running.service.core
  const blindIndex = vault.blindIndex(tenant.id, 'production', 'ada-lovelace')
  const { pseudonym } = (await vault.find(store.read, blindIndex, 'ada-lovelace'))!
  const rows = JSON.stringify(await store.read.statements(shadowReader).since(tenant.id, 0))
  for (const name of ['lovelace', pseudonym])
    for (const text of [rows, metrics, running.logText()]) expect(text).not.toContain(name)
})

it('days are kept apart, and added to', async () => {
  await start({ COUNTERSIGN_SHADOW_FMR: '1e-4' })
  await enroll('ada')
  await verify('ada', 'adaToday')
  expect((await counted(1)).map(({ compared }) => compared)).toEqual([1])
  await verify('ada', 'adaToday')
  expect((await counted(1)).map(({ compared }) => compared)).toEqual([2])
  running.clock.advance(DAY_MS)
  await verify('ada', 'adaToday')
  expect((await counted(1)).map(({ compared }) => compared)).toEqual([2, 1])
})
