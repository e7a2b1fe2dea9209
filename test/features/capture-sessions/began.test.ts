/** The page says when and where its session began, and the person can say that somebody else did. */
import { beforeEach, expect, it } from 'vitest'
import { browserWords } from '../../../src/features/capture-sessions/browser-words.js'
import { allowReturn, askForSession, newSession, Visitor } from '../../support/capture-page.js'
import { photoOf } from '../../support/faces.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0'

let tenant: TestTenant
const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  await allowReturn(running, tenant)
})

/** Asks for a session, and opens its page. */
async function opened(fields: Record<string, unknown>, client = tenant.sandbox) {
  const session = await newSession(client, { user_id: 'ada+match', ...fields })
  return { ...session, text: (await session.visitor.open()).text }
}

const toldIn = (text: string) => /<div id="began"><p>(.*)<\/p>/.exec(text)?.[1]?.replaceAll(/<[^>]*>/g, '')

it.each([
  [{ ip: '203.0.113.7', user_agent: FIREFOX }, ' in Firefox (Windows), from 203.0.113.7'],
  [{ ip: '2001:db8::7' }, ', from 2001:db8::7'],
  [{ user_agent: '<b>Mosaic</b>' }, ''],
  [{}, ''],
])('says what is known of the visitor who began: %j', async (began, where) => {
  const { text } = await opened({ began, locale: 'en' })
  const time = new Date(running.clock.now()).toISOString().slice(11, 16)
  expect(toldIn(text)).toBe(`Began ${time} UTC${where}. Did you begin this?`)
  expect(text).toContain('No, that was not me')
  expect(text).not.toContain('Mosaic')
})

it('says nothing where the caller says nothing', async () => {
  expect((await opened({})).text).not.toContain('id="began"')
})

it.each([
  [{ ip: 'here' }, 'began.ip'],
  [{ user_agent: 'a\u0000b' }, 'began.user_agent'],
  [{ place: 'Berlin' }, 'began.place'],
])('is refused where the caller says something else: %j', async (began, path) => {
  const { status, body } = await askForSession(tenant.sandbox, { user_id: 'ada+match', began })
  expect([status, body.code, body.details[0].path]).toEqual([400, 'invalid_request', path])
})

it('is over for good when the person did not begin it, and the backend learns it', async () => {
  const api = await running.production(tenant)
  const consent = { id: 'c', agreed_at: new Date(running.clock.now()).toISOString() }
  await api.call('POST', '/v1/enroll', { user_id: 'ada', image: await photoOf('ada'), consent })
  const { id, visitor } = await opened({ user_id: 'ada', began: {} }, api)
  expect((await visitor.post('disown')).body).toMatchObject({ state: 'over', ending: 'disowned' })
  expect((await visitor.agree()).body).toMatchObject({ state: 'over', ending: 'disowned' })
  expect((await visitor.open({ 'Accept-Language': 'en' })).text).toContain('Nothing was confirmed')
  const { body } = await api.call('GET', `/v1/capture-sessions/${id}`)
  expect(body).toMatchObject({ status: 'cancelled', disowned: true, result: null })
  expect(await tenant.audit('capture_disowned')).toMatchObject([
    { capture_session: id, purpose: 'verify', side: 'page', subject: expect.any(String) },
  ])
})

it('names the browser that began at the OpenID provider, and ends as access_denied when the person did not', async () => {
  const application = await OpenIdApplication.register(running, tenant)
  const browser = new OpenIdBrowser(running.service.origin('openid')!)
  const { left } = await browser.open(await application.ask('ada+match', { ui_locales: 'en' }))
  const visitor = new Visitor(left!.href)
  expect(toldIn((await visitor.open()).text)).toContain(', from 127.0.0.1.')
  const { body } = await visitor.post('disown')
  const back = (await browser.open(body.return_url)).left!
  expect(back.searchParams.get('error')).toBe('access_denied')
  expect(await tenant.audit('openid_refused')).toMatchObject([{ code: 'user_disowned' }])
})

it('knows browsers and systems by name', () => {
  const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  const words = (system: string, rest: string) => browserWords(`Mozilla/5.0 (${system}) ${rest}`)
  expect([
    words('Windows NT 10.0; Win64; x64', `${webKit} Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`),
    words('iPhone; CPU iPhone OS 26_1 like Mac OS X', `${webKit} Version/26.1 Mobile/15E148 Safari/604.1`),
    words('Macintosh; Intel Mac OS X 10_15_7', `${webKit} Version/26.1 Safari/605.1.15`),
    words('Linux; Android 16; K', `${webKit} Chrome/143.0.0.0 Mobile Safari/537.36`),
    browserWords('curl/8.5.0'),
  ]).toEqual(['Edge (Windows)', 'Safari (iOS)', 'Safari (macOS)', 'Chrome (Android)', undefined])
})
