/** Applications of the OpenID provider at the dashboard: who may add them, and what is shown of them. */

import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { openIdClients } from '../support/openid-application.js'
import { openConsole } from './console.js'

const desk = await openConsole()

const BODY = {
  environment: 'sandbox',
  name: 'portal',
  profile: 'generic',
  redirect_uris: ['https://app.bank.example/callback'],
  acr: 'urn:countersign:acr:face-active',
  help_url: null,
}

const list = (by = desk.own) => desk.call('GET', '/openid-clients', undefined, by)
const add = (body: unknown, by = desk.own) => desk.call('POST', '/openid-clients', body, by)
const remove = (client: string, by = desk.own) => desk.call('POST', '/openid-clients/remove', { client }, by)

describe('an application', () => {
  it('is added with a secret that no other answer has, listed and removed', async () => {
    const added = await add({ ...BODY, help_url: 'https://bank.example/help' })
    expect([added.status, added.body.client_secret]).toEqual([201, expect.stringMatching(/^[\w-]{43}$/)])
    const { body } = await list()
    expect(body).toMatchObject({
      clients: [{ name: 'portal', profile: 'generic', help_url: 'https://bank.example/help' }],
      has_production: false,
    })
    expect(JSON.stringify(body)).not.toContain(added.body.client_secret)
    const client = added.body.client.client_id
    expect((await remove(client)).status).toBe(200)
    expect((await list()).body.clients).toEqual([])
    expect((await remove(client)).outcome).toBe('404 client_not_found')
    const events = (await desk.entries()).map(({ event }) => event)
    expect(events).toEqual(expect.arrayContaining(['openid_client_added', 'openid_client_removed']))
  })

  it('is shown with its profile and without a secret where it signs its requests', async () => {
    const acr = 'urn:countersign:acr:face-active'
    const record = await desk.running.service.core.tenancy.find(desk.tenant.id)
    await openIdClients(desk.running).add(record, COMMAND_LINE, 'sandbox', {
      ...{ name: 'realm', redirectUris: [], acr, jwks: null },
      keycloak: { issuer: 'https://id.example/realms/a', url: 'https://id.example/realms/a', user: 'sub' },
    })
    const { body } = await list()
    expect(body.clients).toMatchObject([{ name: 'realm', profile: 'keycloak', has_secret: false }])
  })

  it.each([
    ['invalid_redirect_uri', { redirect_uris: ['http://app.bank.example/callback'] }],
    ['invalid_acr', { acr: 'urn:example:acr' }],
    ['invalid_help_url', { help_url: 'javascript:alert(1)' }],
  ])('is refused with the code %s', async (code, fault) => {
    expect((await add({ ...BODY, ...fault })).outcome).toBe(`400 ${code}`)
  })

  it('is not added or removed by a viewer, nor for another tenant', async () => {
    expect((await list(desk.viewer)).status).toBe(200)
    for (const by of [desk.viewer, desk.stranger])
      for (const refused of [await add(BODY, by), await remove('oic_x', by)])
        expect(refused.outcome).toBe('403 not_permitted')
  })
})
