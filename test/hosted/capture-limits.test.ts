/** A capture session that is over, and how often the page may ask for a challenge. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allowReturn, askForSession, Visitor } from '../support/capture-page.js'
import { answerTo } from '../support/challenges.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Challenges that one session may ask for; docs say the same. */
const MOST_CHALLENGES = 15

let running: TestService
let tenant: TestTenant
let blank: string
let users = 0

beforeAll(async () => {
  running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
    // A busy machine takes its time with twenty frames.
    COUNTERSIGN_DEADLINE_MS: '60000',
  })
  tenant = await running.tenant()
  await allowReturn(running, tenant)
  blank = base64(await plain())
})
afterAll(() => running?.stop())

async function opened() {
  const { body } = await askForSession(tenant.sandbox, { user_id: `limited-${++users}+match` })
  const visitor = new Visitor(body.url)
  await visitor.open()
  return { id: body.session_id as string, visitor }
}
const look = async (id: string) => (await tenant.sandbox.call('GET', `/v1/capture-sessions/${id}`)).body
const framesFor = (steps: string[]) => answerTo({ challenge_id: '', nonce: '', steps }, blank)

describe('a capture session that was cancelled', () => {
  it('takes no consent any more', async () => {
    const { id, visitor } = await opened()
    await visitor.post('cancel')
    await visitor.agree()
    expect(await look(id)).toMatchObject({ status: 'cancelled', consent: null, attempts: 0 })
  })

  it('takes no frames any more, though their challenge was given out before', async () => {
    const { id, visitor } = await opened()
    await visitor.agree()
    const { body } = await visitor.post('challenge')
    await visitor.post('cancel')
    const { frames } = framesFor(body.challenge.steps)
    await visitor.post('frames', { frames })
    expect(await look(id)).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect((await visitor.status()).body.state).toBe('over')
  })

  it('is not completed by what was under way when it was cancelled', async () => {
    const { id, visitor } = await opened()
    await visitor.agree()
    const { body } = await visitor.post('challenge')
    const { frames } = framesFor(body.challenge.steps)
    const holder = await running.database.holdWrites()
    const answers = [visitor.post('cancel'), visitor.post('frames', { frames })]
    await holder()
    await Promise.all(answers)
    const { status, attempts } = await look(id)
    // Whichever came first: a cancelled session has no attempt, a completed one is not cancelled afterwards.
    expect([`cancelled 0`, `completed 1`]).toContain(`${status} ${attempts}`)
  })
})

describe('a capture session that is open', () => {
  it('gives out fifteen challenges and is over with the next one', async () => {
    const { id, visitor } = await opened()
    await visitor.agree()
    for (let asked = 1; asked <= MOST_CHALLENGES; asked++)
      expect((await visitor.post('challenge')).body.state).toBe('challenge')
    expect((await visitor.post('challenge')).body.state).toBe('over')
    expect(await look(id)).toMatchObject({ status: 'completed', attempts: 0 })
  })
})
