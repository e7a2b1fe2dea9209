/** The external authentication method of Entra ID: a simulated Entra ID asks, a person goes through the capture page, Entra ID checks the answer. */
import { randomUUID } from 'node:crypto'
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { entraTenant } from '../../../src/features/openid/entra/entra-tenant.js'
import { OPENID_ANNOUNCED_MS, OpenIdKeyRotation } from '../../../src/features/openid/openid-key-rotation.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/lib/clock.js'
import { Visitor } from '../../support/capture-page.js'
import { ENTRA_REDIRECT, type EntraAsk, SimulatedEntra } from '../../support/entra-id.js'
import { blank } from '../../support/images.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { confirmAt, type Opened, OpenIdBrowser } from '../../support/openid-browser.js'
import { rsaKey } from '../../support/rsa-keys.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'

let tenant: TestTenant
let entra: SimulatedEntra
let clientId: string
/** Object id of the person who is enrolled. */
let ada: string

const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  entra = await SimulatedEntra.start(running.clock)
  clientId = await register({ metadataUrl: entra.metadataUrl })
  ada = randomUUID()
  await enroll(ada)
  return () => entra.stop()
})

async function register(keys: { metadataUrl?: string; jwks?: unknown }, name = 'entra'): Promise<string> {
  const settings = entraTenant({ tenantId: entra.tenantId, appId: entra.appId, cloud: 'global', ...keys })
  const application = { name, redirectUris: [ENTRA_REDIRECT], entra: settings }
  return (await OpenIdApplication.add(running, tenant, application)).record.id
}

async function enroll(oid: string): Promise<void> {
  const { status } = await tenant.sandbox.enroll({
    user_id: `${entra.tenantId}.${oid}`,
    images: [blank],
  })
  expect(status).toBe(201)
}

const provider = () => running.service.origin('openid')!
const issuer = () => `${provider()}/sandbox/entra`
const discovery = () => `${issuer()}/.well-known/openid-configuration`
const newBrowser = () => new OpenIdBrowser(provider())
const send = (ask: EntraAsk, browser = newBrowser()) => browser.post(`${issuer()}/authorize`, ask.form)
const codes = async () => (await tenant.audit('openid_refused')).map(({ code }) => code)

/** A key that Entra ID does not publish. */
const otherKey = () => ({ kid: randomUUID(), ...rsaKey() })

/** Goes from the request to the form that the browser posts back. */
async function signIn(ask: EntraAsk, browser = newBrowser()): Promise<Opened> {
  const { left, ...stand } = await send(ask, browser)
  return left ? browser.open(await confirmAt(left)) : { left, ...stand }
}

/** A whole sign-in. @returns claims that Entra ID has accepted */
async function accepted(ask: EntraAsk) {
  const { post } = await signIn(ask)
  expect(post?.action).toBe(ENTRA_REDIRECT)
  return entra.accept(ask, post!.fields, discovery())
}

/** The answer that Entra ID gets for every refusal. */
const refusedAs = (ask: EntraAsk, error = 'access_denied') => ({
  status: 200,
  left: null,
  post: { action: ENTRA_REDIRECT, fields: { error, ...(ask.form.state ? { state: ask.form.state } : {}) } },
})

async function expectRefused(ask: EntraAsk, browser?: OpenIdBrowser): Promise<void> {
  expect(await send(ask, browser)).toMatchObject(refusedAs(ask))
}

describe('Entra ID', () => {
  it('gets an ID token with the subject of its hint, one acr and one amr', async () => {
    const ask = await entra.ask(clientId, ada)
    const claims = await accepted(ask)
    const now = Math.floor(running.clock.now() / SECOND_MS)
    expect(claims).toEqual({
      ...{ iss: issuer(), aud: clientId, sub: ask.sub, nonce: ask.form.nonce },
      ...{ acr: 'possessionorinherence', amr: ['face'], iat: now, exp: now + 300 },
      auth_time: expect.any(Number),
    })
    expect(await codes()).toEqual([])
  })

  it('finds its request in the log by the client-request-id', async () => {
    const ask = await entra.ask(clientId, ada)
    await send(ask)
    expect(running.logText()).toContain(ask.form['client-request-id'])
  })

  it('may name its address as redirect_url, ask without a state, and for another acr that a face satisfies', async () => {
    const claims = JSON.stringify({
      id_token: { acr: { values: ['knowledge', 'inherence'] }, amr: { values: ['face'] } },
    })
    const ask = await entra.ask(clientId, ada, {
      ...{ redirect_uri: undefined, redirect_url: ENTRA_REDIRECT, state: undefined, claims },
    })
    expect((await accepted(ask)).acr).toBe('inherence')
  })

  it('gets a token that is for nobody else: the general issuer knows neither the client nor the hint', async () => {
    const { form } = await entra.ask(clientId, ada)
    const general = `${provider()}/sandbox/auth?${new URLSearchParams(form)}`
    const { left, status } = await newBrowser().open(general)
    expect([left, status]).toEqual([null, 400])
    const metadata = await fetch(`${provider()}/sandbox/.well-known/openid-configuration`)
    expect(await metadata.json()).toMatchObject({ response_types_supported: ['code'] })
  })

  it('gets access_denied for a person who cancels, and for one who is not enrolled', async () => {
    const ask = await entra.ask(clientId, ada)
    const browser = newBrowser()
    const visitor = new Visitor((await send(ask, browser)).left!.href)
    await visitor.open()
    const { body } = await visitor.post('cancel')
    expect(await browser.open(body.return_url)).toMatchObject(refusedAs(ask))
    const unknown = await entra.ask(clientId, randomUUID())
    expect(await signIn(unknown)).toMatchObject(refusedAs(unknown))
    expect(await codes()).toEqual(['user_gave_up', 'user_unknown'])
  })

  it('does not learn from its first answer whether a person is enrolled', async () => {
    const answers = []
    for (const oid of [ada, randomUUID()]) {
      const { status, left, text, post } = await send(await entra.ask(clientId, oid))
      answers.push([status, left!.origin, left!.pathname.replace(/[^/]+$/, ''), text, post])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(await codes()).toEqual([])
  })

  it('gets no token from the browser that began where the person confirmed in another one', async () => {
    const ask = await entra.ask(clientId, ada)
    const browser = newBrowser()
    const { left } = await send(ask, browser)
    const back = await confirmAt(left!)
    const stand = await browser.open(back.replace(/&capture_proof=.*/, ''))
    expect([stand.status, stand.post]).toEqual([403, null])
    expect(stand.text).toContain('Go back to the other browser')
    expect(await codes()).toEqual(['confirmed_elsewhere'])
    expect((await browser.open(back)).post).not.toBeNull()
  })

  it('gets no token for a verdict that comes later than it waits', async () => {
    const ask = await entra.ask(clientId, ada)
    const browser = newBrowser()
    const { left } = await send(ask, browser)
    const back = await confirmAt(left!)
    running.clock.advance(10 * MINUTE_MS)
    expect(await browser.open(back)).toMatchObject(refusedAs(ask))
    expect(await codes()).toEqual(['user_gave_up'])
  })
})

describe('a hint', () => {
  const seconds = () => Math.floor(running.clock.now() / SECOND_MS)
  it.each<[string, string, () => Record<string, unknown>]>([
    ['for another application', 'aud', () => ({ aud: randomUUID() })],
    ['for several applications', 'aud', () => ({ aud: [entra.appId, randomUUID()] })],
    ['of another issuer', 'iss', () => ({ iss: `https://login.microsoftonline.com/${randomUUID()}/v2.0` })],
    ['of another cloud', 'iss', () => ({ iss: entra.issuer.replace('.com', '.us') })],
    ['of another tenant', 'tid', () => ({ tid: randomUUID() })],
    ['without a tenant', 'tid', () => ({ tid: undefined })],
    ['that is 10 minutes old', 'iat', () => ({ iat: seconds() - 600 })],
    ['of the future', 'iat', () => ({ iat: seconds() + 130 })],
    ['without a time', 'iat', () => ({ iat: undefined })],
    ['that does not count yet', 'nbf', () => ({ nbf: seconds() + 130 })],
    ['without a person', 'oid', () => ({ oid: undefined })],
    ['whose person is no object id', 'oid', () => ({ oid: `${ada}+match` })],
    ['without a subject', 'sub', () => ({ sub: undefined })],
  ])('is refused %s', async (_what, claim, changes) => {
    const ask = await entra.ask(clientId, ada, { id_token_hint: await entra.hint(ada, changes()) })
    await expectRefused(ask)
    const [entry] = await tenant.audit('openid_refused')
    expect(entry).toMatchObject({
      code: 'hint_not_valid',
      detail: claim,
      client_request_id: ask.form['client-request-id'],
    })
  })

  const signedOtherwise: Record<string, () => Promise<string> | string> = {
    'with another key of the same name': () =>
      entra.hint(ada, {}, { key: { ...otherKey(), kid: entra.keys.at(-1)!.kid } }),
    'with an unknown key': () => entra.hint(ada, {}, { key: otherKey() }),
    'with a key of another issuer': () => entra.hint(ada, {}, { key: entra.publishForeignKey() }),
    'by RS512': () => entra.hint(ada, {}, { alg: 'RS512' }),
    'by PS256': () => entra.hint(ada, {}, { alg: 'PS256' }),
    'by nobody (alg none)': async () => new UnsecuredJWT(decodeJwt(await entra.hint(ada))).encode(),
    async 'by HS256 under the public key'() {
      const { publicKey, kid } = entra.keys.at(-1)!
      return new SignJWT(decodeJwt(await entra.hint(ada)))
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })))
    },
    async 'whose claims were changed'() {
      const [header, , signature] = (await entra.hint(ada)).split('.')
      const claims = Buffer.from(JSON.stringify({ ...decodeJwt(await entra.hint(ada)), oid: randomUUID() }))
      return `${header}.${claims.toString('base64url')}.${signature}`
    },
    'that is no JWT': () => 'hint',
  }
  it.each(Object.keys(signedOtherwise))('is refused that is signed %s', async (how) => {
    await expectRefused(await entra.ask(clientId, ada, { id_token_hint: await signedOtherwise[how]!() }))
    expect(await codes()).toEqual(['hint_not_valid'])
  })

  it('is refused that was used in another browser, or with another state, nonce or acr', async () => {
    const ask = await entra.ask(clientId, ada)
    const browser = newBrowser()
    const { left } = await send(ask, browser)
    await expectRefused(ask)
    const claims = JSON.stringify({ id_token: { acr: { values: ['inherence'] } } })
    for (const changes of [{ state: 'other' }, { nonce: 'other' }, { claims }]) {
      await expectRefused({ ...ask, form: { ...ask.form, ...changes } }, browser)
    }
    expect(await codes()).toEqual(Array(4).fill('hint_used'))
    // A second tab of the same browser stands at the same session.
    expect((await send(ask, browser)).left!.href).toBe(left!.href)
    const { post } = await browser.open(await confirmAt(left!))
    await entra.accept(ask, post!.fields, discovery())
    await expectRefused(ask, browser)
  })

  it('is refused that was used before and is only spelled in another way', async () => {
    const ask = await entra.ask(clientId, ada)
    await send(ask)
    const hint = ask.form.id_token_hint!
    // The last character holds 4 bits of padding: these spellings are of one signature, and the library takes each of them.
    const bytes = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url')
    const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
      .map((last) => hint.slice(0, -1) + last)
      .filter((other) => other !== hint && bytes(other).equals(bytes(hint)))
    expect(others).toHaveLength(15)
    await expectRefused({ ...ask, form: { ...ask.form, id_token_hint: others[0]! } })
    expect(await codes()).toEqual(['hint_used'])
  })
})

describe('a request', () => {
  it.each<[string, string, Record<string, string | undefined>]>([
    ['without a nonce', 'request_not_valid', { nonce: undefined }],
    ['without openid', 'request_not_valid', { scope: 'profile' }],
    ['for a code', 'request_not_valid', { response_type: 'code' }],
    ['for an answer in the address', 'request_not_valid', { response_mode: 'fragment' }],
    ['without claims', 'request_not_valid', { claims: undefined }],
    ['with claims that are no JSON', 'request_not_valid', { claims: '{' }],
    [
      'for an acr that no face satisfies',
      'acr_not_reached',
      { claims: '{"id_token":{"acr":{"essential":true,"values":["possession","knowledge"]}}}' },
    ],
    [
      'for other methods than a face',
      'acr_not_reached',
      { claims: '{"id_token":{"acr":{"values":["inherence"]},"amr":{"values":["fpt"]}}}' },
    ],
  ])('is refused %s', async (_what, code, changes) => {
    await expectRefused(await entra.ask(clientId, ada, changes))
    expect(await codes()).toEqual([code])
  })

  it('is refused here, and not at the address that it names, where that is not the one of the cloud, or is named in two ways', async () => {
    for (const changes of [
      { redirect_uri: `${ENTRA_REDIRECT}/` },
      { redirect_uri: ENTRA_REDIRECT.replace('.com', '.us') },
      { redirect_uri: undefined },
      { redirect_url: 'https://evil.example/' },
    ]) {
      const { status, post, left } = await send(await entra.ask(clientId, ada, changes))
      expect([status, post, left]).toEqual([400, null, null])
    }
    expect(await codes()).toEqual(Array(4).fill('redirect_uri_not_registered'))
  })

  it('is refused from an unknown client, from one that is no tenant of Entra ID, and from the other environment', async () => {
    const portal = await OpenIdApplication.add(running, tenant, { redirectUris: [ENTRA_REDIRECT] })
    for (const id of ['oic_unknown', portal.record.id])
      expect((await send(await entra.ask(id, ada))).status).toBe(400)
    const { form } = await entra.ask(clientId, ada)
    expect((await newBrowser().post(`${provider()}/entra/authorize`, form)).status).toBe(400)
    expect(await codes()).toEqual(['client_unknown', 'client_of_other_environment'])
  })

  it('is refused by GET, and where a parameter is there twice', async () => {
    expect((await newBrowser().open(`${issuer()}/authorize`)).status).toBe(405)
    const { form } = await entra.ask(clientId, ada)
    const body = new URLSearchParams(form)
    body.append('id_token_hint', await entra.hint(randomUUID()))
    expect((await fetch(`${issuer()}/authorize`, { method: 'POST', body })).status).toBe(400)
  })
})

describe('the way back from the capture page', () => {
  it('counts once, and only in the browser that began', async () => {
    const ask = await entra.ask(clientId, ada)
    const browser = newBrowser()
    const { left } = await send(ask, browser)
    const back = await confirmAt(left!)
    expect(await newBrowser().open(back)).toMatchObject({ status: 400, left: null, post: null })
    expect((await browser.open(back)).post?.fields.id_token).toBeDefined()
    expect(await browser.open(back)).toMatchObject({ status: 400, left: null, post: null })
    expect(await codes()).toEqual(['opened_elsewhere'])
  })

  it('leads to the page again for a person who is back too early', async () => {
    const browser = newBrowser()
    const { left } = await send(await entra.ask(clientId, ada), browser)
    const [cookie] = browser.cookies
    const uid = cookie!.replace(/^entra_/, '')
    expect((await browser.open(`${issuer()}/interaction/${uid}/done`)).left!.href).toBe(left!.href)
  })
})

describe('a change of keys', () => {
  it('goes on at Entra ID: a new key counts, and unknown keys are looked up at most twice a minute', async () => {
    await accepted(await entra.ask(clientId, ada))
    running.clock.advance(SECOND_MS)
    await accepted(await entra.ask(clientId, ada))
    expect(entra.fetches).toBe(1)
    entra.rollOver()
    await expectRefused(await entra.ask(clientId, ada))
    running.clock.advance(30 * SECOND_MS)
    await accepted(await entra.ask(clientId, ada))
    for (let tries = 0; tries < 3; tries++)
      await send(
        await entra.ask(clientId, ada, { id_token_hint: await entra.hint(ada, {}, { key: otherKey() }) }),
      )
    expect(entra.fetches).toBe(2)
  })

  it('waits while Entra ID cannot be reached: known keys count for a day', async () => {
    await accepted(await entra.ask(clientId, ada))
    entra.isAway = true
    running.clock.advance(2 * HOUR_MS)
    await accepted(await entra.ask(clientId, ada))
    running.clock.advance(DAY_MS)
    const late = await entra.ask(clientId, ada)
    expect(await send(late)).toMatchObject(refusedAs(late, 'temporarily_unavailable'))
    expect(await codes()).toEqual(['unavailable'])
  })

  it('is looked for at most twice a minute while Entra ID cannot be reached', async () => {
    await accepted(await entra.ask(clientId, ada))
    entra.isAway = true
    running.clock.advance(2 * HOUR_MS)
    const before = entra.asked
    const stranger = async () =>
      entra.ask(clientId, ada, { id_token_hint: await entra.hint(ada, {}, { key: otherKey() }) })
    for (let tries = 0; tries < 3; tries++) {
      running.clock.advance(SECOND_MS)
      await send(await stranger())
      expect((await send(await entra.ask(clientId, ada))).left).not.toBeNull()
    }
    expect(entra.asked - before).toBe(1)
    running.clock.advance(30 * SECOND_MS)
    entra.isAway = false
    entra.rollOver()
    await accepted(await entra.ask(clientId, ada))
  })

  it('goes on here: tokens count through a rotation, although Entra ID reads the keys once a day', async () => {
    await accepted(await entra.ask(clientId, ada))
    const rotation = new OpenIdKeyRotation({ ...running.service.core, clock: running.clock })
    await rotation.rotate(['sandbox'], COMMAND_LINE)
    for (let hours = 0; hours < 96; hours += 6) {
      running.clock.advance(6 * HOUR_MS)
      await accepted(await entra.ask(clientId, ada))
    }
    expect(96 * HOUR_MS).toBeGreaterThan(OPENID_ANNOUNCED_MS)
  })
})

describe('a pinned key', () => {
  it('counts without a look at Microsoft', async () => {
    clientId = await register({ jwks: entra.jwks }, 'pinned')
    await accepted(await entra.ask(clientId, ada))
    expect(entra.fetches).toBe(0)
    entra.rollOver()
    await expectRefused(await entra.ask(clientId, ada))
  })
})
