/** Tests of requests with several images: they show one person, and make one decision and one attempt. */
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { faceCrop, people } from '../biometrics/fixtures.js'
import { expectRefusal } from '../support/answers.js'
import { altered, base64, face, landscape, photoOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '2', COUNTERSIGN_FMR: '1e-2' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const today = await face('adaToday')
const ada = await photoOf('ada')
const adaToday = base64(today)
const adaTilted = base64(
  await altered('ada', (photo) =>
    photo.rotate(-9, { background: '#606060' }).modulate({ brightness: 1.15 }).jpeg({ quality: 60 }),
  ),
)
const grace = await photoOf('grace')
const nobody = base64(await landscape())

/** Degrees that turn the picture upright against the tilt of her head. */
const UPRIGHT_DEGREES = -20

let users = 0
async function enrolled(): Promise<string> {
  const user_id = `user-${++users}`
  // The enrolled picture is another one than those that are verified, so that they are no copies of it, and upright, as an enrollment demands.
  const upright = sharp(await face('adaElsewhere')).rotate(UPRIGHT_DEGREES, { background: '#606060' })
  const image = base64(await upright.jpeg({ quality: 90 }).toBuffer())
  expect((await production.enroll({ user_id, image })).status).toBe(201)
  return user_id
}

const verify = (user_id: string, ...images: string[]) => production.verify({ user_id, images, action: 'x' })

describe('a verify with several images', () => {
  it('refuses five strangers in one verify, names one, and counts no attempt', async () => {
    const user = await enrolled()
    const strangers = await Promise.all(
      people.slice(1).map(async (person) => base64(await (await faceCrop(person)).jpeg().toBuffer())),
    )
    expect(strangers).toHaveLength(5)
    for (let i = 0; i < 3; i++) {
      const details = [{ path: expect.stringMatching(/^images\.[0-4]$/), issue: expect.any(String) }]
      await expectRefusal(verify(user, ...strangers), 422, 'different_people', { details })
    }
    expect((await verify(user, adaToday)).body.verdict).toBe('approved')
  })

  it('refuses the user among strangers, and names the odd image', async () => {
    const user = await enrolled()
    const mixed = verify(user, adaToday, grace, adaTilted)
    await expectRefusal(mixed, 422, 'different_people', { details: [{ path: 'images.1' }] })
  })

  it('answers the same for two different people whether or not one is the user', async () => {
    const user = await enrolled()
    for (const pair of [
      [grace, adaToday],
      [adaToday, grace],
    ]) {
      const { body } = await verify(user, ...pair)
      expect([body.code, body.details[0].path]).toEqual(['different_people', 'images.1'])
    }
  })

  it('approves frames of the user, and ignores unusable ones', async () => {
    const user = await enrolled()
    const { body } = await verify(user, nobody, adaToday, adaTilted, nobody)
    expect(body).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
  })

  it('counts one attempt for a verify with any number of images', async () => {
    const user = await enrolled()
    const again = base64(await altered('grace', (photo) => photo.rotate(5)))
    expect((await verify(user, grace, nobody, again)).body.reason).toBe('no_match')
    expect((await verify(user, adaToday)).body.verdict).toBe('approved')
  })

  for (const [which, index] of [
    ['compared', 0],
    ['passed over', 1],
  ] as const)
    it(`remembers the image that was ${which}`, async () => {
      const user = await enrolled()
      // The tilted copy is the brighter and sharper of the two.
      const frames = [adaTilted, adaToday]
      expect((await verify(user, ...frames)).body).toMatchObject({ replay: { suspected: false } })
      const reEncoded = base64(await sharp(Buffer.from(frames[index]!, 'base64')).png().toBuffer())
      expect((await verify(user, reEncoded)).body.replay).toEqual({ suspected: true })
    })

  for (const position of [0, 1])
    it(`judges image ${position} of a set for replay`, async () => {
      const user = await enrolled()
      expect((await verify(user, adaToday)).body.replay).toEqual({ suspected: false })
      const reEncoded = base64(await sharp(Buffer.from(adaToday, 'base64')).png().toBuffer())
      const frames = position === 0 ? [reEncoded, adaTilted] : [adaTilted, reEncoded]
      expect((await verify(user, ...frames)).body.replay).toEqual({ suspected: true })
    })
})

describe('an enrolment with several images', () => {
  it('refuses an enrollment with images of two people, and enrolls neither', async () => {
    const refused = production.enroll({ user_id: 'two', images: [ada, grace] })
    const more = { error: 'biometric_rejected', details: [{ path: 'images.1' }] }
    await expectRefusal(refused, 422, 'different_people', more)
    for (const image of [ada, grace])
      expect((await verify('two', image)).body.code).toBe('reference_not_found')
  })

  it('names the odd image of three in an enrollment', async () => {
    const { body } = await production.enroll({ user_id: 'three', images: [grace, ada, adaToday] })
    expect(body).toMatchObject({ code: 'different_people', details: [{ path: 'images.0' }] })
  })

  it('answers with the number of photos of the reference', async () => {
    const { body } = await production.enroll({ user_id: 'views', images: [ada, adaToday, adaTilted] })
    expect(body.quality.views).toBe(3)
  })
})
