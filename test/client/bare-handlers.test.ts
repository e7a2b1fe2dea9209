/** Errors of the SDK that reach a web framework's own error handler: it answers 500, and with no status of the service's. */

import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  type CountersignError,
  SignatureError,
  TimeoutError,
  UnexpectedResponseError,
  VerdictError,
} from '../../clients/node/index.js'

/** The one that the OpenID provider runs on. */
const Koa = createRequire(import.meta.resolve('oidc-provider'))('koa') as typeof import('koa')

const SECRET_TEXT = 'The key sk-tenant-7 is not well-formed.'
const refusal = (status: number) =>
  new ApiError(
    { error: 'authentication_failed', code: 'malformed_api_key', message: SECRET_TEXT, request_id: 'r' },
    { status, retryAfterSeconds: 7, verified: false },
  )
const effort = { attempts: 1, elapsedMs: 1, cause: new Error('cause') }
/** Made again for each use: a framework may write on the error that it handles. */
const errors = (): Array<[string, CountersignError]> => [
  ...[401, 404, 422, 429, 503].map((status): [string, CountersignError] => [`a ${status}`, refusal(status)]),
  ['an answer of something else', new UnexpectedResponseError(307)],
  ['no connection', new ConnectionError(SECRET_TEXT, effort)],
  ['no answer in time', new TimeoutError(SECRET_TEXT, effort)],
  ['a forged answer', new SignatureError('signature_invalid', SECRET_TEXT)],
  ['a refused verdict', new VerdictError('expired', SECRET_TEXT)],
]

/** Answers one request by a listener of node:http. */
async function ask(listener: RequestListener): Promise<Response> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return new Response(await response.text(), response)
  } finally {
    server.close()
  }
}

const FRAMEWORKS: Record<string, (error: Error) => Promise<Response>> = {
  Express: (error) => {
    const app = express()
    app.set('env', 'production')
    app.get('/', () => Promise.reject(error))
    return ask(app)
  },
  Koa: (error) => {
    const app = new Koa()
    app.silent = true
    app.use(() => Promise.reject(error))
    return ask(app.callback())
  },
  Hono: async (error) => new Hono().get('/', () => Promise.reject(error)).request('/'),
  Fastify: async (error) => {
    const app = Fastify()
    app.get('/', () => Promise.reject(error))
    const { statusCode, headers, body } = await app.inject('/')
    return new Response(body, { status: statusCode, headers: headers as Record<string, string> })
  },
}

it.each(Object.keys(FRAMEWORKS))('%s answers 500, and not what the service answered', async (framework) => {
  for (const [what, error] of errors()) {
    const response = await FRAMEWORKS[framework]!(error)
    expect([what, response.status]).toEqual([what, 500])
    expect(response.headers.get('retry-after')).toBeNull()
    // Fastify sends the text of every error: its guide sets a handler of its own.
    if (framework !== 'Fastify') expect(await response.text()).not.toContain(SECRET_TEXT)
  }
})

it.each(errors())('has no member that a framework reads as its own answer: %s', (_what, error) => {
  for (const name of ['status', 'statusCode', 'expose', 'headers', 'output', 'getResponse', 'toJSON'])
    expect(name in error, name).toBe(false)
  expect(Object.keys(error)).not.toContain('httpStatus')
  expect(JSON.stringify(error)).not.toContain(SECRET_TEXT)
})

it('says the status of the service where a program asks for it', () => {
  expect(refusal(429).httpStatus).toBe(429)
  expect(new UnexpectedResponseError(307).httpStatus).toBe(307)
})
