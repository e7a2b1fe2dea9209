import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { adviceOn } from '../support/advice.js'
import { workplaceForAll } from '../support/command.js'

const place = workplaceForAll()

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
  it('shows the claims of a valid token', async () => {
    const result = await place.ask(`jwt ${token(claims)} --secret ${SECRET} --audience ten_1`)
    expect(result.code).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ valid: true, header: { kid: 'sec_1' }, claims })
  })

  it('says first that a token is a rejection, and why', async () => {
    const rejection = token({ ...claims, verdict: 'rejected', reason: 'no_match' })
    const { code, stdout } = await place.run(['jwt', rejection, '--secret', SECRET])
    expect({ code, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      first: 'Genuine, but a rejection: no_match (signed with sec_1).',
    })
    const approval = await place.run(['jwt', token(claims), '--secret', SECRET])
    expect(approval.stdout).toMatch(/^Valid, signed with sec_1\.\n/)
  })

  it.each([
    ['ten_1', 'The token is for ten_1 (`aud`), and --audience asks for ten_2.'],
    [undefined, 'The token has no `aud`, and --audience asks for ten_2.'],
  ])('names both audiences where the token is for %s', async (aud, message) => {
    const other = token({ ...claims, aud })
    const result = await place.run(['jwt', other, '--secret', SECRET, '--audience', 'ten_2', '--json'])
    expect(result.error).toEqual({ code: 'invalid_jwt', message, ...adviceOn('invalid_jwt') })
  })

  it.each([
    ['what is no token', 'abc', SECRET, 'invalid_jwt', 'The token is not a JWT'],
    ['what is no secret', token(claims), 'x', 'invalid_secret', 'The signing secret is malformed'],
  ])('says so of %s', async (_, text, secret, code, message) => {
    const result = await place.run(['jwt', text, '--secret', secret, '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.error).toEqual({ code, message: expect.stringContaining(message), ...adviceOn(code) })
  })

  it('reports a secret that is not the one named in the token', async () => {
    const result = await place.ask(`jwt ${token(claims, 'another')} --secret ${SECRET}`)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'invalid_jwt' } })
    expect(result.error.message).toContain('names the secret sec_1, and the secret given is not that one')
  })

  it.each([
    ['expired', { exp: -11_000 }, /^Expired 3 h 3 min ago; the rest holds\.\n\{/],
    [
      'not_yet_valid',
      { nbf: 605, exp: 900 },
      /^Not valid yet: from 2\S+Z on, in (10 min|9 min 5\d s).*clock right\?/,
    ],
  ])(
    'shows the claims of a token that is %s, says by how much, and ends with 1',
    async (reason, times, text) => {
      const now = Math.floor(Date.now() / 1000)
      const moved = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
      const timed = token({ ...claims, ...moved })
      const people = await place.run(['jwt', timed, '--secret', SECRET])
      expect(people.code).toBe(1)
      expect(people.stdout).toMatch(text)
      expect(people.stdout).toContain('"sub": "ada"')
      const json = await place.run(['jwt', timed, '--secret', SECRET, '--json'])
      expect(json.code).toBe(1)
      const shown = { header: { kid: 'sec_1' }, claims: { sub: 'ada' } }
      expect(json.json).toMatchObject({ valid: false, reason, ...shown })
      expect(json.json.seconds).toBeGreaterThan(590)
    },
  )

  it.each([
    ['that has expired, for another tenant', () => token({ ...claims, exp: 1 }), ['--audience', 'ten_2']],
    ['that has expired, signed with another secret', () => token({ ...claims, exp: 1 }, 'another'), []],
    ['for another tenant', () => token(claims), ['--audience', 'ten_2']],
    ['that is cut', () => token(claims).slice(0, -5), []],
  ])('refuses a token %s', async (_, make, more) => {
    const result = await place.run(['jwt', make(), '--secret', SECRET, ...more, '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: 'invalid_jwt' } })
  })
})
