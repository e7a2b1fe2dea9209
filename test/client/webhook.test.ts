import { describe, expect, it } from 'vitest'
import {
  assertResponseSignature,
  type Environment,
  SignatureError,
  type SignedResponse,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookOptions,
} from '../../clients/node/index.js'
import { FakeCountersign } from '../../clients/node/testing.js'
import { signResponse } from '../../src/crypto/response-signature.js'
import { signWebhook } from '../../src/features/webhooks/webhook-signature.js'
import { expectCode } from '../support/answers.js'

const secret = { id: 'sec_1', secret: 'svc-sec-1' }
const NOW = 1_800_000_000
const event = { id: 'evt_1', type: 'webhook.test', created_at: '2026-01-31T12:00:00.000Z', data: {} }
const body = JSON.stringify(event)

function headers(
  changes: Partial<{
    environment: Environment
    timestamp: number
    eventId: string
    body: string
    secret: typeof secret
  }> = {},
) {
  const { environment = 'production', timestamp = NOW, eventId = 'evt_1' } = changes
  const { body: signed = body, secret: key = secret } = changes
  return {
    'X-Svc-Webhook-Id': eventId,
    'X-Svc-Signature': signWebhook({ environment, timestamp, eventId, body: Buffer.from(signed) }, [key]),
  }
}
const code = (made: Record<string, string>, raw = body, options: WebhookOptions = { now: NOW }) =>
  verifyWebhook(made, raw, secret, options).then(
    () => 'valid',
    (error) => (error instanceof SignatureError ? error.code : String(error)),
  )

it('accepts a webhook that the service signed, within five minutes', async () => {
  expect(await verifyWebhook(headers(), body, secret, { now: NOW })).toEqual(event)
  expect(await code(headers({ timestamp: NOW - 300 }))).toBe('valid')
  expect(await code(headers({ timestamp: NOW - 301 }))).toBe('signature_expired')
  expect(await code(headers({ timestamp: NOW + 301 }))).toBe('signature_expired')
  expect(
    await verifyWebhook(headers({ timestamp: 1 }), body, secret, {
      now: NOW,
      signatureToleranceSeconds: NOW,
    }),
  ).toEqual(event)
})

it('refuses another event under the id of this one, and another id', async () => {
  expect(await code({ ...headers(), 'X-Svc-Webhook-Id': 'evt_2' })).toBe('signature_invalid')
  expect(await code({ ...headers(), 'X-Svc-Signature': 't=1' })).toBe('signature_malformed')
  expect(await code(headers({ eventId: 'evt_2' }))).toBe('response_mismatch')
})

it('accepts a webhook only in the environment that signed it', async () => {
  const made = headers({ environment: 'sandbox' })
  expect(await code(made)).toBe('wrong_environment')
  expect(await code(made, body, { now: NOW, environment: 'sandbox' })).toBe('valid')
  expect(await code(headers(), body, { now: NOW, environment: 'sandbox' })).toBe('wrong_environment')
  const fake = new FakeCountersign()
  const sent = await fake.webhook('webhook.test', {})
  const inProduction = { apiKey: 'svc-prod-Fake' }
  await expectCode(fake.client(inProduction).verifyWebhook(sent.headers, sent.body), 'wrong_environment')
})

it('refuses the signature of a response as that of a webhook', async () => {
  const environment = 'production' as const
  const parts = {
    environment,
    timestamp: NOW,
    requestId: 'evt_1',
    status: 200,
    method: 'GET',
    target: '/',
    body,
  }
  expect(await code({ 'X-Svc-Webhook-Id': 'evt_1', 'X-Svc-Signature': signResponse(parts, [secret]) })).toBe(
    'signature_invalid',
  )
})

describe('headers of hosting adapters', () => {
  const id = 'evt_1'
  const signature = headers()['X-Svc-Signature']
  const asked = (held: Record<string, unknown>) => ({
    get: (name: string) => held[name.toLowerCase()] ?? null,
  })

  it.each<[string, WebhookHeaders]>([
    ['with lists of one', { 'X-Svc-Webhook-Id': [id], 'x-svc-signature': [signature] }],
    ['of the Web', new Headers(headers())],
    ['in a Map', new Map(Object.entries(headers()))],
    ['in pairs', Object.entries(headers())],
    ['in a class that has only get()', asked({ 'x-svc-webhook-id': id, 'x-svc-signature': signature })],
    ['from get() in lists of one', asked({ 'x-svc-webhook-id': [id], 'x-svc-signature': [signature] })],
  ])('are read %s', async (_form, given) => {
    expect(await verifyWebhook(given, body, secret, { now: NOW })).toEqual(event)
  })

  it.each<[string, string, unknown]>([
    [
      'several of one name',
      'signature_malformed',
      { ...headers(), 'X-Svc-Signature': [signature, signature] },
    ],
    ['two spellings of one name', 'signature_malformed', { ...headers(), 'x-svc-signature': signature }],
    ['an empty list', 'signature_missing', { 'X-Svc-Webhook-Id': id, 'X-Svc-Signature': [] }],
    ['none at all', 'signature_missing', {}],
    ['undefined', "TypeError: headers must be the request's headers", undefined],
    ['a text', "TypeError: headers must be the request's headers", signature],
  ])('are refused where they are %s', async (_form, refusal, given) => {
    expect(await code(given as Record<string, string>)).toBe(refusal)
  })

  it('may be lists of one where they are those of a response', async () => {
    const parts = {
      environment: 'production',
      requestId: 'r-1',
      status: 200,
      method: 'GET',
      target: '/',
    } as const
    const signed = signResponse({ ...parts, timestamp: NOW, body }, [secret])
    const check = (given: Pick<SignedResponse, 'signature' | 'requestId'>) =>
      assertResponseSignature({ ...parts, body: Buffer.from(body), ...given }, [secret], { now: NOW })
    await check({ signature: [signed], requestId: ['r-1'] })
    await expectCode(check({ signature: [signed, signed], requestId: 'r-1' }), 'signature_malformed')
  })
})

it.each([
  ['text', (text: string) => text],
  ['bytes', (text: string) => Buffer.from(text)],
])('names base64 as the cause where the body was passed as base64 in %s', async (_form, make) => {
  const encoded = make(Buffer.from(body).toString('base64'))
  await expect(verifyWebhook(headers(), encoded, secret, { now: NOW })).rejects.toMatchObject({
    code: 'signature_invalid',
    message: expect.stringContaining('isBase64Encoded'),
  })
})

it('throws a TypeError for a body that was parsed', async () => {
  await expect(verifyWebhook(headers(), event as never, secret)).rejects.toThrow(/raw body/)
})

it('accepts the webhooks of the service in memory', async () => {
  const fake = new FakeCountersign()
  const { headers, body, event } = await fake.webhook('user.locked_out', {
    user_id: 'ada',
    rejections: 5,
    ends_at: '2026-01-31T12:00:00.000Z',
  })
  expect(await fake.client().verifyWebhook(headers, body)).toEqual(event)
  fake.clock.advance(301_000)
  await expectCode(fake.client().verifyWebhook(headers, body), 'signature_expired')
})
