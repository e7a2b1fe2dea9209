/** Tests of refusals for quality, and of their advice to the person, on real faces that were spoiled in one way each. */
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { EnrollmentQuality, ImageQuality, QualityFinding } from '../../clients/node/types.js'
import { expectRefusal } from '../support/answers.js'
import { base64, face } from '../support/faces.js'
import { blurredFace } from '../support/images.js'
import { serviceOfFile } from '../support/service.js'

const SIZE = 440
const action = 'sign in'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const sandbox = tenant.sandbox
const good = await face('joan')

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

async function assess(...images: Buffer[]): Promise<EnrollmentQuality & { images: ImageQuality[] }> {
  const response = await production.enroll({ user_id: 'assessed', images: images.map(base64), dry_run: true })
  expect(response.status).toBe(200)
  return response.body.quality
}

describe('a good photo', () => {
  it('passes a good photo in every component, each with its number and its bound', async () => {
    const { passed, issues, images } = await assess(good)
    expect([passed, issues]).toEqual([true, []])
    const [image] = images
    expect(image).toMatchObject({ path: 'images.0', passed: true, detection: expect.any(Number) })
    expect(image!.face_width_px).toBeGreaterThanOrEqual(80)
    expect(image!.components).toHaveLength(11)
    for (const { value, bound, passed } of image!.components) {
      expect(passed).toBe(true)
      expect(value).toBeGreaterThanOrEqual(bound?.min ?? -Infinity)
      expect(value).toBeLessThanOrEqual(bound?.max ?? Infinity)
    }
  })

  it.each(['ada', 'adaToday', 'grace', 'mary'] as const)('enrolls a good photo of %s', async (name) => {
    const { passed, issues, images } = await assess(await face(name))
    expect([passed, issues]).toEqual([true, []])
    expect(images[0]!.components.filter((finding) => !finding.passed)).toEqual([])
  })
})

describe.each(SPOILED)('a photo that is %s', (_, component, guidance, hint, spoil) => {
  it('measures a spoiled photo as worse in the component of its fault, and advises in a dry run', async () => {
    const { passed, issues, images } = await assess(good, await spoil(good))
    const [before, after] = images
    const of = (image: typeof before) => image!.components.find((finding) => finding.component === component)!
    expect(of(before).passed).toBe(true)
    expect(of(after).passed).toBe(false)
    expect([before!.passed, after!.passed, passed]).toEqual([true, false, false])
    const { value, bound } = of(after)
    expect(issues).toContainEqual({
      ...{ path: 'images.1', component, value, bound, guidance },
      hint: expect.stringContaining(hint),
    })
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
    const verified = production.verify({ user_id, image: images[0], action })
    await expectRefusal(verified, 404, 'reference_not_found')
  })
})

it('compares at verify a photo that an enrollment refuses, and says what a better one would change', async () => {
  await production.enroll({ user_id: 'lenient', image: base64(good) })
  for (const [name, component, guidance, , spoil] of SPOILED) {
    const image = base64(await spoil(good))
    const { status, body } = await production.verify({ user_id: 'lenient', image, action })
    expect([status, body.quality.passed], name).toEqual([200, false])
    expect(body.quality.issues).toContainEqual(
      expect.objectContaining({ path: 'image', component, guidance }),
    )
  }
})

describe('an answer', () => {
  const SHORT = { score: expect.any(Number), passed: true, issues: [] }
  const components = expect.objectContaining({ length: 11 })

  it('has a score and what failed', async () => {
    const enrolled = await production.enroll({ user_id: 'short', images: [base64(good), base64(good)] })
    expect(enrolled.body.quality).toEqual({ ...SHORT, views: 2 })
    const verified = await production.verify({ user_id: 'short', image: base64(good), action })
    expect(verified.body.quality).toEqual(SHORT)
  })

  it('has every measurement only where the request includes the quality', async () => {
    const include = ['quality']
    const [face_width_px, detection] = [expect.any(Number), expect.any(Number)]
    const measured = { passed: true, face_width_px, detection, components }
    const enrolled = await production.enroll({ user_id: 'long', images: [base64(good)], include })
    expect(enrolled.body.quality).toEqual({ ...SHORT, views: 1, images: [{ path: 'images.0', ...measured }] })
    const verified = await production.verify({ user_id: 'long', image: base64(good), action, include })
    expect(verified.body.quality).toEqual({ ...SHORT, images: [{ path: 'image', ...measured }] })
    const other = { user_id: 'long', image: base64(good), action, include: ['scores'] }
    await expectRefusal(production.verify(other), 400, 'invalid_request')
  })
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
    const details = [{ path: 'image', component: 'sharpness', value: 1.5, hint: expect.any(String) }]
    for (const call of [sandbox.enroll({ user_id, image }), sandbox.verify({ user_id, image, action })])
      await expectRefusal(call, 422, 'low_quality', { details })
  })

  it('reports a poor photo of the sandbox in a dry run', async () => {
    const images = [base64(good), base64(good)]
    const { status, body } = await sandbox.enroll({ user_id, images, dry_run: true })
    expect(status).toBe(200)
    expect(body.quality.issues).toEqual([
      expect.objectContaining({ path: 'images.0', component: 'sharpness', guidance: 'blurred' }),
    ])
    const [first, second] = body.quality.images
    expect([first.passed, second.passed]).toEqual([false, true])
    expect(first.components.filter(({ passed }: QualityFinding) => !passed)).toHaveLength(1)
    expect(second.components).toHaveLength(11)
  })
})
