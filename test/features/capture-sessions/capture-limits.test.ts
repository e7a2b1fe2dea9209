/** Limits of a capture session: nothing is accepted after its end, and its challenges are counted. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowReturn, lookAt, newSession } from '../../support/capture-page.js'
import { answerTo } from '../../support/challenges.js'
import { poll } from '../../support/command.js'
import { blank } from '../../support/images.js'
import { childrenOf } from '../../support/process-tree.js'
import { serviceOfFile, WITH_PATIENT_PAGE } from '../../support/service.js'

/** Most challenges of one session, as the documentation states. */
const MAX_CHALLENGES = 15

const children = () => (process.platform === 'linux' ? childrenOf(process.pid) : [])

const before = new Set(children())
const running = await serviceOfFile(WITH_PATIENT_PAGE, { ownEngine: true })
/** Process id of the engine, or 0 when /proc does not show it. */
const engine = children().find((pid) => !before.has(pid)) ?? 0
const tenant = await running.tenant()
await allowReturn(running, tenant)

/** Sends a request while the engine is stopped, so that it stays in flight as long as `meanwhile` needs. @returns its status */
async function inFlight(send: () => Promise<{ status: number }>, meanwhile: () => Promise<void>) {
  process.kill(engine, 'SIGSTOP')
  onTestFinished(() => void process.kill(engine, 'SIGCONT'))
  const sent = send()
  await poll(
    async () => (await tenant.sandbox.health()).body.checks.engine.queue.running,
    (tasks) => tasks > 0,
  )
  await meanwhile()
  process.kill(engine, 'SIGCONT')
  return (await sent).status
}

async function opened() {
  const session = await newSession(tenant.sandbox)
  await session.visitor.open()
  return session
}
const look = (id: string) => lookAt(tenant.sandbox, id)
const framesFor = (steps: string[]) => answerTo({ challenge_id: '', nonce: '', steps }, blank)

describe('a capture session that was cancelled', () => {
  it('refuses a consent', async () => {
    const { id, visitor } = await opened()
    await visitor.post('cancel')
    await visitor.agree()
    expect(await look(id)).toMatchObject({ status: 'cancelled', consent: null, attempts: 0 })
  })

  it('refuses frames, even of a challenge that was issued before', async () => {
    const { id, visitor } = await opened()
    await visitor.agree()
    const { body } = await visitor.post('challenge')
    await visitor.post('cancel')
    const { frames } = framesFor(body.challenge.steps)
    await visitor.post('frames', { frames })
    expect(await look(id)).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect((await visitor.status()).body.state).toBe('over')
  })

  it.skipIf(process.platform !== 'linux')(
    'stays cancelled though its frames were being judged when it was cancelled, and are approved later',
    async () => {
      const { id, visitor } = await opened()
      await visitor.agree()
      const { body } = await visitor.post('challenge')
      const { frames } = framesFor(body.challenge.steps)
      const status = await inFlight(
        () => visitor.post('frames', { frames }),
        async () => expect((await visitor.post('cancel')).body.state).toBe('over'),
      )
      expect(status).toBe(200)
      // The try was taken before the frames were judged.
      expect(await look(id)).toMatchObject({ status: 'cancelled', attempts: 1 })
    },
  )
})

describe('a capture session that is open', () => {
  it('issues fifteen challenges and ends with the request for another', async () => {
    const { id, visitor } = await opened()
    await visitor.agree()
    for (let asked = 1; asked <= MAX_CHALLENGES; asked++)
      expect((await visitor.post('challenge')).body.state).toBe('challenge')
    expect((await visitor.post('challenge')).body.state).toBe('over')
    expect(await look(id)).toMatchObject({ status: 'completed', attempts: 0 })
  })
})

describe('the page of one session', () => {
  it.skipIf(process.platform !== 'linux')('asks one question for guidance at a time', async () => {
    const { visitor } = await opened()
    await visitor.agree()
    const ask = () => visitor.post('guidance', { image: blank, step: 'frontal' })
    const status = await inFlight(ask, async () => {
      const { status, headers } = await ask()
      expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    })
    expect([status, (await ask()).status]).toEqual([200, 200])
  })

  it('is loaded 20 times at once and then once in 5 seconds, and other sessions go on', async () => {
    const [{ visitor }, other] = [await opened(), await opened()]
    const statuses = new Set<number>()
    for (let load = 1; load < 20; load++) statuses.add((await visitor.open()).status)
    expect([...statuses]).toEqual([200])
    const refused = await visitor.open()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await other.visitor.open()).status).toBe(200)
    expect((await visitor.status()).status).toBe(200)
    running.clock.advance(5000)
    expect((await visitor.open()).status).toBe(200)
  })
})
