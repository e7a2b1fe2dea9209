/** The answers that the samples send to a browser: of a rejection no token, no score and no finding. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SANDBOX_OUTCOMES } from '../../src/contract/sandbox-rules.js'
import { type CaptureExample, startCaptureExample } from '../support/capture-example.js'
import { answerTo } from '../support/challenges.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { leaksIn } from '../support/sent-to-browsers.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile({
  ...{ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s', COUNTERSIGN_DEADLINE_MS: '60000' },
})
// The samples look at the system's clock.
running.clock.now = Date.now
const tenant = await running.tenant()
const image = `data:image/png;base64,${base64(await plain())}`

/** The names by which a sample knows its user, its challenge and its verify. */
const SAMPLES = [
  {
    example: 'express',
    headers: (user: string) => ({ 'X-User': user }),
    challenge: '/step-up/challenge',
    body: { action: { type: 'transfer', amount: '1250.00', to: 'Grace' } },
    verify: '/step-up',
  },
  {
    example: 'capture',
    headers: (user: string) => ({ Cookie: `user=${encodeURIComponent(user)}` }),
    challenge: '/challenges',
    body: { amount: '1250.00', to: 'Grace' },
    verify: '/transfers',
  },
]

describe.each(SAMPLES)('the sample $example', ({ example, headers, challenge, body, verify }) => {
  let backend: CaptureExample
  beforeAll(async () => {
    backend = await startCaptureExample(tenant, {
      baseUrl: running.service.url('sandbox'),
      apiKey: tenant.sandboxKey,
      example,
    })
  })
  afterAll(() => backend?.stop())

  async function post(user: string, path: string, sent: object) {
    const response = await fetch(backend.address + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers(user) },
      body: JSON.stringify(sent),
    })
    const text = await response.text()
    return { status: response.status, text, all: [...response.headers, text].join('\n') }
  }

  // The slow one is answered like any other, and the busy ones are tried again for seconds.
  const endings = SANDBOX_OUTCOMES.filter((one) => !/^\+(slow|rate_limited|unavailable)$/.test(one))
  it.each(endings)(
    'sends nothing that guides somebody who tries, for a user with the ending %s',
    async (ending) => {
      const user = `ada${ending}`
      const asked = await post(user, challenge, body)
      expect(leaksIn(asked.all)).toEqual([])
      if (asked.status !== 201) return expect(ending).toBe('+locked_out')
      const { frames } = answerTo({ nonce: '', ...JSON.parse(asked.text) }, image)
      const answered = await post(user, verify, { frames })
      expect(leaksIn(answered.all)).toEqual([])
    },
  )
})

describe('the look through an answer', () => {
  const token = (claims: object) =>
    [{ alg: 'HS256' }, claims, { signature: 'x'.repeat(20) }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')

  it('finds a score, and the token of a rejection wherever it stands', () => {
    const rejected = token({ verdict: 'rejected', reason: 'no_match' })
    expect(leaksIn(JSON.stringify({ verdict: 'rejected', score: 0.3 }))).toEqual(['score'])
    for (const text of [JSON.stringify({ jwt: rejected }), `set-cookie,verdict=${rejected}; Path=/`])
      expect(leaksIn(text)).toHaveLength(1)
    expect(leaksIn(JSON.stringify({ verdict: 'approved', jwt: token({ verdict: 'approved' }) }))).toEqual([])
  })
})
