/** Strangers at the OpenID provider and the capture page have a limit by network; who is vouched for is not counted. */
import { expect, it } from 'vitest'
import { allowReturn, askForSession, Visitor } from '../../support/capture-page.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { confirmAt, OpenIdBrowser } from '../../support/openid-browser.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({
  COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
  COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
  COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
  // Ten at once, then one a second.
  COUNTERSIGN_VISITOR_LIMIT: '60',
})

/** Sends requests one after the other. @returns their statuses */
async function statuses(count: number, origin: string, path: string, network: string): Promise<number[]> {
  const found: number[] = []
  for (let sent = 0; sent < count; sent++) {
    const response = await fetch(origin + path, { headers: { 'X-Forwarded-For': network } })
    await response.text()
    if (response.status === 429) expect(response.headers.get('retry-after')).toBe('1')
    found.push(response.status)
  }
  return found
}

it('refuses the requests of a network that has sent too many to either listener, and no other network', async () => {
  const [openid, page] = [running.service.origin('openid')!, running.service.origin('capture')!]
  const refused = (found: number[]) => found.indexOf(429)
  expect(refused(await statuses(6, openid, '/jwks', '192.0.2.1'))).toBe(-1)
  expect(refused(await statuses(6, page, '/capture/cap_1.unknown', '192.0.2.1'))).toBe(4)
  for (const path of ['/jwks', '/auth?client_id=oic_1', '/entra/authorize'])
    expect(await statuses(1, openid, path, '192.0.2.1')).toEqual([429])
  expect(await statuses(1, openid, '/jwks', '192.0.2.2')).toEqual([200])
  // All addresses of one IPv6 customer are one network.
  await statuses(10, openid, '/jwks', '2001:db8::1')
  expect(await statuses(1, openid, '/jwks', '2001:db8::2')).toEqual([429])
  running.clock.advance(1000)
  expect(await statuses(2, openid, '/jwks', '192.0.2.1')).toEqual([200, 429])
})

it('counts no request with the credentials of an application, and none of a session that has begun', async () => {
  const tenant = await running.tenant()
  await allowReturn(running, tenant)
  const application = await OpenIdApplication.register(running, tenant)
  const { body } = await askForSession(tenant.sandbox, { user_id: 'ada+match' })
  const visitor = new Visitor(String(body.url))
  await visitor.open()
  await visitor.agree()
  for (let sent = 0; sent < 15; sent++) {
    expect((await visitor.status()).status).toBe(200)
    expect((await application.push({ login_hint: 'ada+match' })).status).toBe(201)
  }
  // The whole way of a person takes seven of ten.
  running.clock.advance(10_000)
  const browser = new OpenIdBrowser(running.service.origin('openid')!)
  const { left } = await browser.open(await application.ask('ada+match'))
  const back = await browser.open(await confirmAt(left!))
  expect((await application.redeem(back.left!.searchParams.get('code'))).status).toBe(200)
})

it('counts a request with wrong credentials', async () => {
  running.clock.advance(10_000)
  const application = await OpenIdApplication.register(running, await running.tenant())
  const found: number[] = []
  for (let sent = 0; sent < 11; sent++)
    found.push(
      await application.push({}, { secret: 'wrong' }).then(
        ({ status }) => status,
        () => 429,
      ),
    )
  expect(found.slice(9)).toEqual([401, 429])
})
