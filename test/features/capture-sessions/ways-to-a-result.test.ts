/**
 * Every way to a result, and everybody who may come for it: only the browser in which the person confirmed gets one, or the first device
 * with the number of the phone.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { entraTenant } from '../../../src/features/openid/entra/entra-tenant.js'
import { freePorts } from '../../../src/http/free-port.js'
import { allowReturn, askForSession, RETURN_ORIGIN, Visitor } from '../../support/capture-page.js'
import { apiClient } from '../../support/client.js'
import { ENTRA_REDIRECT, SimulatedEntra } from '../../support/entra-id.js'
import { blank } from '../../support/images.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { serviceOfFile } from '../../support/service.js'

type Outcome = 'result' | 'nothing'

/** A person on the way, whose page is open and who has not confirmed yet. */
interface Journey {
  page: Visitor
  /** Comes back with the cookie of the interaction, or as the backend of the signed-in user. */
  finish(address: string): Promise<Outcome>
  /** Comes back without that cookie. Absent for the API, which has none: the backend knows its own user's browser. */
  finishAsStranger?(address: string): Promise<Outcome>
}

const COLUMNS = ['same browser', 'other browser', 'other with cookie', 'status poll', 'killed node'] as const
const NEEDS_NO_COOKIE = 'makes no sense: the backend hands on the proof of its own user’s browser'

let users = 0

// Browsers keep their addresses when the service starts again.
const local = { host: '127.0.0.1', port: 0 }
const [capture, openId] = await freePorts([local, local])
const running = await serviceOfFile({
  COUNTERSIGN_CAPTURE_LISTEN: `127.0.0.1:${capture}`,
  COUNTERSIGN_OPENID_LISTEN: `127.0.0.1:${openId}`,
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
})
const tenant = await running.tenant()
const entra = await SimulatedEntra.start(running.clock)
const { tenantId, appId, metadataUrl } = entra
const { record: entraClient } = await OpenIdApplication.add(running, tenant, {
  ...{ name: 'entra', redirectUris: [ENTRA_REDIRECT] },
  entra: entraTenant({ tenantId, appId, cloud: 'global', metadataUrl }),
})
afterAll(() => entra.stop())

async function openid(fields: Record<string, string> = {}, again = false): Promise<Journey> {
  const application = await OpenIdApplication.register(running, tenant, { handOver: 'number' })
  const browser = new OpenIdBrowser(running.service.origin('openid')!)
  const asked = await application.ask(`way-${++users}+match`, fields)
  let { left } = await browser.open(asked)
  if (again) left = (await browser.open(asked)).left
  const finishBy = async (opener: OpenIdBrowser, address: string): Promise<Outcome> => {
    const { left, text } = await opener.open(address)
    return left?.searchParams.has('code') || text.includes('name="code"') ? 'result' : 'nothing'
  }
  return {
    page: new Visitor(left!.href),
    finish: (address) => finishBy(browser, address),
    finishAsStranger: (address) => finishBy(new OpenIdBrowser(running.service.origin('openid')!), address),
  }
}

async function ofEntra(): Promise<Journey> {
  const oid = randomUUID()
  await tenant.sandbox.enroll({ user_id: `${entra.tenantId}.${oid}`, images: [blank] })
  const { form } = await entra.ask(entraClient.id, oid)
  const provider = running.service.origin('openid')!
  const browser = new OpenIdBrowser(provider)
  const { left } = await browser.post(`${provider}/sandbox/entra/authorize`, form)
  const finishBy = async (opener: OpenIdBrowser, address: string): Promise<Outcome> =>
    (await opener.open(address)).post?.fields.id_token ? 'result' : 'nothing'
  return {
    page: new Visitor(left!.href),
    finish: (address) => finishBy(browser, address),
    finishAsStranger: (address) => finishBy(new OpenIdBrowser(provider), address),
  }
}

async function byApi(): Promise<Journey> {
  const { body } = await askForSession(tenant.sandbox, { user_id: `way-${++users}+match`, browser: 'same' })
  return {
    page: new Visitor(body.url),
    async finish(address) {
      const proof = new URL(address).searchParams.get('capture_proof')
      const path = `/v1/capture-sessions/${body.session_id}${proof === null ? '' : `?proof=${proof}`}`
      const answer = await apiClient(running.service.url('sandbox'), tenant.sandboxKey).call('GET', path)
      return answer.body.result?.body.verdict === 'approved' ? 'result' : 'nothing'
    },
  }
}

interface Way {
  begin(): Promise<Journey>
  isFramed?: boolean
  /** The first device, which began, hands over to a phone. */
  byPhone?: boolean
  /** Loads the page again after the capture, and goes on from what it shows. */
  goesBack?: boolean
}

const WAYS: Record<string, Way> = {
  'OpenID by query': { begin: () => openid() },
  'OpenID by form post': { begin: () => openid({ response_mode: 'form_post' }) },
  'OpenID in a second tab': { begin: () => openid({}, true) },
  'OpenID with the way back': { begin: () => openid(), goesBack: true },
  'OpenID in a frame': { begin: () => openid(), isFramed: true },
  'OpenID by phone': { begin: () => openid(), byPhone: true },
  'Entra ID': { begin: ofEntra },
  'hosted page by API': { begin: byApi },
  'hosted page by API, by phone': { begin: byApi, byPhone: true },
}

/** The person confirms. @returns the last step to the address back: the number of the phone, or a look at the page */
async function confirm({ page }: Journey, { byPhone = false }: Way): Promise<() => Promise<string>> {
  const phone = byPhone ? await page.handOver() : page
  await phone.agree()
  expect((await phone.capture(blank)).body.state).toBe('over')
  const code = byPhone ? await phone.number() : undefined
  return async () =>
    (code === undefined ? await page.status() : await page.post('number', { code })).body.return_url
}

it.each(Object.entries(WAYS))('%s brings the result only to the browser that captured', async (_, way) => {
  const frameAncestors = way.isFramed ? [RETURN_ORIGIN] : []
  await allowReturn(running, tenant, { frameAncestors })
  const journey = await way.begin()
  await journey.page.open()
  const last = await confirm(journey, way)

  // Somebody who has the link, and polls, gets no proof; nor does the first device before the number.
  const poll = await new Visitor(journey.page.url).status()
  const early = (await journey.page.status()).body
  const outcomes: Record<string, string> = {
    'status poll': JSON.stringify([poll, way.byPhone ? early : null]).includes('capture_proof')
      ? 'result'
      : 'nothing',
  }
  const address = await last()
  const bare = new URL(address)
  bare.searchParams.delete('capture_proof')
  outcomes['other with cookie'] = await journey.finish(bare.href)
  outcomes['other browser'] = (await journey.finishAsStranger?.(address)) ?? NEEDS_NO_COOKIE
  if (way.goesBack) {
    const text = (await journey.page.open()).text.replaceAll('&amp;', '&')
    expect(text).toContain(address)
  }
  outcomes['same browser'] = await journey.finish(address)
  const expected = {
    ...{ 'same browser': 'result', 'other with cookie': 'nothing', 'status poll': 'nothing' },
    'other browser': journey.finishAsStranger ? 'nothing' : NEEDS_NO_COOKIE,
  }
  expect(outcomes).toEqual(expected)
  expect([...Object.keys(outcomes), 'killed node'].sort()).toEqual([...COLUMNS].sort())
})

it('every way goes on at another node, where the first one ended between capture and return', async () => {
  await allowReturn(running, tenant)
  const begun = []
  for (const [name, way] of Object.entries(WAYS)) {
    const journey = await way.begin()
    await journey.page.open()
    begun.push({ name, journey, last: await confirm(journey, way) })
  }
  await running.restart()
  const outcomes = []
  for (const { name, journey, last } of begun) outcomes.push([name, await journey.finish(await last())])
  expect(outcomes).toEqual(Object.keys(WAYS).map((name) => [name, 'result']))
})
