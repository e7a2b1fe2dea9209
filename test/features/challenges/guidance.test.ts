import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'
import { FRAME_GUIDANCE } from '../../../clients/capture/guidance-codes.js'
import { STEPS, type Step } from '../../../src/features/challenges/film/steps.js'
import { Random } from '../../hostile/random.js'
import { headFilm } from '../../liveness/films.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { portraitOf } from '../../liveness/portrait.js'
import { expectInvalid, expectRefusal } from '../../support/answers.js'
import type { ApiClient } from '../../support/client.js'
import { withDatabase } from '../../support/database.js'
import { base64, face, groupPhoto, landscape } from '../../support/faces.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const grace = await framed(await face('grace'), 240)

const ask = (image: Buffer, fields: Record<string, unknown> = {}, client: ApiClient = production) =>
  client.call('POST', '/v1/guidance', { image: base64(image), ...fields })
const guidance = async (image: Buffer, fields: Record<string, unknown> = {}) => {
  const { status, body } = await ask(image, fields)
  expect(status).toBe(200)
  return body.guidance
}

/** Frame of a camera with a square photo in its middle. @param height of the photo, in pixels */
async function framed(photo: Buffer, height: number, left = Math.round((320 - height) / 2)): Promise<Buffer> {
  const picture = await sharp(photo).resize(height).toBuffer()
  return sharp({ create: { width: 320, height: 240, channels: 3, background: '#9a9a98' } })
    .composite([{ input: picture, left, top: Math.round((240 - height) / 2) }])
    .jpeg()
    .toBuffer()
}

describe('a person who looks ahead', () => {
  it('gives no guidance to a person who looks ahead well', async () => {
    expect(await ask(grace)).toMatchObject({ status: 200, body: { step: 'frontal', guidance: [] } })
  })

  const FRAMES: Array<[string, () => Promise<Buffer>]> = [
    ['no_face', landscape],
    ['several_faces', () => sharp(groupPhoto()).resize(600).jpeg().toBuffer()],
    ['too_far', async () => framed(await face('mary'), 70)],
    [
      'too_close',
      async () =>
        sharp(await face('grace', 260))
          .resize(320)
          .jpeg()
          .toBuffer(),
    ],
    ['cut_off', () => sharp(grace).extract({ left: 0, top: 0, width: 320, height: 140 }).jpeg().toBuffer()],
    [
      'too_dark',
      async () =>
        sharp(await framed(await face('mary'), 240))
          .linear(0.5)
          .jpeg()
          .toBuffer(),
    ],
    ['too_bright', () => sharp(grace).linear(1, 90).jpeg().toBuffer()],
    [
      'blurred',
      async () =>
        sharp(await framed(await face('mary'), 240))
          .blur(4)
          .jpeg()
          .toBuffer(),
    ],
    ['not_frontal', async () => framed(await face('mary'), 240)],
  ]
  it.each(FRAMES)('gives the guidance %s first', async (code, frame) => {
    expect((await guidance(await frame()))[0]).toBe(code)
  })

  it('gives guidance on everything that is wrong, the place before the light', async () => {
    const wrong = await sharp(await framed(await face('mary'), 80))
      .linear(0.5)
      .jpeg()
      .toBuffer()
    expect(await guidance(wrong)).toEqual(['too_far', 'too_dark', 'not_frontal'])
  })

  it('gives guidance on light that hides the face', async () => {
    expect(await guidance(await sharp(grace).linear(0.1).jpeg().toBuffer())).toEqual(['too_dark', 'no_face'])
    expect(await guidance(await sharp(grace).linear(1, 190).jpeg().toBuffer())).toEqual([
      'too_bright',
      'no_face',
    ])
  })
})

describe('a person who moves', () => {
  let ahead: Buffer
  /** The frame that goes furthest in each movement. */
  const moved: Partial<Record<Step, Buffer>> = {}

  beforeAll(async () => {
    const pipeline = await loadPipeline()
    const portrait = await portraitOf(pipeline, 'ada', await face('adaElsewhere'))
    for (const step of STEPS.slice(1)) {
      const film = await headFilm({ portrait }, ['frontal', step, 'frontal'], new Random(4))
      const during = film.notes.flatMap((note, index) => (note.step === 1 ? [index] : []))
      ahead = await small(film.frames[0]!)
      moved[step] = await small(film.frames[during[Math.floor(during.length / 2)]!]!)
    }
    await pipeline.release()
  })
  const small = (frame: Buffer) => sharp(frame).resize(480, 480, { fit: 'inside' }).jpeg().toBuffer()
  const guidanceFor = (shown: Step, asked: Step) =>
    guidance(shown === 'frontal' ? ahead : moved[shown]!, { step: asked, frontal: base64(ahead) })

  it.each(STEPS.slice(1))('gives no guidance to a person who moved far enough for %s', async (step) => {
    expect(await guidanceFor(step, step)).toEqual([])
  })

  it('asks a person who moved too little to go on', async () => {
    expect(await guidanceFor('frontal', 'turn_left')).toEqual(['turn_more'])
    expect(await guidanceFor('frontal', 'nod_up')).toEqual(['nod_more'])
  })

  it('reports a movement in the wrong direction', async () => {
    expect(await guidanceFor('turn_left', 'turn_right')).toEqual(['wrong_direction'])
    expect(await guidanceFor('nod_up', 'nod_down')).toEqual(['wrong_direction'])
  })

  it('asks a person who turned too early to look ahead', async () => {
    expect(await guidanceFor('turn_left', 'frontal')).toEqual(['not_frontal'])
  })

  it('gives guidance on a turn, and none on a nod, without a look ahead to compare with', async () => {
    expect(await guidance(moved.turn_left!, { step: 'turn_left' })).toEqual([])
    expect(await guidance(ahead, { step: 'turn_left' })).toEqual(['turn_more'])
    expect(await guidance(ahead, { step: 'nod_up' })).toEqual([])
    const nobody = base64(await landscape())
    expect(await guidance(ahead, { step: 'nod_up', frontal: nobody })).toEqual([])
  })
})

describe('guidance', () => {
  it('keeps nothing of a guidance request, with any headers and fields', async () => {
    const rows = () =>
      withDatabase(running, (database) => {
        const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
        // The number of requests is counted; nothing of their content is kept.
        return tables
          .filter((name) => name !== 'traffic')
          .map((name) => [name, database.prepare(`SELECT count(*) FROM "${name}"`).pluck().get()])
      })
    const before = rows()
    const headers = { 'X-Svc-Idempotency-Key': 'guidance' }
    for (const image of [grace, await landscape()]) {
      const json = { image: base64(image), user_id: 'nobody' }
      const { status, headers: answered } = await production.call('POST', '/v1/guidance', json, { headers })
      expect([status, answered.get('x-svc-idempotent-replay')]).toEqual([200, null])
    }
    expect(rows()).toEqual(before)
  })

  it('answers guidance with codes only, without a score', async () => {
    const { body } = await ask(grace, { step: 'turn_left' })
    expect(Object.keys(body).sort()).toEqual(['guidance', 'step'])
    for (const code of body.guidance) expect(FRAME_GUIDANCE).toContain(code)
  })

  it.each([
    [{ image: undefined }, 'image'],
    [{ step: 'smile' }, 'step'],
    [{ frontal: 'data:image/png;base64,AAAA' }, 'frontal'],
    [{ images: [] }, 'images'],
  ])('refuses guidance for %j', async (fields, path) => {
    await expectInvalid(ask(grace, fields), path)
  })

  it.each(['image', 'frontal'])(
    'refuses guidance for a large or broken %s, in both environments',
    async (field) => {
      const large = await sharp(grace).resize(801, 601).jpeg().toBuffer()
      for (const [broken, code] of [
        [large, 'image_too_large'],
        [Buffer.from('nothing'), 'image_unreadable'],
      ] as const)
        for (const client of [production, tenant.sandbox]) {
          const asked = ask(grace, { step: 'turn_left', [field]: base64(broken) }, client)
          await expectRefusal(asked, 422, code, { details: [{ path: field }] })
        }
    },
  )

  it('counts guidance towards a rate limit of its own, so that no verify is refused for it', async () => {
    const limited = await running.production(await running.tenant({ ratePerSecond: 1 }))
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await ask(grace, {}, limited)).status)
    expect(statuses).toEqual([200, 200, 429])
    expect((await limited.health()).status).toBe(200)
  })

  it('counts guidance apart from verdicts', async () => {
    await ask(grace)
    const text = await (await fetch(`${running.service.adminUrl}/metrics`)).text()
    expect(text).toMatch(/countersign_requests_total\{environment="production",endpoint="guide",status="200"/)
  })
})

describe('in the sandbox', () => {
  const guidanceFor = async (user_id: string | undefined, step: Step) =>
    (await ask(await landscape(), { step, ...(user_id ? { user_id } : {}) }, tenant.sandbox)).body.guidance

  it('gives no guidance in the sandbox for any frame', async () => {
    expect(await guidanceFor(undefined, 'frontal')).toEqual([])
    expect(await guidanceFor('grace+match', 'turn_left')).toEqual([])
  })

  it.each(FRAME_GUIDANCE)(
    'gives the guidance in the sandbox that the end of the user id chooses: %s',
    async (code) => {
      const ends = { no_face: '+no_face', several_faces: '+multiple_faces' } as Record<string, string>
      const steps: Step[] = ['frontal', 'turn_left', 'nod_up']
      const answers = await Promise.all(
        steps.map((step) => guidanceFor(`grace${ends[code] ?? `+${code}`}`, step)),
      )
      const said = steps.filter((_, index) => answers[index].length > 0)
      for (const answer of answers) expect([[], [code]]).toContainEqual(answer)
      const when: Record<string, Step[]> = {
        blurred: ['frontal'],
        not_frontal: ['frontal'],
        wrong_direction: ['turn_left', 'nod_up'],
        turn_more: ['turn_left'],
        nod_more: ['nod_up'],
      }
      expect(said).toEqual(when[code] ?? steps)
    },
  )

  it('refuses guidance in the sandbox where the user id asks for that', async () => {
    for (const [end, status] of [
      ['rate_limited', 429],
      ['unavailable', 503],
    ] as const)
      expect((await ask(grace, { user_id: `grace+${end}` }, tenant.sandbox)).status).toBe(status)
  })
})
