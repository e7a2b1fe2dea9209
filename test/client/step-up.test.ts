import { createHash } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stepUp as expressStepUp } from '../../clients/node/express.js'
import { stepUp as fastifyStepUp, verdictOf } from '../../clients/node/fastify.js'
import { stepUp as honoStepUp } from '../../clients/node/hono.js'
import { createStepUp } from '../../clients/node/index.js'
import { plain } from '../support/images.js'
import { sandboxSdk } from '../support/sdk.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const photo = await plain()
const countersign = sandboxSdk(running, await running.tenant())

interface Settings {
  acr?: string[]
  maxAgeSeconds?: number
}

/** An application with one protected route, `POST /transfers`; who is signed in stands in `X-User`. */
interface App {
  send(headers: Record<string, string>, body: unknown): Promise<Response>
  stop(): Promise<unknown>
}

/** The facts of a transfer that the verdict is bound to. A nonce binds it to a session too. */
const actionOf = (body: unknown) => ({ type: 'transfer', ...(body as object) })
const BROKEN_USER = 'broken'
function userOf(user: string | undefined): string | undefined {
  if (user === BROKEN_USER) throw new Error('no session store')
  return user
}

const FRAMEWORKS: Record<string, (settings: Settings) => Promise<App>> = {
  async Express(settings) {
    const app = express()
    app.post(
      '/transfers',
      express.json(),
      expressStepUp({
        verifier: countersign,
        user: (request) => userOf(request.get('x-user')),
        action: (request) => actionOf(request.body),
        nonce: (request) => request.get('x-session') ?? '',
        ...settings,
      }),
      (_request, response) => void response.json({ done: response.locals.verdict.jti }),
    )
    app.use(
      ((_error, _request, response, _next) => void response.sendStatus(500)) as express.ErrorRequestHandler,
    )
    const server: Server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/transfers`
    return {
      send: (headers, body) => post(fetch, url, headers, body),
      stop: () => new Promise((resolve) => server.close(resolve)),
    }
  },

  async Fastify(settings) {
    const app = fastify()
    const preHandler = fastifyStepUp({
      verifier: countersign,
      user: (request) => userOf(request.headers['x-user'] as string | undefined),
      action: (request) => actionOf(request.body),
      nonce: (request) => (request.headers['x-session'] as string | undefined) ?? '',
      ...settings,
    })
    app.post('/transfers', { preHandler }, async (request) => ({ done: verdictOf(request).jti }))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      send: (headers, body) => post(fetch, `${url}/transfers`, headers, body),
      stop: () => app.close(),
    }
  },

  async Hono(settings) {
    const app = new Hono()
    const protect = honoStepUp({
      verifier: countersign,
      user: (context) => userOf(context.req.header('x-user')),
      action: async (context) => actionOf(await context.req.json()),
      nonce: (context) => context.req.header('x-session') ?? '',
      ...settings,
    })
    app.post('/transfers', protect, (context) => context.json({ done: context.var.verdict.jti }))
    app.onError((_error, context) => context.text('failed', 500))
    const handle = async (url: string | URL | Request, init?: RequestInit) => app.request(url as string, init)
    return {
      send: (headers, body) => post(handle, 'http://app.test/transfers', headers, body),
      stop: async () => {},
    }
  },
}

function post(
  send: typeof fetch,
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Response> {
  return send(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Session': 's-1', ...headers },
    body: JSON.stringify(body),
  })
}

const USER = 'ada+match'
const TRANSFER = { amount: '1250.00', to: 'Grace' }
const ada = (jwt?: string): Record<string, string> => ({
  'X-User': USER,
  ...(jwt ? { 'X-Step-Up-Verdict': jwt } : {}),
})

// biome-ignore lint/suspicious/noExplicitAny: a refusal's body, looked into freely
type Refusal = any

async function verdictFor(challenge: Refusal, user = USER): Promise<string> {
  const { action, nonce } = challenge
  return (await countersign.verify({ user_id: user, image: photo, action, nonce })).jwt
}

for (const [name, startApp] of Object.entries(FRAMEWORKS))
  describe(`step-up on a route of ${name}`, () => {
    let app: App
    let strict: App
    let challenge: Refusal

    beforeAll(async () => {
      app = await startApp({})
      strict = await startApp({ acr: ['urn:countersign:acr:other'], maxAgeSeconds: 60 })
      challenge = ((await (await app.send(ada(), TRANSFER)).json()) as Refusal).challenge
    })
    afterAll(async () => {
      await app?.stop()
      await strict?.stop()
    })

    it('challenges a request without a verdict, as RFC 9470 has it', async () => {
      const response = await app.send(ada(), TRANSFER)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(
        'Bearer error="insufficient_user_authentication", error_description="This action must be countersigned.", acr_values="' +
          'urn:countersign:acr:face-active-pad urn:countersign:acr:face-active ' +
          'urn:countersign:acr:face-active-turn-pad urn:countersign:acr:face-active-turn ' +
          'urn:countersign:acr:face-active-nod-pad urn:countersign:acr:face-active-nod ' +
          'urn:countersign:acr:face-no-motion-pad urn:countersign:acr:face-pad ' +
          'urn:countersign:acr:face-no-motion urn:countersign:acr:face"',
      )
      expect(response.headers.get('cache-control')).toBe('no-store')
      const hash = createHash('sha256').update('{"amount":"1250.00","to":"Grace","type":"transfer"}')
      expect(await response.json()).toEqual({
        error: 'insufficient_user_authentication',
        message: 'This action must be countersigned.',
        challenge: {
          action: { type: 'transfer', ...TRANSFER },
          action_hash: hash.digest('hex'),
          nonce: 's-1',
          header: 'X-Step-Up-Verdict',
        },
      })
    })

    it('lets a countersigned request through, once', async () => {
      const jwt = await verdictFor(challenge)
      const done = await app.send(ada(jwt), TRANSFER)
      expect(done.status).toBe(200)
      expect(await done.json()).toEqual({ done: expect.stringMatching(/^ver_/) })
      const again = await app.send(ada(jwt), TRANSFER)
      expect(again.status).toBe(401)
      expect(await again.json()).toMatchObject({ code: 'already_used', challenge })
    })

    it('challenges a verdict for another amount, or of another session', async () => {
      const jwt = await verdictFor(challenge)
      const dearer = await app.send(ada(jwt), { ...TRANSFER, amount: '9999.00' })
      expect([dearer.status, ((await dearer.json()) as Refusal).code]).toEqual([401, 'wrong_action'])
      const elsewhere = await app.send({ ...ada(jwt), 'X-Session': 's-2' }, TRANSFER)
      expect([elsewhere.status, ((await elsewhere.json()) as Refusal).code]).toEqual([401, 'wrong_nonce'])
      expect((await app.send(ada(jwt), TRANSFER)).status).toBe(200)
    })

    it('forbids with a rejection, and with the verdict of somebody else', async () => {
      const rejected = await app.send(
        { ...ada(await verdictFor(challenge, 'eve+no_match')), 'X-User': 'eve+no_match' },
        TRANSFER,
      )
      expect(rejected.status).toBe(403)
      expect(rejected.headers.get('www-authenticate')).toContain('insufficient_user_authentication')
      expect(await rejected.json()).toMatchObject({ code: 'not_approved', reason: 'no_match' })
      const stolen = await app.send({ ...ada(await verdictFor(challenge)), 'X-User': 'eve' }, TRANSFER)
      expect([stolen.status, ((await stolen.json()) as Refusal).code]).toEqual([403, 'wrong_user'])
    })

    it('forbids with a verdict that is not valid yet, since a new one could not be either', async () => {
      const jwt = await verdictFor(challenge)
      running.clock.advance(-65_000)
      const refused = await app.send(ada(jwt), TRANSFER)
      running.clock.advance(65_000)
      // Nothing asks for the face again: a page that steps up at a challenge would do so for ever.
      expect(refused.headers.get('www-authenticate')).toBeNull()
      expect([refused.status, await refused.json()]).toEqual([
        403,
        {
          error: 'insufficient_user_authentication',
          code: 'not_yet_valid',
          message: expect.stringContaining(' s ahead of this machine'),
        },
      ])
    })

    it('asks for the contexts and the age that the route wants', async () => {
      const response = await strict.send(ada(await verdictFor(challenge)), TRANSFER)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain(
        'acr_values="urn:countersign:acr:other", max_age=60',
      )
      expect(((await response.json()) as Refusal).code).toBe('wrong_context')
    })

    it('answers 401 to a request without a signed-in user', async () => {
      const { 'X-User': _, ...nobody } = ada(await verdictFor(challenge))
      const response = await app.send(nobody, TRANSFER)
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({ error: 'unauthenticated', message: 'Sign in first.' })
    })

    it('does not take a failure of the application for an approval', async () => {
      const jwt = await verdictFor(challenge)
      const response = await app.send({ ...ada(jwt), 'X-User': BROKEN_USER }, TRANSFER)
      expect(response.status).toBe(500)
      expect((await app.send(ada(jwt), TRANSFER)).status).toBe(200)
    })
  })

it('refuses acr values that hold a quote', () => {
  const options = { verifier: countersign, user: () => 'u', action: () => 'x' }
  for (const acr of ['a"b', 'a\\b', 'a\r\nSet-Cookie: x'])
    expect(() => createStepUp({ ...options, acr: [acr] })).toThrow(TypeError)
})
