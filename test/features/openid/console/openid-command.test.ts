/** `countersign openid`: registers, lists and removes applications, and never shows a secret twice. */
import { writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { workplaceForEach } from '../../../support/command.js'
import { REDIRECT } from '../../../support/openid-application.js'
import { rsaKey } from '../../../support/rsa-keys.js'

const place = workplaceForEach()
beforeEach(() => place.ask('tenant create acme'))

const APP_ID = '600b719b-3766-4dc5-95a6-3c4a8dc31885'
const IDS = ['--tenant-id', APP_ID, '--app-id', APP_ID]
const add = (...more: string[]) =>
  place.run(['openid', 'add', 'acme', 'portal', '--sandbox', '--redirect-uri', REDIRECT, ...more])
const addEntra = (...more: string[]) =>
  place.run(['openid', 'add', 'acme', 'entra', '--sandbox', '--profile', 'entra', ...more])

describe('openid', () => {
  it('shows the secret of an application once', async () => {
    const { json } = await add('--json')
    expect(json).toMatchObject({
      client_id: expect.stringMatching(/^oic_[0-9a-f]{32}$/),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      environment: 'sandbox',
      redirect_uris: [REDIRECT],
      acr: 'urn:countersign:acr:face-active',
    })
    const { stdout } = await place.run(['openid', 'list', 'acme'])
    expect(stdout).toContain(json.client_id)
    expect(stdout).not.toContain(json.client_secret)
  })

  it('frees the name of an application that was removed', async () => {
    const { json } = await add('--json')
    expect((await add()).code).toBe(1)
    const removed = await place.run(['openid', 'remove', 'acme', json.client_id])
    expect(removed.stdout).toBe(`Removed portal (${json.client_id}).\n`)
    expect((await add()).code).toBe(0)
  })

  it('registers a tenant of Entra ID, without a secret and with the one address of its cloud', async () => {
    const tenantId = '9122040D-6c67-4c5b-b112-36a304b66dad'
    const { stdout } = await addEntra('--tenant-id', tenantId, '--app-id', APP_ID)
    expect(stdout).toContain('none: Entra ID signs its hints')
    expect(stdout).toContain('https://login.microsoftonline.com/common/federation/externalauthprovider')
    expect(stdout).toContain('9122040d-6c67-4c5b-b112-36a304b66dad.<object id>')
    const { json } = await place.ask('openid list acme')
    expect(json).toMatchObject([{ name: 'entra', profile: 'entra', environment: 'sandbox' }])
  })

  it.each([
    ['is no tenant id', ['--tenant-id', 'contoso.com', '--app-id', APP_ID]],
    ['is no application id', ['--tenant-id', APP_ID, '--app-id', 'portal']],
    ['is no https address', [...IDS, '--metadata-url', 'http://a.example/']],
    ['shows a page of its own', [...IDS, '--help-url', REDIRECT]],
    ['one redirect address', [...IDS, '--redirect-uri', REDIRECT]],
  ])('refuses a tenant of Entra ID, because something %s', async (why, options) => {
    const { code, stderr } = await addEntra(...options)
    expect([code, stderr.includes(why)]).toEqual([1, true])
  })

  it.each([[['--tenant-id', APP_ID]], [['--app-id', APP_ID]]])(
    'names both ids that a tenant of Entra ID needs when only %j is given',
    async (options) => {
      const { code, stderr } = await addEntra(...options)
      expect([code, stderr]).toEqual([2, expect.stringContaining('needs --tenant-id and --app-id')])
    },
  )

  it('pins only public keys of Entra ID, each with its id', async () => {
    const jwk = rsaKey().privateKey.export({ format: 'jwk' })
    const { d: _, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...publicJwk } = jwk
    const pinned = async (key: object) => {
      writeFileSync(place.path('keys.json'), JSON.stringify({ keys: [key] }))
      return (await addEntra(...IDS, '--jwks', place.path('keys.json'))).code
    }
    expect(await pinned({ ...jwk, kid: 'one' })).toBe(1)
    expect(await pinned(publicJwk)).toBe(1)
    expect(await pinned({ ...publicJwk, kid: 'one' })).toBe(0)
  })

  it('keeps profile and address of help of an application', async () => {
    const { json } = await add('--profile', 'okta', '--help-url', 'https://help.bank.example/face', '--json')
    expect(json).toMatchObject({ profile: 'okta', help_url: 'https://help.bank.example/face' })
    expect((await place.run(['openid', 'list', 'acme'])).stdout).toMatch(/portal +okta +sandbox/)
  })

  it('rotates the keys of ID tokens, and not over a key that waits', async () => {
    const { code, stdout } = await place.run(['openid', 'keys', 'rotate', '--environment', 'sandbox'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^oik_\S+ +sandbox +signing +\S+ +–$/m)])
    await place.run(['openid', 'keys', 'rotate', '--environment', 'sandbox'])
    const { json } = await place.ask('openid keys list')
    expect(json).toMatchObject([
      { environment: 'sandbox', state: 'signing', published_until: expect.any(String) },
      { environment: 'sandbox', state: 'published', published_until: null },
    ])
    const waits = await place.ask('openid keys rotate')
    expect(waits.error).toMatchObject({
      code: 'openid_key_waits',
      remedy: expect.stringContaining('--emergency'),
    })
    await place.run(['openid', 'keys', 'rotate', '--environment', 'sandbox', '--emergency'])
    const left: Array<{ environment: string }> = (await place.ask('openid keys list')).json
    expect(left.filter(({ environment }) => environment === 'sandbox')).toMatchObject([{ state: 'signing' }])
  })

  it.each([
    ['is no https address', ['--redirect-uri', 'http://app.bank.example/callback']],
    ['is no https address', ['--redirect-uri', 'https://app.bank.example/callback#top']],
    ['is no acr of an approval', ['--acr', 'urn:example:acr:phr']],
  ])('refuses an application, because something %s: %j', async (why, options) => {
    const { code, stderr } = await add(...options)
    expect([code, stderr.includes(why)]).toEqual([1, true])
  })

  const addRealm = (...more: string[]) =>
    place.run(['openid', 'add', 'acme', 'sso', '--profile', 'keycloak', '--sandbox', ...more])
  const REALM = 'https://sso.bank.example/realms/bank'

  it('registers a realm of Keycloak without a secret, and names the path of its channel', async () => {
    const addresses = ['--realm-issuer', REALM, '--realm-url', 'https://keycloak:8443/realms/bank']
    const { json } = await addRealm(...addresses, '--json')
    expect(json).toMatchObject({
      ...{ client_secret: null, redirect_uris: [], realm: REALM, user_id: 'sub' },
      realm_url: 'https://keycloak:8443/realms/bank',
      message: 'required',
      channel: `/sandbox/keycloak/${json.client_id}`,
    })
  })

  it.each([
    [2, 'needs --realm-issuer', []],
    [1, 'is no https address of a realm', ['--realm-issuer', `${REALM}/`]],
    [1, 'has no redirect addresses', ['--realm-issuer', REALM, '--redirect-uri', REDIRECT]],
  ])('refuses a realm with exit code %i, because it %s', async (expected, why, options) => {
    const { code, stderr } = await addRealm(...options)
    expect([code, stderr.includes(why)]).toEqual([expected, true])
  })

  it('refuses an application of OpenID Connect without a redirect address, or with a realm', async () => {
    const without = await place.run(['openid', 'add', 'acme', 'portal', '--sandbox'])
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('redirect addresses')])
    expect((await add('--realm-issuer', REALM)).code).toBe(2)
  })
})
