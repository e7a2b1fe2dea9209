/** The OpenID provider with a foreign relying party: `openid-client` asks, a person goes through the capture page, an ID token comes back. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import type { OpenIdClient } from '../../../src/features/openid/openid-clients.js'
import { freePorts } from '../../../src/http/free-port.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { leash } from '../../support/leash.js'
import { OpenIdApplication, openIdClients, REDIRECT } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

const PAYMENT = {
  type: 'payment',
  amount: '1250.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()
const application = await OpenIdApplication.add(running, tenant, { name: 'portal' })
const discovered = ({ record, secret }: OpenIdClient) =>
  openid.discovery(
    new URL(`${running.service.origin('openid')}/sandbox`),
    record.id,
    undefined,
    openid.ClientSecretBasic(secret!),
    { execute: [openid.allowInsecureRequests] },
  )
const config = await discovered(application)

async function ask(login_hint: string, more: Record<string, string> = {}) {
  const verifier = openid.randomPKCECodeVerifier()
  const nonce = openid.randomNonce()
  const state = openid.randomState()
  const url = await openid.buildAuthorizationUrlWithPAR(config, {
    ...{ redirect_uri: REDIRECT, scope: 'openid', login_hint, nonce, state },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    ...more,
  })
  const redeem = (back: URL) =>
    openid.authorizationCodeGrant(config, back, {
      ...{ pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true },
    })
  return { url: url.href, redeem }
}

const newBrowser = () => new OpenIdBrowser(running.service.origin('openid')!)
const signIn = (url: string, browser = newBrowser()) => browser.signIn(url)

describe('a relying party', () => {
  it('gets an ID token about one verdict of the person whom it named', async () => {
    const { url, redeem } = await ask('openid-ada+match')
    const tokens = await redeem(await signIn(url))
    const claims = tokens.claims()!
    expect(claims).toMatchObject({
      iss: `${running.service.origin('openid')}/sandbox`,
      sub: 'openid-ada+match',
      aud: application.record.id,
      acr: 'urn:countersign:acr:face-active',
      amr: ['face'],
      auth_time: expect.any(Number),
    })
    expect(decodeJwt(claims.verdict as string)).toMatchObject({
      sub: 'openid-ada+match',
      verdict: 'approved',
      action: { type: 'login', application: 'portal' },
    })
  })

  it('has the person confirm the action of authorization_details, to which the verdict is bound', async () => {
    const { url, redeem } = await ask('openid-pay+match', {
      authorization_details: JSON.stringify([PAYMENT]),
    })
    const claims = (await redeem(await signIn(url))).claims()!
    expect(decodeJwt(claims.verdict as string)).toMatchObject({
      action: PAYMENT,
      display_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it.each([
    ['no valid payment', [{ ...PAYMENT, amount: 'much' }], /amount/],
    ['two actions', [PAYMENT, PAYMENT], /exactly one action/],
    ['an unknown type', [{ type: 'transfer_of_power' }], /transfer_of_power|type/],
  ])('is refused at once with authorization_details of %s', async (_what, details, why) => {
    await expect(
      ask('openid-pay+match', { authorization_details: JSON.stringify(details) }),
    ).rejects.toMatchObject({
      error: 'invalid_authorization_details',
      error_description: expect.stringMatching(why),
    })
  })

  it('gets another acr than the one that it would like', async () => {
    const { url, redeem } = await ask('openid-acr+match', { acr_values: 'urn:example:acr:phr' })
    expect((await redeem(await signIn(url))).claims()!.acr).toBe('urn:countersign:acr:face-active')
  })
})

describe('a browser', () => {
  it('needs a fresh verdict for each request', async () => {
    const browser = newBrowser()
    const first = await ask('openid-fresh+match')
    await first.redeem(await signIn(first.url, browser))
    const second = await ask('openid-fresh+match')
    const { left } = await browser.open(second.url)
    expect(left!.pathname).toMatch(/^\/capture\//)
  })

  it('gets the same session of the capture page in a second tab', async () => {
    const browser = newBrowser()
    const { url } = await ask('openid-tab+match')
    const { left } = await browser.open(url)
    expect((await browser.open(browser.interaction)).left!.href).toBe(left!.href)
  })

  it('is sent back to the capture page when it returns too early', async () => {
    const browser = newBrowser()
    const { url } = await ask('openid-early+match')
    const { left } = await browser.open(url)
    expect((await browser.open(`${browser.interaction}/done`)).left!.href).toBe(left!.href)
  })
})

describe('docs/examples/openid', () => {
  it('pays when the person has confirmed the payment, and not when another face was shown', async () => {
    const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
    const redirectUris = [`http://localhost:${port}/callback`]
    const bank = await OpenIdApplication.add(running, tenant, { name: 'bank', redirectUris })
    const settings = {
      ...{ ISSUER: `${running.service.origin('openid')}/sandbox`, PORT: String(port) },
      ...{ CLIENT_ID: bank.record.id, CLIENT_SECRET: bank.secret! },
    }
    const file = packageFile('docs', 'examples', 'openid', 'step-up.mjs')
    const program = spawn(process.execPath, [...leash(), file], { env: { ...process.env, ...settings } })
    onTestFinished(() => void program.kill())
    expect(String((await once(program.stdout, 'data'))[0])).toContain(`http://localhost:${port}/pay`)
    const pay = async (user: string) => {
      const page = `http://localhost:${port}/pay?user=${encodeURIComponent(user)}`
      const begun = await fetch(page, { redirect: 'manual' })
      const answer = await fetch(await signIn(begun.headers.get('location')!))
      return [answer.status, await answer.text()]
    }
    const paid = 'paid, confirmed by ada+match (urn:countersign:acr:face-active)\n'
    expect(await pay('ada+match')).toEqual([200, paid])
    expect(await pay('eve+no_match')).toEqual([403, 'not paid: access_denied\n'])
  })
})

describe('an application that was removed', () => {
  it('is refused at once, as is the API key in whose name it asked', async () => {
    const gone = await OpenIdApplication.add(running, tenant, {
      name: 'old',
      acr: 'urn:countersign:acr:face',
    })
    await openIdClients(running).remove(await tenant.record(), COMMAND_LINE, gone.record.id)
    const asked = { redirect_uri: REDIRECT, scope: 'openid' }
    const pushed = openid.buildAuthorizationUrlWithPAR(await discovered(gone), asked)
    await expect(pushed).rejects.toMatchObject({ status: 401 })
    const keys = await running.service.core.store.read.apiKeys(tenant.id)
    expect(keys.find(({ id }) => id === gone.record.keyId)!.revokedAt).not.toBeNull()
  })
})
