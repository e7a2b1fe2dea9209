/** Tests of refusals for quality, and of their advice to the person, on real faces that were spoiled in one way each. */
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QualityFinding } from '../../src/client/types.js'
import type { ApiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { blurredFace } from '../support/images.js'
import { startService, type TestService } from '../support/service.js'

let running: TestService
let production: ApiClient
let sandbox: ApiClient
let good: Buffer
const SIZE = 440
const action = 'sign in'

beforeAll(async () => {
  running = await startService({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
  const tenant = await running.tenant()
  production = await running.production(tenant)
  sandbox = tenant.sandbox
  good = await face('joan')
})
afterAll(() => running?.stop())

/** Photo with a dark shade over its right side. */
function sideLight(image: Buffer): Promise<Buffer> {
  const shade = Buffer.alloc(SIZE * SIZE * 4)
  for (let i = 0; i < SIZE * SIZE; i++) {
    const across = (i % SIZE) / SIZE
    shade[4 * i + 3] = 180 * Math.min(1, Math.max(0, (across - 0.47) / 0.06))
  }
  const raw = { width: SIZE, height: SIZE, channels: 4 } as const
  return sharp(image)
    .composite([{ input: shade, raw }])
    .jpeg()
    .toBuffer()
}

/** Each row: damage to the photo, component that shows it, guidance, a word of the hint, and the function that spoils the photo. */
const SPOILED: Array<[string, string, string, string, (image: Buffer) => Promise<Buffer>]> = [
  ['blurred', 'sharpness', 'blurred', 'Hold still', (image) => sharp(image).blur(7).jpeg().toBuffer()],
  ['dark', 'luminance_mean', 'too_dark', 'light', (image) => sharp(image).linear(0.22, 0).jpeg().toBuffer()],
  ['lit from one side', 'illumination_uniformity', 'too_dark', 'both sides', sideLight],
  [
    'tilted',
    'head_pose_roll',
    'not_frontal',
    'upright',
    (image) => sharp(image).rotate(42, { background: '#808080' }).jpeg().toBuffer(),
  ],
]

async function assess(...images: Buffer[]) {
  const response = await production.enroll({ user_id: 'assessed', images: images.map(base64), dry_run: true })
  expect(response.status).toBe(200)
  return response.body.quality.images as Array<{ passed: boolean; components: QualityFinding[] }>
}

describe('a good photo', () => {
  it('passes a good photo in every component, each with its number and its bound', async () => {
    const [image] = await assess(good)
    expect(image!.passed).toBe(true)
    expect(image!.components).toHaveLength(11)
    for (const { value, bound, passed, hint } of image!.components) {
      expect({ passed, hint }).toEqual({ passed: true, hint: null })
      expect(value).toBeGreaterThanOrEqual(bound?.min ?? -Infinity)
      expect(value).toBeLessThanOrEqual(bound?.max ?? Infinity)
    }
  })

  it.each(['ada', 'adaToday', 'grace', 'mary'] as const)('enrolls a good photo of %s', async (name) => {
    const [image] = await assess(await face(name))
    expect(image!.components.filter(({ passed }) => !passed)).toEqual([])
  })
})

describe.each(SPOILED)('a photo that is %s', (_, component, guidance, hint, spoil) => {
  it('measures a spoiled photo as worse in the component of its fault, and advises in a dry run', async () => {
    const [before, after] = await assess(good, await spoil(good))
    const of = (image: typeof before) => image!.components.find((finding) => finding.component === component)!
    expect(of(before).passed).toBe(true)
    expect(after!.passed).toBe(false)
    expect(of(after)).toMatchObject({ passed: false, hint: expect.stringContaining(hint) })
  })

  it('refuses a spoiled photo at enrollment, and names image, component, number, bound and hint', async () => {
    const user_id = `spoiled-${component}`
    const images = [base64(good), base64(await spoil(good))]
    const response = await production.enroll({ user_id, images })
    expect(response.status).toBe(422)
    expect(response.body).toMatchObject({ error: 'biometric_rejected', code: 'low_quality' })
    expect(response.body.message).toContain(hint)
    expect(response.body.details).toContainEqual({
      path: 'images.1',
      issue: expect.stringMatching(
        new RegExp(`^${component} is -?[0-9.]+, must be at (least|most) [0-9.]+$`),
      ),
      component,
      value: expect.any(Number),
      bound: expect.any(Object),
      guidance,
      hint: expect.stringContaining(hint),
    })
    expect(response.body.details.map(({ path }: { path: string }) => path)).not.toContain('images.0')
    expect((await production.verify({ user_id, image: images[0], action })).body.code).toBe(
      'reference_not_found',
    )
  })
})

it('compares at verify a photo that an enrollment refuses', async () => {
  await production.enroll({ user_id: 'lenient', image: base64(good) })
  for (const [name, , , , spoil] of SPOILED) {
    const image = base64(await spoil(good))
    const response = await production.verify({ user_id: 'lenient', image, action })
    expect(response.status, name).toBe(200)
  }
})

it('refuses a useless photo at verify, with component, bound and hint', async () => {
  await production.enroll({ user_id: 'useless', image: base64(good) })
  const image = base64(await blurredFace())
  const response = await production.verify({ user_id: 'useless', image, action })
  expect(response.status).toBe(422)
  expect(response.body).toMatchObject({
    code: 'low_quality',
    details: [{ path: 'image', component: 'sharpness', bound: { min: 3 }, hint: expect.any(String) }],
  })
  expect(response.body.details[0].value).toBeLessThan(3)
})

describe('the sandbox', () => {
  const user_id = 'ursula+low_quality'

  it('refuses a poor photo in the sandbox as production does', async () => {
    const image = base64(good)
    for (const response of [
      await sandbox.enroll({ user_id, image }),
      await sandbox.verify({ user_id, image, action }),
    ]) {
      expect(response.body).toMatchObject({
        code: 'low_quality',
        details: [{ path: 'image', component: 'sharpness', value: 1.5, hint: expect.any(String) }],
      })
    }
  })

  it('reports a poor photo of the sandbox in a dry run', async () => {
    const { status, body } = await sandbox.enroll({
      user_id,
      images: [base64(good), base64(good)],
      dry_run: true,
    })
    expect(status).toBe(200)
    const [first, second] = body.quality.images
    expect([first.passed, second.passed]).toEqual([false, true])
    expect(first.components.filter(({ passed }: QualityFinding) => !passed)).toHaveLength(1)
    expect(second.components).toHaveLength(11)
  })
})
