/** docs/examples/auth0 and docs/examples/ory with the real service: simulated identity providers, and a person at the capture page. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../src/http/free-port.js'
import { packageFile } from '../../src/lib/package-root.js'
import { Auth0 } from '../support/auth0.js'
import { allowReturn, Visitor } from '../support/capture-page.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { leash } from '../support/leash.js'
import { serviceOfFile, WITH_PAGE } from '../support/service.js'

const programs: ChildProcess[] = []

const running = await serviceOfFile(WITH_PAGE)
// The examples look at the system's clock.
running.clock.now = Date.now
const tenant = await running.tenant()
const blank = base64(await plain())
const settings = {
  ...{ CS_BASE_URL: running.service.url('sandbox'), CS_API_KEY: tenant.sandboxKey },
  ...{ CS_TENANT_ID: tenant.id, CS_ENVIRONMENT: 'sandbox' },
}
afterAll(() => {
  for (const program of programs) program.kill()
})

async function start(example: string[], env: Record<string, string>): Promise<string> {
  const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
  const file = packageFile('docs', 'examples', ...example)
  const program = spawn(process.execPath, [...leash(), file], {
    env: { ...process.env, ...settings, ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  programs.push(program)
  await once(program.stdout!, 'data')
  return `http://localhost:${port}`
}

/** The person's part. @returns the address to which the page leads */
async function confirm(link: string): Promise<string> {
  const visitor = new Visitor(link)
  await visitor.enter()
  for (let attempt = 0; attempt < 3; attempt++) {
    const { body } = await visitor.capture(blank)
    if (body.state === 'over') return body.return_url
  }
  throw new Error('the session did not end')
}

/** The address as a browser opens it that did not capture. */
function withoutProof(address: string): string {
  const url = new URL(address)
  url.searchParams.delete('capture_proof')
  return url.href
}

const step = async (address: string | URL, cookie = '') => {
  const response = await fetch(address, { redirect: 'manual', headers: { cookie } })
  const [kept = ''] = response.headers.getSetCookie().map((line) => line.split(';')[0]!)
  return { status: response.status, location: response.headers.get('location')!, cookie: kept }
}

describe('docs/examples/auth0', () => {
  const RELAY_SECRET = 'a-secret-of-at-least-32-characters'
  let auth0: Auth0
  beforeAll(async () => {
    const relay = await start(['auth0', 'relay.mjs'], { RELAY_SECRET, RELAY_COOKIE: 'step-up' })
    await allowReturn(running, tenant, { returnOrigins: [relay] })
    const secrets = { ...settings, RELAY_URL: relay, RELAY_SECRET }
    auth0 = new Auth0(packageFile('docs', 'examples', 'auth0', 'action.cjs'), secrets)
  })

  /** From the password to the return from the capture page, in one browser. */
  async function away(user: string) {
    const { redirect } = await auth0.login(user)
    const begun = await step(redirect!)
    return { state: redirect!.searchParams.get('state'), back: await confirm(begun.location), ...begun }
  }

  it('lets a person in who was approved in this sign-in', async () => {
    const { back, cookie, state } = await away('ada+match')
    const { location } = await step(back, cookie)
    const url = new URL(location)
    expect([url.origin + url.pathname, url.searchParams.get('state')]).toEqual([
      'https://bank.eu.auth0.com/continue',
      state,
    ])
    expect(await auth0.continue('ada+match', url)).toEqual({
      ...{ denied: null, redirect: null },
      methods: [expect.stringMatching(/\/face$/)],
    })
  })

  it('refuses one who was rejected, who is not enrolled, or whose approval is about somebody else', async () => {
    const refused = 'The person was not confirmed.'
    const rejected = await away('eve+no_match')
    const { location } = await step(rejected.back, rejected.cookie)
    expect((await auth0.continue('eve+no_match', new URL(location))).denied).toBe(refused)
    expect(await auth0.login('nobody')).toMatchObject({ denied: refused, redirect: null })
    const approved = await away('ada+match')
    const other = new URL((await step(approved.back, approved.cookie)).location)
    expect((await auth0.continue('grace+match', other)).denied).toBe(refused)
  })

  it('refuses the approval of another sign-in, of another browser, and without the relay', async () => {
    const first = await away('ada+match')
    const second = await away('ada+match')
    // The second browser brings the session of the first one.
    expect((await step(first.back, second.cookie)).status).toBe(403)
    expect((await step(first.back)).status).toBe(403)
    const { location } = await step(withoutProof(second.back), second.cookie)
    expect((await auth0.continue('ada+match', new URL(location))).denied).toBe(
      'The person was not confirmed.',
    )
    const url = new URL((await step(first.back, first.cookie)).location)
    url.searchParams.set('state', second.state!)
    expect((await auth0.continue('ada+match', url)).denied).toMatch(/state/)
    const { redirect } = await auth0.login('ada+match')
    const bare = new URL(`https://bank.eu.auth0.com/continue?${redirect!.searchParams}`)
    expect((await auth0.continue('ada+match', bare)).denied).toMatch(/state/)
    bare.searchParams.set('session_token', 'x.y.z')
    expect((await auth0.continue('ada+match', bare)).denied).toMatch(/signature/)
  })

  it('refuses everybody where the service cannot be asked, or the verdict is somebody else’s', async () => {
    const { back, cookie } = await away('ada+match')
    const url = new URL((await step(back, cookie)).location)
    const file = packageFile('docs', 'examples', 'auth0', 'action.cjs')
    const common = { ...settings, RELAY_URL: 'http://localhost:1', RELAY_SECRET }
    for (const wrong of [
      { CS_BASE_URL: 'http://127.0.0.1:9/v1' },
      { CS_TENANT_ID: 'ten_other' },
      { CS_ENVIRONMENT: 'production' },
      { CS_API_KEY: 'wrong' },
    ]) {
      const { denied, methods } = await new Auth0(file, { ...common, ...wrong }).continue('ada+match', url)
      expect([wrong, denied !== null, methods]).toEqual([wrong, true, []])
    }
  })
})

describe('docs/examples/ory', () => {
  interface Decision {
    step: string
    body: Record<string, unknown>
  }
  const decisions = new Map<string, Decision>()
  /** Hydra's admin API, as far as a login app uses it: one request for each challenge. */
  let hydra: Server
  let app: string

  beforeAll(async () => {
    hydra = createServer(async (request, response) => {
      const url = new URL(request.url!, 'http://hydra')
      const challenge = url.searchParams.get('login_challenge')!
      const [, action] = /^\/admin\/oauth2\/auth\/requests\/login(\/accept|\/reject)?$/.exec(url.pathname)!
      if (action !== undefined)
        decisions.set(challenge, {
          step: action,
          body: (await json(request)) as Record<string, unknown>,
        })
      const remembered = challenge.startsWith('remembered')
      const answer = action
        ? { redirect_to: `https://hydra.example/oauth2/auth?login_verifier=${challenge}` }
        : {
            ...{ challenge, client: { client_id: 'shop', client_name: 'Shop' } },
            ...{ skip: remembered, subject: remembered ? 'eve' : '' },
          }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => hydra.listen(0, '127.0.0.1', resolve))
    const { port } = hydra.address() as AddressInfo
    app = await start(['ory', 'login.mjs'], { HYDRA_ADMIN_URL: `http://127.0.0.1:${port}` })
    await allowReturn(running, tenant, { returnOrigins: [app] })
  })
  afterAll(() => void hydra?.close())

  const as = (user: string) => `user=${encodeURIComponent(user)}`
  const login = (user: string, challenge: string) =>
    step(`${app}/login?login_challenge=${challenge}`, as(user))

  it('accepts a request with the acr of an approval, once', async () => {
    const begun = await login('ory+match', 'one')
    const back = await confirm(begun.location)
    expect((await step(back, as('grace+match'))).status).toBe(404)
    expect((await step(back, as('ory+match'))).location).toBe(
      'https://hydra.example/oauth2/auth?login_verifier=one',
    )
    expect(decisions.get('one')).toEqual({
      step: '/accept',
      body: {
        ...{ subject: 'ory+match', acr: 'urn:countersign:acr:face-active', amr: ['face'], remember: false },
        context: { verdict: expect.stringMatching(/^ey/) },
      },
    })
    expect((await step(back, as('ory+match'))).status).toBe(404)
  })

  it('rejects a request of a person who is rejected, comes back in another browser, is not enrolled, or is not whom Hydra remembers', async () => {
    const begun = await login('eve+no_match', 'rejected')
    await step(await confirm(begun.location), as('eve+no_match'))
    const elsewhere = await login('ada+match', 'elsewhere')
    await step(withoutProof(await confirm(elsewhere.location)), as('ada+match'))
    await login('nobody', 'unknown')
    await login('ada+match', 'remembered')
    for (const challenge of ['rejected', 'elsewhere', 'unknown', 'remembered'])
      expect([challenge, decisions.get(challenge)?.step]).toEqual([challenge, '/reject'])
  })

  it('asks nobody who has not signed in', async () => {
    expect((await step(`${app}/login?login_challenge=two`)).status).toBe(401)
    expect(decisions.has('two')).toBe(false)
  })
})
