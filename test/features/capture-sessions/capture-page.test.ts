/** The hosted capture page over HTTP: its links, the conditions before the camera, and the outcomes of a capture. */
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { messagesIn } from '../../../clients/capture/capture-texts.js'
import { DISPLAY_LOCALES } from '../../../src/contract/locales.js'
import {
  capturePageReader,
  captureSessionReader,
} from '../../../src/features/capture-sessions/capture-tables.js'
import { expectInvalid, expectRefusal } from '../../support/answers.js'
import {
  ACTION,
  allowReturn,
  askForSession,
  lookAt,
  newPerson,
  newSession,
  RETURN_ORIGIN,
  Visitor,
} from '../../support/capture-page.js'
import { takes } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { withDatabase } from '../../support/database.js'
import { base64, face } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import {
  serviceOfTest,
  startService,
  type TestService,
  type TestTenant,
  WITH_PAGE,
  WITH_PATIENT_PAGE,
} from '../../support/service.js'
import { overTransports } from '../../support/transports.js'
import { decodeJwt } from '../../support/trust.js'

overTransports((transport) => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient

  beforeAll(async () => {
    running = await startService({ ...WITH_PATIENT_PAGE, COUNTERSIGN_HTTP: transport })
    tenant = await running.tenant()
    await allowReturn(running, tenant, { company: 'Bank <of> Ada' })
    production = await running.production(tenant)
  })
  afterAll(() => running?.stop())

  const session = (fields: Record<string, unknown> = {}, client = tenant.sandbox) =>
    newSession(client, fields)
  const look = (id: string) => lookAt(tenant.sandbox, id)

  describe('a capture session', () => {
    it('has a link that is shown once and is valid for a quarter of an hour', async () => {
      const { asked } = await session({ user_id: 'hosted-told+match' })
      expect(asked).toEqual({
        session_id: expect.stringMatching(/^cap_[0-9a-f]{32}$/),
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/capture\/cap_[0-9a-f]{32}\.[\w-]{43}$/),
        user_id: 'hosted-told+match',
        confirmation_code: null,
        purpose: 'verify',
        browser: 'any',
        expires_at: new Date(running.clock.now() + 900_000).toISOString(),
      })
      const nothing = { attempts: 0, consent: null, result: null }
      expect(await look(asked.session_id)).toMatchObject({ status: 'open', ...nothing })
    })

    it('is the same one with the same link and code where its request is repeated', async () => {
      const fields = { user_id: newPerson(), action: ACTION, return_url: RETURN_ORIGIN, confirmation: 'code' }
      const ask = () =>
        tenant.sandbox.call('POST', '/v1/capture-sessions', fields, {
          headers: { 'X-Svc-Idempotency-Key': fields.user_id },
        })
      const first = await ask()
      const second = await ask()
      expect([second.status, second.text]).toEqual([201, first.text])
      expect(second.headers.get('x-svc-idempotent-replay')).toBe('true')
    })

    it.each([
      ...['https://evil.example/', 'http://bank.example/', 'https://ada@bank.example/'],
      ...['javascript:alert(1)', '/transfers'],
    ])('does not lead back to %s', async (return_url) => {
      const asked = askForSession(tenant.sandbox, { user_id: newPerson(), return_url })
      await expectRefusal(asked, 422, 'return_url_not_allowed')
    })

    it.each([
      ['description', { description: 'Pay 9.00 to \u202eYCARG\u202c' }],
      ['description', { description: 'Pay Gra\u200bce' }],
      ['consent.text', { consent: { id: '1', text: 'I do \u2066not\u2069 agree' } }],
      ['consent.id', { consent: { id: '1\u200b', text: 'I agree' } }],
      ['user_id', { user_id: 'ada\u200b', purpose: 'enroll', action: undefined }],
    ])('is refused when `%s` holds deceptive characters: %j', async (path, fields) => {
      await expectInvalid(askForSession(tenant.sandbox, { user_id: newPerson(), ...fields }), path)
    })

    it('is refused for a user who cannot be verified or is already enrolled', async () => {
      const ask = (fields: Record<string, unknown>) => askForSession(tenant.sandbox, fields)
      expect((await ask({ user_id: 'hosted-nobody' })).body.code).toBe('reference_not_found')
      await expectRefusal(ask({ user_id: newPerson('+locked_out') }), 409, 'locked_out')
      const user_id = newPerson('')
      await tenant.sandbox.enroll({ user_id, image: blank })
      const enrolled = { user_id, purpose: 'enroll', action: undefined }
      expect((await ask(enrolled)).body.code).toBe('already_enrolled')
      expect((await ask({ ...enrolled, replace: true })).status).toBe(201)
    })

    it('cannot be created when the hosted page is not configured', async () => {
      const without = await serviceOfTest()
      const { sandbox } = await without.tenant()
      await expectRefusal(askForSession(sandbox, { user_id: newPerson() }), 422, 'capture_page_unavailable')
    })

    it('is not visible to another tenant', async () => {
      const { id } = await session()
      const other = await running.tenant()
      for (const client of [other.sandbox, production])
        expect((await client.call('GET', `/v1/capture-sessions/${id}`)).body.code).toBe(
          'capture_session_not_found',
        )
    })

    it('reveals neither its request nor its link in the database', async () => {
      const user_id = 'hosted-secret+match'
      const { visitor, id } = await session({ user_id, description: 'Pay Grace' })
      await visitor.open()
      withDatabase(running, (database) => {
        const row = database.prepare('SELECT * FROM capture_session WHERE id = ?').get(id) as object
        const text = Object.values(row)
          .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
          .join(' ')
        for (const secret of [user_id, 'Pay Grace', 'bank.example', visitor.url.split('.').at(-1)!])
          expect(text).not.toContain(secret)
      })
    })

    it('is deleted with the erasure of its user', async () => {
      const user_id = newPerson('')
      await tenant.sandbox.enroll({ user_id, image: blank })
      const { id, visitor } = await session({ user_id })
      await tenant.sandbox.erase(user_id)
      expect((await look(id)).code).toBe('capture_session_not_found')
      expect((await visitor.open()).status).toBe(404)
    })

    it('ends when its API key is revoked or its tenant is suspended', async () => {
      const other = await running.tenant()
      await allowReturn(running, other)
      const { visitor } = await session({}, other.sandbox)
      await visitor.enter()
      const { tenancy, store } = running.service.core
      const record = await other.record()
      await store.transaction('installation', (tx) => tenancy.reissueKey(tx, record, 'sandbox', 0, null))
      expect((await visitor.open()).status).toBe(410)
      expect((await visitor.post('challenge')).status).toBe(401)
    })
  })

  describe('the link of a capture session', () => {
    it('opens in one browser, any number of times, and in no other', async () => {
      const { visitor, id } = await session()
      expect((await visitor.open()).status).toBe(200)
      expect((await look(id)).status).toBe('in_progress')
      expect((await visitor.open()).status).toBe(200)
      const other = new Visitor(visitor.url)
      const refused = await other.open({ 'Accept-Language': 'de-CH,en' })
      expect(refused.status).toBe(403)
      expect(refused.text).toContain('bereits in einem anderen Browser')
      expect(refused.text).toContain(
        '<title>Bereits in einem anderen Browser geöffnet – Bank &lt;of&gt; Ada</title>',
      )
      expect(refused.text).toContain('<h1>Bereits in einem anderen Browser geöffnet</h1>')
      // The link leads to the customer and not into the session.
      expect(refused.text).toContain('<bdi>Bank &lt;of&gt; Ada</bdi>')
      expect(refused.text).toContain(`href="${RETURN_ORIGIN}/"`)
      expect(refused.text).not.toContain(id)
      expect((await other.begin()).body).toEqual({ code: 'opened_elsewhere' })
      expect((await other.begin()).headers.getSetCookie()).toEqual([])
      expect((await other.agree()).status).toBe(403)
      expect((await other.status()).status).toBe(403)
    })

    it('is not used up by a program that looks at it, which learns nothing of the session', async () => {
      const { visitor, id } = await session({ description: 'Pay Grace' })
      const looked = await visitor.look()
      expect([looked.status, looked.headers.getSetCookie()]).toEqual([200, []])
      const text = await looked.text()
      for (const secret of ['Pay Grace', id, RETURN_ORIGIN]) expect(text).not.toContain(secret)
      expect((await visitor.post('begin', {}, { Origin: 'https://evil.example' })).status).toBe(403)
      expect((await look(id)).status).toBe('open')
      expect((await visitor.open({ 'Sec-Purpose': 'prefetch;prerender' })).status).toBe(503)
      expect((await fetch(visitor.url, { method: 'HEAD' })).status).toBe(405)
      expect((await look(id)).status).toBe('open')
      expect((await visitor.open()).status).toBe(200)
    })

    it('expires, and then says where to begin again', async () => {
      const { visitor, id } = await session()
      await visitor.open()
      running.clock.advance(900_000)
      const { status, text } = await visitor.open()
      expect(status).toBe(410)
      expect(text).toContain(`href="${RETURN_ORIGIN}/transfers/7?tab=1&amp;capture_session=${id}"`)
      expect(text).toContain('<h1>This link has expired</h1>')
      expect((await visitor.agree()).status).toBe(410)
      expect((await look(id)).status).toBe('expired')
    })

    it('is bound to the browser by a cookie that scripts cannot read', async () => {
      const { visitor, id } = await session()
      const [cookie] = (await visitor.begin()).headers.getSetCookie()
      expect(cookie).toMatch(
        new RegExp(`^${id}_page=[\\w-]{43}; Path=/; Max-Age=900; HttpOnly; SameSite=Lax$`),
      )
    })

    it('can be handed over to a phone by a link that is single-use as well', async () => {
      const { visitor } = await session()
      await visitor.open()
      const { body } = await visitor.post('phone')
      expect(body.url).toMatch(/\/capture\/cap_[0-9a-f]{32}\.[\w-]{43}$/)
      expect(body.code).toMatch(/^data:image\/svg\+xml;base64,/)
      const phone = new Visitor(body.url)
      expect((await phone.open()).status).toBe(200)
      expect((await new Visitor(body.url).open()).status).toBe(403)
      expect((await phone.post('phone')).status).toBe(409)
    })
  })

  describe('the hosted page', () => {
    it('has no inline or foreign content, and is kept out of caches, frames and referrers', async () => {
      const { visitor } = await session()
      const { headers, text } = await visitor.open()
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      )
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('permissions-policy')).toContain('camera=(self)')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(text).not.toMatch(/<script(?![^>]* src="\/)|<style| style=| on\w+="|https?:\/\//)
      const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!)
      expect(links.length).toBe(3)
      for (const path of links) expect((await fetch(new URL(path, visitor.url))).status).toBe(200)
    })

    it('says who asks for what in the requested language, and marks the sandbox as a test', async () => {
      const { visitor } = await session({ description: 'Pay <Grace>', locale: 'de' })
      const { text } = await visitor.open()
      expect(text).toContain('<html lang="de">')
      for (const said of [
        '<bdi>Bank &lt;of&gt; Ada</bdi> bittet Sie',
        '<bdi>Pay &lt;Grace&gt;</bdi>',
        'Testmodus: Hier wird nichts',
        '<title>Bestätigen Sie, dass Sie es sind – Bank &lt;of&gt; Ada</title>',
      ])
        expect(text).toContain(said)
      // The description stands above every step, not only above the consent.
      expect(text.indexOf('Pay &lt;Grace&gt;')).toBeLessThan(text.indexOf('<section'))
      const fallback = await session()
      expect((await fallback.visitor.open({ 'Accept-Language': 'fr-FR,fr;q=0.9' })).text).toContain(
        '<html lang="fr">',
      )
    })

    it('refuses requests from a page of another origin', async () => {
      const { visitor } = await session()
      await visitor.open()
      for (const Origin of ['https://evil.example', 'null'])
        expect((await visitor.post('consent', { agree: true }, { Origin })).status).toBe(403)
      expect((await visitor.status()).body).toEqual({ state: 'open' })
    })

    it('is the only content of its listener', async () => {
      const { origin } = new URL((await session()).visitor.url)
      const hidden = [
        '/',
        '/v1/health',
        '/metrics',
        '/assets/../package.json',
        '/assets/capture/capture.d.ts',
      ]
      for (const path of hidden) expect((await fetch(origin + path)).status).toBe(404)
      expect((await fetch(`${origin}/assets/page.css`, { method: 'POST' })).status).toBe(405)
    })
  })

  describe('behind a proxy that ends TLS', () => {
    let secure: TestService
    let framed: TestTenant
    beforeAll(async () => {
      secure = await startService({
        ...{ ...WITH_PAGE, COUNTERSIGN_HTTP: transport, COUNTERSIGN_CAPTURE_URL: PUBLIC },
      })
      framed = await secure.tenant()
      await allowReturn(secure, framed, { frameAncestors: ['https://app.bank.example'] })
    })
    afterAll(() => secure?.stop())

    const PUBLIC = 'https://capture.bank.example'
    /** A visitor whose requests carry the headers of the proxy. */
    async function visitorOf(client: ApiClient) {
      const { body } = await askForSession(client, { user_id: newPerson() })
      expect(body.url).toMatch(/^https:\/\/capture\.bank\.example\/capture\/cap_/)
      const { host, port } = secure.service.addresses.capture!
      return new Visitor(body.url.replace(PUBLIC, `http://${host}:${port}`), PUBLIC)
    }

    it('the cookie cannot be set by another host of the domain, and browsers return only over https', async () => {
      const tenant = await secure.tenant()
      await allowReturn(secure, tenant)
      const { headers } = await (await visitorOf(tenant.sandbox)).begin()
      expect(headers.getSetCookie()[0]).toMatch(
        /^__Host-cap_[0-9a-f]{32}_page=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
      )
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    })

    it('the page may be framed by the origins that the tenant names, and its cookie is partitioned by the framing site', async () => {
      const visitor = await visitorOf(framed.sandbox)
      const { headers } = await visitor.begin()
      const policy = (await visitor.open()).headers.get('content-security-policy')
      expect(policy).toContain('frame-ancestors https://app.bank.example;')
      expect(headers.getSetCookie()[0]).toMatch(/; HttpOnly; Secure; SameSite=None; Partitioned$/)
      expect((await visitor.agree()).body).toEqual({ state: 'open' })
    })
  })

  describe('on the hosted page', () => {
    it('a challenge is refused before consent, and frames are refused before a challenge', async () => {
      const { visitor, id } = await session()
      await visitor.open()
      expect((await visitor.post('challenge')).status).toBe(409)
      expect((await visitor.post('consent', { agree: false })).status).toBe(400)
      // An agreement that does not name the text is refused.
      expect((await visitor.post('consent', { agree: true })).status).toBe(400)
      expect((await visitor.agree()).body).toEqual({ state: 'open' })
      expect((await look(id)).consent).toEqual({
        id: 'countersign-2.verify.en',
        agreed_at: new Date(running.clock.now()).toISOString(),
      })
      const frames = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: index * 200, image: blank }))
      expect((await visitor.post('frames', { frames })).status).toBe(409)
    })

    it('an approval ends the session, and the backend gets the verdict for the action and the session', async () => {
      const { visitor, id, asked } = await session()
      await visitor.enter()
      const { body } = await visitor.capture(blank)
      expect(body).toEqual({
        state: 'over',
        return_url: `${RETURN_ORIGIN}/transfers/7?tab=1&capture_session=${id}`,
      })
      const { status, attempts, result } = await look(id)
      expect([status, attempts, result.status]).toEqual(['completed', 1, 200])
      expect(result.body).toMatchObject({ verdict: 'approved', user_id: asked.user_id })
      const { claims, valid } = decodeJwt(result.body.jwt, tenant.secret.secret)
      expect(valid).toBe(true)
      expect(claims).toMatchObject({ action: ACTION, nonce: id })
      const after = await visitor.open()
      expect([after.status, after.text.includes('capture_session=')]).toEqual([200, true])
      expect((await visitor.capture(blank)).body.state).toBe('over')
    })

    it('a failed capture leads to advice, and the third failure ends the session', async () => {
      const { visitor, id } = await session({ user_id: newPerson('+too_dark') })
      await visitor.enter()
      const left = [null, 'You have two more tries.', 'You have one more try.']
      for (const attempts of [1, 2]) {
        expect((await visitor.capture(blank)).body).toEqual({
          state: 'again',
          message: `That did not work. It is too dark. Turn to the light. ${left[attempts]}`,
        })
        expect(await look(id)).toMatchObject({ status: 'in_progress', attempts })
      }
      expect((await visitor.capture(blank)).body).toMatchObject({ state: 'over', ending: 'refused' })
      // A page that is loaded again says so as well.
      expect((await visitor.open()).text).toContain('you have no more tries')
      const { status, result } = await look(id)
      expect([status, result.body.verdict, result.body.reason]).toEqual([
        'completed',
        'rejected',
        'liveness_failed',
      ])
    })

    it.each(DISPLAY_LOCALES)(
      'the advice on a failed capture is that of the component in %s',
      async (locale) => {
        const { visitor } = await session({ user_id: newPerson('+too_dark'), locale })
        await visitor.enter()
        const { message } = (await visitor.capture(blank)).body
        expect(message).toContain(messagesIn(locale).too_dark)
      },
    )

    it('three tries are judged, whether captures arrive one by one or five at the same time', async () => {
      const { visitor, id } = await session({ user_id: newPerson('+no_match') })
      await visitor.enter()
      const begun: Array<() => Promise<number>> = []
      for (let each = 0; each < 5; each++) begun.push(await visitor.beginCapture(blank))
      const statuses = await Promise.all(begun.map((finish) => finish()))
      const judged = statuses.filter((status) => status === 200).length
      expect(judged).toBeGreaterThan(0)
      expect(judged).toBeLessThanOrEqual(3)
      expect((await look(id)).attempts).toBe(judged)
      for (let each = judged; each < 3; each++) await visitor.capture(blank)
      expect(await look(id)).toMatchObject({ status: 'completed', attempts: 3 })
      expect((await visitor.capture(blank)).body.state).toBe('over')
    })

    it('a try is given back when the capture could not be judged', async () => {
      const { visitor, id } = await session({ user_id: newPerson('+challenge_expired') })
      await visitor.enter()
      for (let each = 0; each < 4; each++) expect((await visitor.capture(blank)).body.state).not.toBe('over')
      expect(await look(id)).toMatchObject({ status: 'in_progress', attempts: 0 })
    })

    it.each(['+flat', '+no_match', '+spoof'])(
      'the reason why %s was refused is not revealed',
      async (suffix) => {
        const { visitor } = await session({ user_id: newPerson(suffix) })
        await visitor.enter()
        expect((await visitor.capture(blank)).body).toEqual({
          state: 'again',
          message: 'That did not work. Please try again. You have two more tries.',
        })
      },
    )

    it('a user who was locked out meanwhile sees this before the camera starts, with a way back', async () => {
      const user_id = newPerson('')
      await tenant.sandbox.enroll({ user_id, image: blank })
      const opened = await session({ user_id })
      await opened.visitor.open()
      const unopened = await session({ user_id })
      const { store, vault } = running.service.core
      const { subject } = (await store.read.subject(vault.blindIndex(tenant.id, 'sandbox', user_id)))!
      const lockedUntil = running.clock.now() + 60_000
      await store.transaction('installation', (tx) =>
        tx.setLockout(subject.id, { failures: 10, lockedUntil, disabledAt: null }),
      )
      const over = { state: 'over', ending: 'locked_out' }
      expect((await opened.visitor.agree()).body).toMatchObject(over)
      for (const { visitor, id } of [opened, unopened]) {
        const { text } = await visitor.open()
        expect(text).toContain('<h1>Not confirmed</h1>')
        expect(text).toContain('your face cannot be checked for a while')
        expect(text).toContain(`capture_session=${id}">Back to <bdi>Bank`)
        expect(text).not.toContain('countersign-capture')
        const nothing = { attempts: 0, consent: null, result: null }
        expect(await look(id)).toMatchObject({ status: 'completed', ...nothing })
      }
    })

    it('frames that are no pictures are refused and cost no try', async () => {
      const { visitor, id } = await session()
      await visitor.enter()
      await visitor.post('challenge')
      expect((await visitor.post('frames', { frames: [] })).status).toBe(400)
      expect((await visitor.post('frames', '{')).status).toBe(400)
      expect((await visitor.post('frames', '{}', { 'Content-Type': 'text/plain' })).status).toBe(415)
      expect((await look(id)).attempts).toBe(0)
    })

    it('a body larger than the API accepts is refused', async () => {
      const { visitor } = await session()
      await visitor.enter()
      await visitor.post('challenge')
      const image = 'A'.repeat(1_000_000)
      const frames = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: index * 200, image }))
      const refused = await visitor.post('frames', { frames }).catch(() => null)
      // The listener may close the connection while the rest is in flight.
      if (refused) expect(refused.status).toBe(413)
      expect((await visitor.status()).body).toEqual({ state: 'open' })
    })

    it('a person who declines is led back, and nothing was captured', async () => {
      const { visitor, id } = await session()
      await visitor.open()
      expect((await visitor.post('cancel')).body).toEqual({
        state: 'over',
        return_url: `${RETURN_ORIGIN}/transfers/7?tab=1&capture_session=${id}`,
      })
      expect(await look(id)).toMatchObject({ status: 'cancelled', result: null })
    })

    it('an enrolment records the consent that was given', async () => {
      const user_id = newPerson('')
      const { visitor, id, asked } = await session({ user_id, purpose: 'enroll', action: undefined })
      await visitor.open()
      await visitor.type(asked.confirmation_code)
      await visitor.agree()
      expect((await visitor.capture(blank)).body.state).toBe('over')
      expect((await look(id)).result).toMatchObject({ status: 201, body: { status: 'enrolled', user_id } })
      const { body } = await tenant.sandbox.call('GET', `/v1/users/${encodeURIComponent(user_id)}`)
      expect(body.reference.consent).toMatchObject({ id })
    })
  })

  describe('guidance', () => {
    const ask = (visitor: Visitor, fields: Record<string, unknown> = {}) =>
      visitor.post('guidance', { image: blank, step: 'frontal', ...fields })
    const agreed = async (suffix: string) => {
      const { visitor } = await session({ user_id: newPerson(suffix) })
      await visitor.enter()
      return visitor
    }

    it('advises the person, in the name of the key that created the session', async () => {
      const visitor = await agreed('+too_dark')
      expect((await ask(visitor)).body).toEqual({ guidance: ['too_dark'] })
      expect((await ask(await agreed('+match'), { step: 'turn_left', frontal: blank })).body).toEqual({
        guidance: [],
      })
    })

    it('is refused before consent, from another browser and from another origin', async () => {
      const { visitor } = await session()
      await visitor.open()
      expect((await ask(visitor)).status).toBe(409)
      await visitor.agree()
      expect((await ask(new Visitor(visitor.url))).status).toBe(403)
      const foreign = { Origin: 'https://evil.example' }
      expect((await visitor.post('guidance', { image: blank, step: 'frontal' }, foreign)).status).toBe(403)
    })

    it('stores nothing, costs no try, and does not change the session', async () => {
      const { visitor, id } = await session()
      await visitor.enter()
      const { read } = running.service.core.store
      const before = [await look(id), await read.statements(captureSessionReader).one(id)]
      await ask(visitor)
      expect([await look(id), await read.statements(captureSessionReader).one(id)]).toEqual(before)
    })

    it('has its own limits: four questions at once, two a second, no large pictures', async () => {
      const visitor = await agreed('+match')
      const statuses: number[] = []
      for (let each = 0; each < 6; each++) statuses.push((await ask(visitor)).status)
      expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
      running.clock.advance(1000)
      statuses.length = 0
      for (let each = 0; each < 3; each++) statuses.push((await ask(visitor)).status)
      expect(statuses).toEqual([200, 200, 429])
      // Another session has its own limit.
      expect((await ask(await agreed('+match'))).status).toBe(200)
      running.clock.advance(1000)
      const large = await ask(visitor, { image: 'A'.repeat(600_000) }).catch(() => null)
      if (large) expect(large.status).toBe(413)
    })

    it('answers with an error code when the frame is no picture', async () => {
      const visitor = await agreed('+match')
      expect(await ask(visitor, { image: 'AAAA' })).toMatchObject({
        status: 422,
        body: { code: 'image_unreadable' },
      })
    })
  })

  describe('the text of the consent', () => {
    const texts = {
      first: { version: '2026-10', text: 'We use your face for this payment only.' },
      second: { version: '2026-11', text: 'We use your face for payments and for our research.' },
    }
    const enrolment = (fields: Record<string, unknown> = {}) => ({
      ...{ user_id: newPerson(''), purpose: 'enroll', action: undefined, confirmation: 'none' },
      ...fields,
    })
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
    const settle = (consent: { version: string; text: string } | undefined) =>
      allowReturn(running, tenant, { company: 'Bank <of> Ada', ...(consent ? { consent } : {}) })
    const consented = async (id: string) =>
      (await tenant.audit()).find((entry) => entry.capture_session === id)
    afterEach(() => settle(undefined))

    it('is recorded as it was shown: an agreement to a changed text is refused, and the page shows the new text', async () => {
      await settle(texts.first)
      const { visitor, id } = await session(enrolment(), production)
      expect((await visitor.open()).text).toContain(texts.first.text)
      await settle(texts.second)
      const refused = await visitor.agree()
      expect([refused.status, refused.body]).toEqual([409, { code: 'consent_changed' }])
      expect(await consented(id)).toBeUndefined()
      expect((await visitor.post('challenge')).status).toBe(409)

      expect((await visitor.open()).text).toContain(texts.second.text)
      expect((await visitor.agree()).body).toEqual({ state: 'open' })
      expect(await consented(id)).toMatchObject({
        event: 'capture_consented',
        consent_version: '2026-11',
        consent_sha256: hashOf(texts.second.text),
      })
    })

    it('is identified by hash and version: another text under the same version is refused', async () => {
      await settle(texts.first)
      const { visitor, id } = await session(enrolment(), production)
      await visitor.open()
      await settle({ version: texts.first.version, text: texts.second.text })
      expect((await visitor.agree()).status).toBe(409)
      expect((await visitor.agree({ version: '2026-12' })).status).toBe(409)
      expect(await consented(id)).toBeUndefined()
    })

    it('is stored once per tenant, for as long as the audit log that names its hash', async () => {
      await settle(texts.first)
      for (let person = 0; person < 2; person++) {
        const { visitor } = await session(enrolment(), production)
        await visitor.open()
        expect((await visitor.agree()).status).toBe(200)
        running.clock.advance(1000)
      }
      await settle(undefined)
      const { read } = running.service.core.store
      const hash = Buffer.from(hashOf(texts.first.text), 'hex')
      expect(await read.statements(capturePageReader).textsWith(tenant.id, hash)).toEqual([
        {
          tenantId: tenant.id,
          sha256: hash,
          ...texts.first,
          language: 'en',
          firstAgreedAt: running.clock.now() - 2000,
        },
      ])
      expect(await read.statements(capturePageReader).textsWith('ten_other', hash)).toEqual([])
    })

    it('is stored in the language in which the page showed its default text', async () => {
      const { visitor, id } = await session(enrolment({ locale: 'de' }), production)
      await visitor.open()
      expect((await visitor.agree()).status).toBe(200)
      const { consent_sha256 } = await consented(id)
      const [kept] = await running.service.core.store.read
        .statements(capturePageReader)
        .textsWith(tenant.id, Buffer.from(consent_sha256, 'hex'))
      expect(kept).toMatchObject({ version: 'countersign-2.enroll.de', language: 'de' })
      expect(hashOf(kept!.text)).toBe(consent_sha256)
    })
  })

  describe('the code of a link', () => {
    const wrong = (code: string) => (code === '000000' ? '111111' : '000000')
    const enrolment = () => ({ user_id: newPerson(''), purpose: 'enroll', action: undefined })

    it('is required before an enrolment, so that a stolen link enrols nobody', async () => {
      const { visitor, asked, id } = await session({ ...enrolment(), description: 'Set up for Ada' })
      expect(asked.confirmation_code).toMatch(/^\d{6}$/)
      const { text } = await visitor.open()
      expect(text).toContain('Please enter the code that')
      expect(text).not.toContain('Set up for Ada')
      for (const step of ['challenge', 'phone']) expect((await visitor.post(step)).status).toBe(409)
      expect((await visitor.agree()).status).toBe(409)
      expect((await visitor.type(wrong(asked.confirmation_code))).body).toEqual({
        state: 'code',
        message:
          'That is not the right code. Please check it: after five wrong codes, this link stops working.',
      })
      expect((await visitor.agree()).status).toBe(409)
      const { confirmation_code: code } = asked
      expect((await visitor.type(` ${code.slice(0, 3)}-${code.slice(3)}`)).body).toEqual({ state: 'open' })
      expect((await visitor.open()).text).toContain('Set up for Ada')
      await visitor.agree()
      expect((await visitor.capture(blank)).body.state).toBe('over')
      expect((await look(id)).result.status).toBe(201)
    })

    it('allows five guesses, one by one or all at the same time', async () => {
      const { visitor, asked, id } = await session(enrolment())
      await visitor.open()
      const guesses = await Promise.all(
        Array.from({ length: 20 }, () => visitor.type(wrong(asked.confirmation_code))),
      )
      expect(guesses.filter(({ body }) => body.state === 'code')).toHaveLength(4)
      expect((await visitor.type(asked.confirmation_code)).body).toMatchObject({
        state: 'over',
        ending: 'code',
      })
      expect((await visitor.open()).text).toContain('The code was wrong five times')
      expect(await look(id)).toMatchObject({ status: 'completed', attempts: 0, result: null })
    })

    it('is omitted when the backend says so, and is available for a verify', async () => {
      const without = await session({ ...enrolment(), confirmation: 'none' })
      expect(without.asked.confirmation_code).toBeNull()
      await without.visitor.open()
      expect((await without.visitor.agree()).status).toBe(200)
      const { visitor, asked } = await session({ confirmation: 'code' })
      await visitor.open()
      expect((await visitor.agree()).status).toBe(409)
      await visitor.type(asked.confirmation_code)
      expect((await visitor.agree()).status).toBe(200)
    })

    it('leads to an audit entry when every guess was wrong', async () => {
      const { visitor, asked, id } = await session(enrolment(), production)
      await visitor.open()
      for (let each = 0; each < 5; each++) await visitor.type(wrong(asked.confirmation_code))
      expect(await tenant.audit('capture_code_failed')).toMatchObject([
        { capture_session: id, purpose: 'enroll' },
      ])
    })
  })

  describe('in production', () => {
    it('the audit log has consent and verdict of the same session, and failures count for the lockout', async () => {
      const consent = { id: '2026-11', text: 'We compare your face.' }
      const user_id = newPerson('')
      const ada = base64(await face('ada'))
      expect((await production.enroll({ user_id, image: ada })).status).toBe(201)
      const { visitor, id } = await session({ user_id, consent, modes: [] }, production)
      const { text } = await visitor.open()
      expect(text).toContain(consent.text)
      await visitor.agree()
      expect((await visitor.capture(await takes(await face('grace')))).body.state).toBe('again')
      const entries = (await tenant.audit()).filter((entry) => entry.capture_session === id)
      expect(entries.map(({ event }) => event)).toEqual(['capture_consented', 'verify'])
      const [consented, verified] = entries
      expect(consented.subject).toBe(verified.subject)
      expect(consented).toMatchObject({
        consent_version: '2026-11',
        consent_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        purpose: 'verify',
      })
      expect(JSON.stringify(entries)).not.toContain(user_id)
      const { body: user } = await production.call('GET', `/v1/users/${encodeURIComponent(user_id)}`)
      expect(user.lockout.rejections).toBe(1)
    })
  })
})
