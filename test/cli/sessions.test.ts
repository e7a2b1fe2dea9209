/** `countersign operator sessions | sign-out`, `countersign tenant sessions | sign-out`, against a running service. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type HostedService, workplaceForAll } from '../support/command.js'
import { signInAt } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'

const place = workplaceForAll()
let server: HostedService
beforeAll(async () => {
  server = await place.host()
  await place.run(['tenant', 'create', 'acme'])
})

/** @returns the session cookie */
async function signIn(credentials: object): Promise<string> {
  const response = await signInAt(server.admin, credentials)
  return response.headers.get('set-cookie')!.split(';')[0]!
}
async function asTenant(): Promise<string> {
  const { json } = await place.ask('tenant login-link acme')
  return signIn({ login_token: json.dashboard_url.split('/').at(-1) })
}
const status = async (cookie: string) =>
  (await fetch(`${server.admin}/api/session`, { headers: { Cookie: cookie } })).status

describe('the commands on sessions', () => {
  it('list who is signed in, and end a tenant’s sessions and links in a running service', async () => {
    const [tenant, operator] = [await asTenant(), await signIn({ password: OPERATOR_PASSWORD })]
    // An unused link, besides the one from the tenant's creation.
    await place.run(['tenant', 'login-link', 'acme'])
    const { json } = await place.ask('operator sessions')
    expect(json).toMatchObject([
      { operator: 'operator', tenant: null, method: 'password', address: '127.0.0.1' },
      { operator: null, tenant: 'acme', method: 'link', address: '127.0.0.1' },
    ])
    expect((await place.ask('tenant sessions acme')).json).toHaveLength(1)
    const { stdout } = await place.run(['tenant', 'sign-out', 'acme'])
    expect(stdout.trim()).toBe('1 session and 2 login links ended.')
    expect([await status(tenant), await status(operator)]).toEqual([401, 200])
  })

  it('end one session by its id, the sessions of the unnamed operator, and all sessions', async () => {
    const [tenant, first] = [await asTenant(), await signIn({ password: OPERATOR_PASSWORD })]
    const [{ id }] = (await place.ask('tenant sessions acme')).json
    expect((await place.run(['operator', 'sign-out', '--session', id])).code).toBe(0)
    expect([await status(tenant), await status(first)]).toEqual([401, 200])
    expect((await place.run(['operator', 'sign-out', 'operator'])).code).toBe(0)
    expect(await status(first)).toBe(401)
    const second = await signIn({ password: OPERATOR_PASSWORD })
    const all = await place.ask('operator sign-out --all')
    expect([all.json, await status(second)]).toEqual([{ sessions: 1 }, 401])
  })

  it('report a missing argument and an unknown session', async () => {
    const codes = []
    for (const more of [[], ['sam', '--all'], ['sam'], ['--session', 'ses_none']])
      codes.push((await place.run(['operator', 'sign-out', ...more, '--json'])).error.code)
    expect(codes).toEqual(['wrong_usage', 'wrong_usage', 'session_not_found', 'session_not_found'])
  })
})
