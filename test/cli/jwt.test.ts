import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Workplace, workplace } from '../support/command.js'

let place: Workplace
beforeAll(async () => {
  place = await workplace()
})
afterAll(() => place?.dispose())

const SECRET = 'svc-sec-for-this-test-alone'
const inFiveMinutes = Math.floor(Date.now() / 1000) + 300

/** Made by hand from RFC 7515, without the product's code. */
function token(claims: Record<string, unknown>, secret = SECRET): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg: 'HS256', typ: 'stepup+jwt', kid: 'sec_1' })}.${part(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

const claims = { aud: 'ten_1', sub: 'ada', verdict: 'approved', exp: inFiveMinutes }

describe('jwt', () => {
  it('shows the claims of a token that holds', async () => {
    const result = await place.run([
      'jwt',
      token(claims),
      '--secret',
      SECRET,
      '--audience',
      'ten_1',
      '--json',
    ])
    expect(result.code).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ valid: true, header: { kid: 'sec_1' }, claims })
  })

  it.each([
    ['what is no token', 'abc', SECRET, 'invalid_jwt', 'That is no JWT'],
    ['what is no secret', token(claims), 'x', 'invalid_secret', 'no signing secret'],
  ])('says so of %s', async (_, text, secret, code, message) => {
    const result = await place.run(['jwt', text, '--secret', secret, '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.error).toEqual({ code, message: expect.stringContaining(message) })
  })

  it('says that the secret given is not the one that the token names', async () => {
    const result = await place.run(['jwt', token(claims, 'another'), '--secret', SECRET, '--json'])
    expect(result.error!.message).toContain(
      'the token names the secret sec_1, and the secret given is not that one',
    )
  })

  it.each([
    ['signed with another secret', () => token(claims, 'another'), []],
    ['that has expired', () => token({ ...claims, exp: 1 }), []],
    ['for another tenant', () => token(claims), ['--audience', 'ten_2']],
    ['that is cut', () => token(claims).slice(0, -5), []],
  ])('refuses a token %s', async (_, make, more) => {
    const result = await place.run(['jwt', make(), '--secret', SECRET, ...more, '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: 'invalid_jwt' } })
  })
})
