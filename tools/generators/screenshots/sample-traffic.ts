/** A quarter of an hour of a tenant's production, the same each time: enrollments, verdicts and errors over real HTTP. */
import sharp from 'sharp'
import { MINUTE_MS, SECOND_MS } from '../../../src/lib/clock.js'
import type { ApiClient } from '../../../test/support/client.js'
import { base64, type FaceName, face, landscape } from '../../../test/support/faces.js'
import type { TestService } from '../../../test/support/service.js'
import { seededRandom } from '../../evaluation/random.js'

const SEED = 7
const USERS = 24
/** The action of every call. */
export const SAMPLE_ACTION = { type: 'transfer', amount: '1250.00', currency: 'EUR', to: 'Grace' }
const FACES: readonly FaceName[] = ['ada', 'grace', 'mary', 'joan']
/** Her head in her three photos. */
const DEGREES = [0, -4, 4]
/** Ten seconds are one bar of the chart. */
const BARS = 88
const BAR_MS = 10 * SECOND_MS
/** Shares of the calls. */
const [OF_ANOTHER_PERSON, WITHOUT_A_FACE] = [0.06, 0.02]
/** Its last calls were refused, until it was locked out. */
export const LOCKED_USER = 'ada'
const REJECTIONS_TO_LOCK = 5

async function turnedAda(degrees: number): Promise<string> {
  const turned = sharp(await face('ada')).rotate(degrees, { background: '#808080' })
  return base64(await turned.jpeg({ quality: 90 }).toBuffer())
}

/** Moves the service's clock on to the end of that time. */
export async function sendSampleTraffic({ clock }: TestService, api: ApiClient): Promise<void> {
  const random = seededRandom(SEED)
  const photos = await Promise.all(FACES.map(async (name) => base64(await face(name))))
  const ofAda = await Promise.all(DEGREES.map(turnedAda))
  const noFace = base64(await landscape())
  const photoOf = (user: number) => photos[user % FACES.length]!
  const userId = (user: number) => (user === 0 ? LOCKED_USER : `customer-${1000 + user}`)
  const verify = (user: number, image: string) =>
    api.verify({ user_id: userId(user), image, action: SAMPLE_ACTION })
  for (let user = 0; user < USERS; user++) {
    const images = user === 0 ? ofAda : [photoOf(user)]
    const { status, text } = await api.enroll({ user_id: userId(user), images })
    if (status !== 201) throw new Error(text)
    // Before the quarter of an hour that the picture shows.
    clock.advance(MINUTE_MS)
  }
  for (let bar = 0; bar < BARS; bar++) {
    const calls = Math.round(2.5 + 1.5 * Math.cos(bar / 12) + 2 * random())
    for (let call = 0; call < calls; call++) {
      clock.advance(Math.floor(BAR_MS / calls))
      const user = 1 + Math.floor(random() * (USERS - 1))
      const chance = random()
      const own = photoOf(chance < OF_ANOTHER_PERSON ? user + 1 : user)
      await verify(user, chance > 1 - WITHOUT_A_FACE ? noFace : own)
    }
    if (bar >= BARS - REJECTIONS_TO_LOCK) await verify(0, photoOf(1))
  }
}
