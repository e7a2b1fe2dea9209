/** Rules for sign-ins and sessions of operators. Each test breaks exactly one rule. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { signIn } from '../support/dashboard.js'
import { withDatabase } from '../support/database.js'
import type { OidcProvider } from '../support/oidc-provider.js'
import { operationsOf } from '../support/operations.js'
import type { TestService } from '../support/service.js'
import { startWithProvider } from './console.js'

const NAME = 'kim@example.com'
let provider: OidcProvider
let running: TestService

beforeAll(async () => {
  ;({ running, provider } = await startWithProvider({ COUNTERSIGN_OPERATOR_PASSWORD_SIGN_IN: 'true' }))
  await operationsOf(running.service).operators.add(NAME, 'viewer', COMMAND_LINE)
})
afterAll(() => running?.stop())
beforeEach(() => {
  provider.claims = { email: NAME, email_verified: true }
  // The rate limit admits further sign-ins after this time.
  running.clock.advance(120_000)
})

const visit = (path: string, cookie?: string) =>
  fetch(`${running.service.adminUrl}${path}`, {
    redirect: 'manual',
    headers: cookie ? { Cookie: cookie } : {},
  })
const location = (response: Response) => response.headers.get('location')!

/** Goes to the provider and back, up to the last step, which is the test's. */
async function begin(): Promise<{ cookie: string; callback: URL }> {
  const login = await visit('/api/oidc/login')
  const back = await fetch(location(login), { redirect: 'manual' })
  return { cookie: login.headers.get('set-cookie')!.split(';')[0]!, callback: new URL(location(back)) }
}

describe('the answer of an OpenID provider', () => {
  type Query = URLSearchParams
  it.each([
    ['another state than the one of this browser', (query: Query) => query.set('state', 'x'.repeat(43))],
    ['an empty state', (query: Query) => query.set('state', '')],
    ['no state', (query: Query) => query.delete('state')],
    ['its state twice', (query: Query) => query.append('state', query.get('state')!)],
  ])(
    'with %s is refused without a request to the provider, although its code is right',
    async (_, falsify) => {
      const { cookie, callback } = await begin()
      const asked = provider.tokenRequests
      const falsified = new URL(callback)
      falsify(falsified.searchParams)
      const refused = await visit(falsified.pathname + falsified.search, cookie)
      expect(location(refused)).toMatch(/^\/#\/sign-in-failed\/invalid_answer\//)
      expect(refused.headers.get('set-cookie') ?? '').not.toContain('countersign_session')
      expect(provider.tokenRequests).toBe(asked)
      // The code had not been used up, so that only the state was the reason.
      expect(location(await visit(callback.pathname + callback.search, cookie))).toBe('/')
    },
  )
})

describe('a session of an operator', () => {
  it('is invalid as soon as the operator is removed, even if the session still exists', async () => {
    const name = 'gone@example.com'
    const { password } = await operationsOf(running.service).operators.add(name, 'admin', COMMAND_LINE)
    const client = await signIn(running, { name, password: password! })
    expect((await client.call('GET', '/tenants')).status).toBe(200)
    // Deletes only the operator's row, which is the state between the two statements of a removal.
    withDatabase(running, (database) => {
      database.pragma('foreign_keys = OFF')
      database.prepare('DELETE FROM operator WHERE name = ?').run(name)
    })
    for (const path of ['/session', '/tenants', '/operators']) {
      expect((await client.call('GET', path)).outcome, path).toBe('401 not_signed_in')
    }
  })

  it('has the present rights of its operator, not those at the sign-in', async () => {
    const name = 'changed@example.com'
    const { operators } = operationsOf(running.service)
    const { password } = await operators.add(name, 'admin', COMMAND_LINE)
    const client = await signIn(running, { name, password: password! })
    await operators.setRole(name, 'viewer', COMMAND_LINE)
    expect((await client.call('GET', '/session')).body.person).toMatchObject({ name, role: 'viewer' })
    expect((await client.call('POST', '/operators', { name: 'x@example.com', role: 'admin' })).status).toBe(
      403,
    )
  })
})
