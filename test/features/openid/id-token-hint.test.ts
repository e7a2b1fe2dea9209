/** `id_token_hint` of an application: an earlier ID token of the provider names the person, and nothing else does. */
import { decodeJwt, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND_MS } from '../../../src/lib/clock.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'

let tenant: TestTenant
let application: OpenIdApplication

const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  application = await OpenIdApplication.register(running, tenant)
})

const codes = async () => (await tenant.audit('openid_refused')).map(({ code }) => code)
const signIn = (more: Record<string, string | undefined>) => application.signIn('', more)

/** A whole sign-in. @returns the ID token */
async function idToken(more: Record<string, string | undefined>): Promise<string> {
  const { body } = await application.redeem((await signIn(more)).searchParams.get('code'))
  return String(body.id_token)
}

describe('an earlier ID token', () => {
  it('names the person, also next to the same login_hint', async () => {
    const earlier = await idToken({ login_hint: 'hint-ada+match' })
    for (const login_hint of [undefined, 'hint-ada+match']) {
      const again = await idToken({ login_hint, id_token_hint: earlier })
      expect(decodeJwt(again).sub).toBe('hint-ada+match')
    }
  })

  it('is refused next to a login_hint of somebody else, and when it is over', async () => {
    const earlier = await idToken({ login_hint: 'hint-ada+match' })
    const other = await signIn({ login_hint: 'hint-eve+match', id_token_hint: earlier })
    expect(other.searchParams.get('error')).toBe('access_denied')
    // The library writes the times of its tokens by the clock of the machine.
    running.clock.advance(decodeJwt(earlier).exp! * SECOND_MS - running.clock.now())
    const late = await signIn({ login_hint: undefined, id_token_hint: earlier })
    expect(late.searchParams.get('error')).toBe('access_denied')
    expect(await codes()).toEqual(['hint_not_valid', 'hint_not_valid'])
  })

  it('is refused when it was signed by somebody else, or for another application', async () => {
    const earlier = await idToken({ login_hint: 'hint-ada+match' })
    const forged = await new SignJWT({ ...decodeJwt(earlier), sub: 'hint-eve+match' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(application.client.secret!))
    application = await OpenIdApplication.register(running, tenant)
    for (const id_token_hint of [forged, earlier]) {
      const { status, body } = await application.push({ id_token_hint })
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    }
    expect(await codes()).toEqual(['hint_not_valid', 'hint_not_valid'])
  })
})
