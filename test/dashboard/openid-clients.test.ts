/** Applications of the OpenID provider at the dashboard: who may add them, and what is shown of them. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { type DashboardClient, loginToken, signIn } from '../support/dashboard.js'
import { openIdOperations } from '../support/openid-application.js'
import { operationsOf } from '../support/operations.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

let running: TestService
let tenant: TestTenant
let own: DashboardClient

const BODY = {
  environment: 'sandbox',
  name: 'portal',
  profile: 'generic',
  redirect_uris: ['https://app.bank.example/callback'],
  acr: 'urn:countersign:acr:face-active',
  help_url: null,
}

beforeAll(async () => {
  running = await startService()
  tenant = await running.tenant()
  own = await signIn(running, { login_token: await loginToken(running, tenant.id) })
})
afterAll(() => running?.stop())

const path = (rest = '', { id } = tenant) => `/tenants/${id}/openid-clients${rest}`

describe('an application', () => {
  it('is added with a secret that no other answer has, listed and removed', async () => {
    const added = await own.call('POST', path(), { ...BODY, help_url: 'https://bank.example/help' })
    expect([added.status, added.body.client_secret]).toEqual([201, expect.stringMatching(/^[\w-]{43}$/)])
    const { body } = await own.call('GET', path())
    expect(body).toMatchObject({
      clients: [{ name: 'portal', profile: 'generic', help_url: 'https://bank.example/help' }],
      has_production: false,
    })
    expect(JSON.stringify(body)).not.toContain(added.body.client_secret)
    const client = added.body.client.client_id
    expect((await own.call('POST', path('/remove'), { client })).status).toBe(200)
    expect((await own.call('GET', path())).body.clients).toEqual([])
    const again = await own.call('POST', path('/remove'), { client })
    expect([again.status, again.body.code]).toEqual([404, 'client_not_found'])
    const entries = await running.service.core.store.read.auditEntries(tenant.id, 0, 100)
    expect(entries.map(({ entry }) => JSON.parse(entry).event)).toEqual(
      expect.arrayContaining(['openid_client_added', 'openid_client_removed']),
    )
  })

  it('is shown with its profile and without a secret where it signs its requests', async () => {
    const { tenancy } = running.service.core
    const acr = 'urn:countersign:acr:face-active'
    await openIdOperations(running).add(await tenancy.find(tenant.id), COMMAND_LINE, 'sandbox', {
      ...{ name: 'realm', redirectUris: [], acr, jwks: null },
      keycloak: { issuer: 'https://id.example/realms/a', url: 'https://id.example/realms/a', user: 'sub' },
    })
    const { body } = await own.call('GET', path())
    expect(body.clients).toMatchObject([{ name: 'realm', profile: 'keycloak', has_secret: false }])
  })

  it.each([
    ['invalid_redirect_uri', { redirect_uris: ['http://app.bank.example/callback'] }],
    ['invalid_acr', { acr: 'urn:example:acr' }],
    ['invalid_help_url', { help_url: 'javascript:alert(1)' }],
  ])('is refused with the code %s', async (code, fault) => {
    const { status, body } = await own.call('POST', path(), { ...BODY, ...fault })
    expect([status, body.code]).toEqual([400, code])
  })

  it('is not added or removed by a viewer, nor for another tenant', async () => {
    const { password } = await operationsOf(running.service).operators.add('kim', 'viewer', COMMAND_LINE)
    const viewer = await signIn(running, { name: 'kim', password })
    const other = await running.tenant()
    expect((await viewer.call('GET', path())).status).toBe(200)
    for (const [client, address] of [
      [viewer, path()],
      [own, path('', other)],
    ] as const)
      expect((await client.call('POST', address, BODY)).status).not.toBe(201)
    const removal = await viewer.call('POST', path('/remove'), { client: 'oic_x' })
    expect(removal.body.code).toBe('not_permitted')
  })
})
