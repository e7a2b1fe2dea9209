/** Scenarios where no answer comes, or one comes from something else on the way. */

import { expect } from 'vitest'
import { GUIDANCE_TEXTS } from '../../../../clients/capture/guidance-texts.js'
import type { Scenario } from '../world.js'

const action = { type: 'wire_transfer', amount: '1250.00' }
const KEY = 'x-svc-idempotency-key'

/** An answer of something in front of the service, such as a load balancer. */
const elsewhere = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: '<h1>Bad gateway</h1>',
})

export const RETRIES: Scenario[] = [
  {
    title: 'tries what the service refuses for now again, as the same request, and tells how it ended',
    async run({ client, photos, proxy }) {
      const sdk = await client()
      for (const [suffix, code, status] of [
        ['+unavailable', 'overloaded', 503],
        ['+rate_limited', 'rate_limited', 429],
      ] as const) {
        proxy.requests = []
        const started = performance.now()
        const error = await sdk.refused('verify', { user_id: `u${suffix}`, image: photos.blank, action })
        // A lower bound only: before either further try the service asked for a second.
        expect(performance.now() - started).toBeGreaterThanOrEqual(1998)
        expect(error).toMatchObject({ kind: 'api', code, status, retry_after_seconds: 1, verified: true })
        expect(proxy.requests).toHaveLength(3)
        expect(new Set(proxy.requests.map(({ headers }) => headers[KEY])).size).toBe(1)
        expect(new Set(proxy.requests.map(({ body }) => body.toString())).size).toBe(1)
      }
    },
  },
  {
    title: 'gets through when the service is back, and says how many tries it took',
    async run({ client, photos, proxy }) {
      const sdk = await client()
      const answers = [elsewhere(503), elsewhere(502)]
      proxy.mischief = (_request, forward) => answers.pop() ?? forward()
      const request = { user_id: 'u+match', image: photos.blank, action }
      const { value, response } = await sdk.said('verify', request)
      expect(value).toMatchObject({ verdict: 'approved' })
      expect(response).toMatchObject({ attempts: 3, replayed: false })
      const [first, ...others] = proxy.requests
      for (const other of others) {
        expect(other.headers[KEY]).toBe(first!.headers[KEY])
        expect(other.body.equals(first!.body)).toBe(true)
      }
    },
  },
  {
    title: 'gives up after its retries, and at once where it is told none',
    async run({ client, proxy, photos }) {
      proxy.mischief = () => elsewhere(503)
      const request = { user_id: 'u+match', image: photos.blank, action }
      const sdk = await client({ max_retries: 1 })
      expect(await sdk.refused('verify', request)).toMatchObject({ kind: 'unexpected', status: 503 })
      expect(proxy.requests).toHaveLength(2)
      await sdk.refused('verify', request, { max_retries: 0 })
      expect(proxy.requests).toHaveLength(3)
    },
  },
  {
    title: 'leaves a Retry-After that is too long to the caller',
    async run({ client, photos, proxy }) {
      const sdk = await client({ max_retry_after_seconds: 0.5 })
      const request = { user_id: 'u+rate_limited', image: photos.blank, action }
      const error = await sdk.refused('verify', request)
      expect(error).toMatchObject({ kind: 'api', code: 'rate_limited', status: 429, retry_after_seconds: 1 })
      expect(proxy.requests).toHaveLength(1)
    },
  },
  {
    title: 'does not try again what will not change',
    async run({ client, photos, proxy }) {
      const sdk = await client()
      await sdk.refused('verify', { user_id: 'stranger', image: photos.blank, action })
      expect(proxy.requests).toHaveLength(1)
      proxy.mischief = () => elsewhere(404)
      expect(await sdk.refused('health')).toMatchObject({ kind: 'unexpected', status: 404 })
      proxy.mischief = () => elsewhere(302, { location: 'http://127.0.0.1:9/v1/health' })
      expect(await sdk.refused('health')).toMatchObject({ kind: 'unexpected', status: 302 })
      const refused = {
        ...{ error: 'rate_limited', code: 'too_many_wrong_keys', message: 'Too many.', request_id: 'req_1' },
        ...{ remedy: 'Correct the key.', doc_url: 'https://verify.example/errors#too_many_wrong_keys' },
      }
      // The secret of the instance, which no tenant holds, signs this answer.
      const headers = { 'content-type': 'application/json', 'x-request-id': 'req_1', 'retry-after': '1' }
      proxy.mischief = () => ({ status: 429, headers, body: JSON.stringify(refused) })
      expect(await sdk.refused('health')).toMatchObject({
        ...{ kind: 'api', code: 'too_many_wrong_keys', status: 429, verified: false },
        ...{ remedy: refused.remedy, retry_after_seconds: 1 },
      })
      expect(proxy.requests).toHaveLength(4)
    },
  },
  {
    title: 'sends a request whose answer was lost again under its key, and nothing happens twice',
    async run({ client, photos, proxy, tenant }) {
      const sdk = await client()
      let lost = 0
      proxy.mischief = async (_request, forward) => {
        const answer = await forward()
        return lost++ === 0 ? null : answer
      }
      const enrolled = await sdk.said('enroll', { user_id: 'lost', image: photos.blank })
      expect(enrolled).toMatchObject({
        value: { user_id: 'lost', status: 'enrolled' },
        response: { attempts: 2, replayed: true, status: 201 },
      })
      expect(new Set(proxy.requests.map(({ headers }) => headers[KEY])).size).toBe(1)
      expect(proxy.requests[0]!.headers[KEY]).toMatch(/^[0-9a-f-]{36}$/)
      const { body } = await tenant.sandbox.call('GET', '/v1/users/lost')
      expect(body.reference.reference_id).toBe(enrolled.value.reference_id)
    },
  },
  {
    title: 'takes a key of the caller, whose repeat is answered from what was kept',
    async run({ client, photos, proxy }) {
      const sdk = await client()
      const request = { user_id: 'u+match', image: photos.blank, action }
      const options = { idempotency_key: 'order-4711', request_id: 'mine-1' }
      const first = await sdk.said('verify', request, options)
      const again = await sdk.said('verify', request, options)
      expect(again.value).toEqual(first.value)
      expect([first.response?.replayed, again.response?.replayed]).toEqual([false, true])
      expect(proxy.requests[0]!.headers).toMatchObject({ [KEY]: 'order-4711', 'x-request-id': 'mine-1' })
      const other = { ...request, action: 'another' }
      const reused = await sdk.refused('verify', other, options)
      expect(reused).toMatchObject({ kind: 'api', code: 'idempotency_key_reused', status: 422 })
    },
  },
  {
    title: 'tells a service that cannot be reached from one that does not answer in time',
    async run({ client, proxy }) {
      const nobody = await client({ base_url: 'http://127.0.0.1:9/v1', connect_retry_seconds: 0.001 })
      const unreachable = await nobody.refused('health')
      expect(unreachable).toMatchObject({ kind: 'connection', code: 'connection_failed' })
      const sdk = await client({ timeout_seconds: 0.3, max_retries: 1 })
      proxy.mischief = () => null
      expect(await sdk.refused('health')).toMatchObject({ kind: 'connection', code: 'connection_failed' })
      proxy.requests = []
      proxy.mischief = () => new Promise(() => {})
      const late = await sdk.refused('health')
      expect(late).toMatchObject({ kind: 'timeout', code: 'timeout', attempts: 2 })
      expect(proxy.requests).toHaveLength(2)
    },
  },
  {
    title: 'tries a refused connection again until the service listens, more often than its retries allow',
    async run({ client, proxy }) {
      const address = new URL(proxy.url)
      await proxy.stop()
      const sdk = await client({ base_url: address.href, max_retries: 1, connect_retry_seconds: 60 })
      const asked = sdk.said('health')
      // Each wait is half a second at most, so that two seconds hold more tries than the retries and their waits.
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await proxy.start(Number(address.port))
      const { value, response } = await asked
      expect(value.status).toBe('ok')
      expect(response?.attempts).toBeGreaterThan(2)
      await proxy.stop()
      const once = await sdk.refused('health', {}, { max_retries: 0 })
      expect(once).toMatchObject({ kind: 'connection', attempts: 1 })
      await proxy.start(Number(address.port))
    },
  },
  {
    title: 'refuses what a browser sent instead of a photo as an unreadable image, before anything is sent',
    async run({ client, proxy, photos }) {
      const sdk = await client()
      const refused = {
        ...{ kind: 'api', code: 'image_unreadable', category: 'biometric_rejected', status: 422 },
        details: [{ guidance: 'file_unreadable', hint: GUIDANCE_TEXTS.file_unreadable }],
      }
      for (const photo of [{}, { image: '' }, { images: [] }, { images: [photos.blank, ''] }])
        for (const [call, fields] of [
          ['verify', { action }],
          ['enroll', {}],
        ] as const)
          expect(await sdk.refused(call, { user_id: 'u+match', ...fields, ...photo })).toMatchObject(refused)
      expect(proxy.requests).toEqual([])
    },
  },
  {
    title:
      'sends the same request for the same photo and action within 30 s, so that a double click is one verify',
    async run({ client, photos, proxy, running }) {
      const sdk = await client()
      // To the start of a window, so that no two calls are on either side of its end.
      running.clock.advance(30_000 - (running.clock.now() % 30_000))
      const request = { user_id: 'u+match', image: photos.blank, action }
      for (const one of [request, request, { ...request, action: 'another' }]) await sdk.call('verify', one)
      running.clock.advance(30_000)
      await sdk.call('verify', request)
      const [first, second, other, later] = proxy.requests.map(({ body }) => body.toString())
      expect(second).toBe(first)
      for (const different of [other, later])
        expect(JSON.parse(different!).nonce).not.toBe(JSON.parse(first!).nonce)
      expect(new Set(proxy.requests.map(({ headers }) => headers[KEY])).size).toBe(4)
    },
  },
  {
    title:
      'refuses a photo that is too large, and an action that JSON does not hold, before anything is sent',
    async run({ client, proxy, photos }) {
      const sdk = await client()
      const image = Buffer.alloc(9 * 1024 * 1024).toString('base64')
      const error = await sdk.refused('enroll', { user_id: 'large', image })
      expect(error).toMatchObject({ kind: 'api', code: 'body_too_large', status: 413, verified: false })
      expect(error.details).toMatchObject([
        { path: 'image', guidance: 'image_too_large', hint: GUIDANCE_TEXTS.image_too_large },
      ])
      expect(error.message).toMatch(/has 12(\.1)? MiB, and the service takes 8 MiB.*1280 pixels/)
      const frame = Buffer.alloc(512 * 1024).toString('base64')
      expect(await sdk.refused('guide', { image: frame })).toMatchObject({ code: 'body_too_large' })
      const exact = { user_id: 'u+match', image: photos.blank, action: { to: 2 ** 53 } }
      expect(await sdk.refused('verify', exact)).toMatchObject({ kind: 'argument' })
      const none = await sdk.refused('verify', { user_id: 'u+match', image: photos.blank, action: null })
      expect(none).toMatchObject({ kind: 'argument' })
      expect(proxy.requests).toEqual([])
    },
  },
  {
    title: 'hears a refusal that comes before the photos are sent',
    async run({ client, running }) {
      // Without the hop, so that the service itself refuses the upload.
      const sdk = await client({
        base_url: running.service.url('sandbox'),
        api_key: 'svc-sbx-4McI6pH7s1beayCe4zK5S5p8x8NjYH49UaAqnxelAlp1C6TYz',
        max_retries: 0,
      })
      const image = Buffer.alloc(5 * 1024 * 1024, 1).toString('base64')
      for (let each = 0; each < 5; each++) {
        const error = await sdk.refused('enroll', { user_id: 'large', image })
        expect(error).toMatchObject({ kind: 'api', status: 401 })
        expect(error.remedy).toBeTruthy()
      }
    },
  },
]
