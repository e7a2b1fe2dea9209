import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS, SECOND_MS } from '../../src/lib/clock.js'
import { apiClient } from '../support/client.js'
import { base64, landscape, photosOf } from '../support/faces.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const ATTEMPTS = 3
let user: string
let users = 0

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS) })
const tenant = await running.tenant()
let production = await running.production(tenant)
const [ada, adaToday, joan] = await photosOf('ada', 'adaToday', 'joan')
beforeEach(async () => {
  user = `user-${++users}`
  await production.enroll({ user_id: user, image: ada })
})

const verify = (image: string) => production.verify({ user_id: user, image, action: 'x' })
const right = () => verify(adaToday)
const wrong = () => verify(joan)
const fail = async (times: number, wait = 0) => {
  for (let i = 0; i < times; i++) {
    running.clock.advance(wait)
    expect((await wrong()).body.reason).toBe('no_match')
  }
}

describe('lockout', () => {
  it('begins a lockout after the allowed consecutive rejections, and not before, in answer and JWT', async () => {
    await fail(ATTEMPTS - 1)
    expect((await right()).body.verdict).toBe('approved')
    await fail(ATTEMPTS)
    const response = await right()
    const body = { verdict: 'rejected', reason: 'locked_out', score: null, quality: null }
    expect(response).toMatchObject({ status: 200, body })
    expect(response.headers.get('retry-after')).toBe('30')
    const { claims, valid } = decodeJwt(response.body.jwt, tenant.secret.secret)
    expect(valid).toBe(true)
    expect(claims).toMatchObject({ verdict: 'rejected', reason: 'locked_out', acr: '0' })
  })

  it('ends a lockout when its delay is over', async () => {
    await fail(ATTEMPTS)
    running.clock.advance(30 * SECOND_MS - 1)
    const early = await right()
    expect(early.body.reason).toBe('locked_out')
    expect(early.headers.get('retry-after')).toBe('1')
    running.clock.advance(1)
    expect((await right()).body.verdict).toBe('approved')
  })

  it('lengthens the lockout with every further rejection', async () => {
    await fail(ATTEMPTS)
    const delays: number[] = []
    for (let i = 0; i < 3; i++) {
      const seconds = Number((await right()).headers.get('retry-after'))
      delays.push(seconds)
      running.clock.advance(seconds * SECOND_MS)
      await fail(1)
    }
    expect(delays[0]).toBe(30)
    expect(delays[1]).toBeGreaterThan(delays[0]!)
    expect(delays[2]).toBeGreaterThan(delays[1]!)
  })

  it('does not prolong a lockout by verifies while it lasts', async () => {
    await fail(ATTEMPTS)
    for (let i = 0; i < 10; i++) expect((await wrong()).body.reason).toBe('locked_out')
    running.clock.advance(30 * SECOND_MS)
    expect((await right()).body.verdict).toBe('approved')
  })

  it('keeps a lockout over a restart', async () => {
    await fail(ATTEMPTS)
    await running.restart()
    const { key } = production
    production = { ...apiClient(running.service.url('production'), key), key }
    expect((await right()).body.reason).toBe('locked_out')
  })

  it('resets the count of rejections by one approval', async () => {
    await fail(ATTEMPTS - 1)
    expect((await right()).body.verdict).toBe('approved')
    await fail(ATTEMPTS - 1)
    expect((await right()).body.verdict).toBe('approved')
  })

  it('counts no unusable image for the lockout', async () => {
    const blank = base64(await landscape())
    for (let i = 0; i < 2 * ATTEMPTS; i++) expect((await verify(blank)).status).toBe(422)
    expect((await right()).body.verdict).toBe('approved')
  })

  it('locks out only the user who was rejected', async () => {
    await fail(ATTEMPTS)
    await production.enroll({ user_id: 'bystander', image: ada, replace: true })
    const other = await production.verify({ user_id: 'bystander', image: adaToday, action: 'x' })
    expect(other.body.verdict).toBe('approved')
  })

  it('clears a lockout when the user is enrolled again', async () => {
    await fail(ATTEMPTS)
    await production.enroll({ user_id: user, image: ada, replace: true })
    expect((await right()).body.verdict).toBe('approved')
  })

  it('evaluates no more parallel guesses than attempts are left', async () => {
    const responses = await Promise.all(Array.from({ length: 12 }, wrong))
    const reasons = responses.map(({ body }) => body.reason)
    expect(reasons.filter((reason) => reason === 'no_match')).toHaveLength(ATTEMPTS)
    expect(reasons.filter((reason) => reason === 'locked_out')).toHaveLength(12 - ATTEMPTS)
  })
})

describe('a reference', () => {
  it('disables a reference at ten times the attempts, until the user is enrolled again', async () => {
    await fail(10 * ATTEMPTS, HOUR_MS)
    running.clock.advance(1000 * HOUR_MS)
    const response = await right()
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ verdict: 'rejected', reason: 'reference_disabled', score: null })
    expect(response.headers.get('retry-after')).toBeNull()
    await production.enroll({ user_id: user, image: ada, replace: true })
    expect((await right()).body.verdict).toBe('approved')
  })

  it('does not disable a reference one rejection earlier', async () => {
    await fail(10 * ATTEMPTS - 1, HOUR_MS)
    running.clock.advance(HOUR_MS)
    expect((await right()).body.verdict).toBe('approved')
  })
})

describe('by default', () => {
  it('allows five rejections by default where liveness is not checked', async () => {
    const standard = await serviceOfTest()
    const client = await standard.production(await standard.tenant())
    await client.enroll({ user_id: 'u', image: ada })
    const reasons: string[] = []
    for (let i = 0; i < 6; i++)
      reasons.push((await client.verify({ user_id: 'u', image: joan, action: 'x' })).body.reason)
    expect(reasons).toEqual([...Array(5).fill('no_match'), 'locked_out'])
  })

  it('turns lockout off when the setting is zero', async () => {
    const lenient = await serviceOfTest({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
    const client = await lenient.production(await lenient.tenant())
    await client.enroll({ user_id: 'u', image: ada })
    for (let i = 0; i < 12; i++)
      expect((await client.verify({ user_id: 'u', image: joan, action: 'x' })).body.reason).toBe('no_match')
  })
})
