/** Whose answers, verdicts and webhooks are believed: signatures, rotation, clocks. */
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { TestService } from '../../../support/service.js'
import type { FaultyProxy, Returning } from '../../proxy.js'
import type { Scenario, World } from '../world.js'

const action = { type: 'wire_transfer', amount: '1250.00' }
const user_id = 'u+match'
const signatureOf = ({ headers }: Returning) => headers['x-svc-signature']!
const textOf = ({ body }: Returning) => body.toString()

/** Signs an answer as somebody in the middle would who knows the format. */
function forged(
  answer: Returning,
  { clock }: TestService,
  target: string,
  { id, secret }: { id: string; secret: string },
): Partial<Returning> {
  const timestamp = Math.floor(clock.now() / 1000)
  const input = `v2:sandbox:${timestamp}:${answer.headers['x-request-id']}:${answer.status}:GET:${target}:${textOf(answer)}`
  const mac = createHmac('sha256', secret).update(input).digest('hex')
  return { headers: { ...answer.headers, 'x-svc-signature': `t=${timestamp},kid=${id},v2=${mac}` } }
}

/** Has the proxy give the first answer to every later request too. */
function keepFirst(proxy: FaultyProxy): void {
  let kept: Returning | undefined
  proxy.mischief = async (_request, forward) => {
    kept ??= await forward()
    return kept
  }
}

async function approval({ photos }: World, sdk: Awaited<ReturnType<World['client']>>, fields = {}) {
  return sdk.call('verify', { user_id, image: photos.blank, action, ...fields })
}

export const TRUST: Scenario[] = [
  {
    title: 'believes no answer that was changed, left unsigned, or signed for something else',
    async run({ client, proxy, photos, running, tenant: { secret } }) {
      const sdk = await client()
      const withHeader = ({ headers }: Returning, name: string, value: string) => ({
        headers: { ...headers, [name]: value },
      })
      const changes: Array<[string, string, (answer: Returning) => Partial<Returning>]> = [
        ['another body', 'signature_invalid', (answer) => ({ body: textOf(answer).replace('"ok"', '"OK"') })],
        ['another status', 'signature_invalid', () => ({ status: 201 })],
        ['another id', 'signature_invalid', (answer) => withHeader(answer, 'x-request-id', 'another')],
        [
          'somebody else’s secret',
          'signature_invalid',
          (answer) => forged(answer, running, '/v1/health', { ...secret, secret: 'svc-sec-other' }),
        ],
        ['another path', 'signature_invalid', (answer) => forged(answer, running, '/v1/enroll', secret)],
        [
          'a comma',
          'signature_malformed',
          (answer) => withHeader(answer, 'x-svc-signature', `${signatureOf(answer)},`),
        ],
        [
          'another form',
          'signature_malformed',
          (answer) => withHeader(answer, 'x-svc-signature', 't=1,v2=00'),
        ],
        [
          'no signature',
          'signature_missing',
          ({ headers: { 'x-svc-signature': _signature, ...headers } }) => ({ headers }),
        ],
      ]
      for (const [change, code, changed] of changes) {
        proxy.requests = []
        proxy.mischief = async (_request, forward) => {
          const answer = await forward()
          return { ...answer, ...changed(answer) }
        }
        expect(await sdk.refused('health'), change).toMatchObject({ kind: 'signature', code })
        expect(proxy.requests, change).toHaveLength(1)
      }
      // The forgery with the right secret and path is an answer of the service's.
      proxy.mischief = async (_request, forward) => {
        const answer = await forward()
        return { ...answer, ...forged(answer, running, '/v1/health', secret) }
      }
      await sdk.call('health')

      const error = { error: 'not_found', code: 'reference_not_found', message: 'm', request_id: 'r' }
      const headers = { 'content-type': 'application/json', 'x-request-id': 'r' }
      proxy.mischief = () => ({ status: 404, headers, body: JSON.stringify(error) })
      const unsigned = await sdk.refused('verify', { user_id, image: photos.blank, action })
      expect(unsigned).toMatchObject({ kind: 'signature', code: 'signature_missing' })
    },
  },
  {
    title: 'believes no answer that was kept from earlier or is from later, and says by how much',
    async run({ client, proxy, running }) {
      const sdk = await client()
      for (const [ahead, said] of [
        [-302, /30[123] s ahead of this machine's clock; 300 s are allowed\. Is the clock right\?/],
        [302, /30[123] s ago; 300 s are allowed\. Is the clock right\?/],
      ] as const) {
        sdk.aheadSeconds = ahead
        const error = await sdk.refused('health')
        expect(error).toMatchObject({ kind: 'signature', code: 'signature_expired' })
        expect(error.message).toMatch(said)
      }
      for (const ahead of [-299, 299, 0]) {
        sdk.aheadSeconds = ahead
        await sdk.call('health')
      }
      keepFirst(proxy)
      await sdk.call('health')
      running.clock.advance(301_000)
      const error = await sdk.refused('health')
      expect(error).toMatchObject({ kind: 'signature', code: 'signature_expired' })
      expect(error.message).toMatch(/301 s ago; 300 s are allowed\. Is the clock right\?/)
    },
  },
  {
    title: 'believes no answer to another request, however well it is signed',
    async run(world) {
      const { client, proxy, photos, running } = world
      const sdk = await client()
      keepFirst(proxy)
      await approval(world, sdk)
      // Within these seconds the same request again has the same answer.
      running.clock.advance(30_000)
      for (const other of [{ user_id: 'v+match' }, { action: { ...action, amount: '9999.00' } }, {}]) {
        const error = await sdk.refused('verify', { user_id, action, image: photos.blank, ...other })
        expect(error).toMatchObject({ kind: 'signature', code: 'response_mismatch' })
      }
      keepFirst(proxy)
      await sdk.call('enroll', { user_id: 'first', image: photos.blank })
      const error = await sdk.refused('enroll', { user_id: 'second', image: photos.blank })
      expect(error).toMatchObject({ kind: 'signature', code: 'response_mismatch' })
    },
  },
  {
    title: 'believes no answer of the sandbox where production was asked',
    async run({ client, tenant, production, productionKey, proxy, photos }) {
      const real = await production()
      expect((await real.call('health')).environment).toBe('production')
      await real.call('enroll', { user_id, image: photos.ada })
      await (await client()).call('enroll', { user_id, image: photos.ada })
      // The proxy asks the sandbox with a key of the sandbox.
      const sdk = await client({ api_key: await productionKey() })
      proxy.mischief = (request, forward) => {
        request.headers.authorization = `Bearer ${tenant.sandboxKey}`
        return forward()
      }
      for (const [call, request] of [
        ['health', {}],
        ['delete', { user_id }],
        ['audit_page', {}],
        ['enroll', { user_id: 'newcomer', image: photos.ada }],
        ['get_user', { user_id: 'nobody-in-the-sandbox' }],
      ] as const) {
        const error = await sdk.refused(call, request)
        expect(error, call).toMatchObject({ kind: 'signature', code: 'wrong_environment' })
      }
      expect(await real.call('get_user', { user_id })).toMatchObject({ user_id })
    },
  },
  {
    title: 'takes a verdict for its user, its action and its nonce only',
    async run(world) {
      const sdk = await world.client()
      const { jwt, verification_id } = await approval(world, sdk, { nonce: 'n-1' })
      const expected = { token: jwt, user_id, action, nonce: 'n-1' }
      for (const [code, change] of [
        ['wrong_user', { user_id: 'grace' }],
        ['wrong_action', { action: { ...action, amount: '9999.00' } }],
        ['wrong_nonce', { nonce: 'n-2' }],
        ['wrong_issuer', { issuer: 'https://elsewhere.example.com/v1' }],
        ['wrong_context', { acr: ['urn:countersign:acr:face-active'] }],
        ['signature_invalid', { token: `${jwt.slice(0, -4)}AAAA` }],
        ['malformed', { token: 'approved' }],
      ] as const)
        expect(await sdk.refused('verify_verdict', { ...expected, ...change }), code).toMatchObject({
          kind: 'verdict',
          code,
        })
      // The message says which contexts would be taken.
      const active = ['urn:countersign:acr:face-active', 'urn:countersign:acr:face-active-pad']
      expect((await sdk.refused('verify_verdict', { ...expected, acr: active })).message).toContain(
        `acr is urn:countersign:acr:face; accepted are ${active.join(', ')}.`,
      )
      const stranger = await world.client({ tenant_id: 'ten_other' })
      expect((await stranger.refused('verify_verdict', expected)).code).toBe('wrong_audience')
      // A refused verdict is still unused.
      const issuer = world.running.service.url('sandbox')
      const claims = await sdk.call('verify_verdict', { ...expected, issuer })
      expect(claims.jti).toBe(verification_id)
    },
  },
  {
    title: 'tolerates a clock that is 20 s off, and says of a greater difference how great it is',
    async run(world) {
      const sdk = await world.client()
      for (const ahead of [-20, 20, 58, -60]) {
        sdk.aheadSeconds = ahead
        const { jwt } = await approval(world, sdk)
        await sdk.call('verify_verdict', { token: jwt, user_id, action })
      }
      sdk.aheadSeconds = -75
      const { jwt } = await approval(world, sdk)
      const early = await sdk.refused('verify_verdict', { token: jwt, user_id, action })
      expect(early).toMatchObject({ kind: 'verdict', code: 'not_yet_valid' })
      expect(early.message).toMatch(/7[56] s ahead of this machine's clock; 60 s .*clock right\?/)
      const strict = await world.client({ clock_tolerance_seconds: 5 })
      strict.aheadSeconds = -20
      const refused = await strict.refused('verify_verdict', { token: jwt, user_id, action })
      expect(refused).toMatchObject({ kind: 'verdict', code: 'not_yet_valid' })
      sdk.aheadSeconds = 0
      await sdk.call('verify_verdict', { token: jwt, user_id, action })
    },
  },
  {
    title: 'takes no verdict that has expired, and says since when',
    async run(world) {
      const sdk = await world.client()
      const { jwt } = await approval(world, sdk)
      const old = await sdk.refused('verify_verdict', {
        token: (await approval(world, sdk, { user_id: 'u+expired' })).jwt,
        user_id: 'u+expired',
        action,
      })
      expect(old).toMatchObject({ kind: 'verdict', code: 'expired' })
      world.running.clock.advance(200_000)
      const aged = { token: jwt, user_id, action, max_age_seconds: 100 }
      expect((await sdk.refused('verify_verdict', aged)).code).toBe('too_old')
      world.running.clock.advance(161_000)
      const late = await sdk.refused('verify_verdict', { token: jwt, user_id, action })
      expect(late).toMatchObject({ kind: 'verdict', code: 'expired' })
      expect(late.message).toMatch(/6[01] s ago by this machine's clock/)
    },
  },
  {
    title: 'takes no photo that was seen before, and no pack of evaluation grade, unless it is told to',
    async run({ client, production, photos }) {
      const sandbox = await client()
      const seen = { user_id: 'u+replayed', image: photos.blank, action }
      const { jwt } = await sandbox.call('verify', seen)
      const expected = { token: jwt, user_id: 'u+replayed', action }
      const refused = await sandbox.refused('verify_verdict', expected)
      expect(refused).toMatchObject({ kind: 'verdict', code: 'replay_suspected' })
      expect(refused.message).toMatch(/within 24 hours\. Have a new photo taken, or accept replays/)
      await sandbox.call('verify_verdict', { ...expected, accept_replays: true })

      const strict = await production()
      await strict.call('enroll', { user_id: 'ada', image: photos.ada })
      const genuine = await strict.call('verify', { user_id: 'ada', image: photos.adaToday, action })
      expect(genuine).toMatchObject({ verdict: 'approved', model_grade: 'evaluation' })
      const token = { token: genuine.jwt, user_id: 'ada', action }
      const grade = await strict.refused('verify_verdict', token)
      expect(grade).toMatchObject({ kind: 'verdict', code: 'evaluation_grade' })
      expect(grade.message).toMatch(/set accept_?evaluation_?grade\b/i)
      const demo = await production({ accept_evaluation_grade: true })
      expect(await demo.call('verify_verdict', token)).toMatchObject({ env: 'production' })
      const grace = await strict.call('verify', { user_id: 'ada', image: photos.grace, action })
      expect(grace).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
      const photo = await strict.call('verify', { user_id: 'ada', image: photos.ada, action })
      expect(photo).toMatchObject({ verdict: 'approved', replay: { suspected: true } })
    },
  },
  {
    title: 'goes through a rotation with the old secret, the new one and both',
    async run(world) {
      const { client, tenant, running } = world
      const old = `${tenant.secret.id}:${tenant.secret.secret}`
      const sdk = await client()
      const rotated = await sdk.call('rotate_signing')
      expect(rotated).toMatchObject({ previous: { id: tenant.secret.id }, overlap_seconds: 1800 })
      const { id, secret } = rotated.signing_secret
      const again = await sdk.refused('rotate_signing')
      expect(again).toMatchObject({ kind: 'api', code: 'rotation_in_progress', status: 409 })
      for (const held of [
        [old],
        [`${id}:${secret}`],
        [`${id}:${secret}`, old],
        [old, `${id}:${secret}`],
        [secret],
      ]) {
        const backend = await client({ signing_secret: held })
        const result = await approval(world, backend)
        await backend.call('verify_verdict', { token: result.jwt, user_id, action })
        const whole = await approval(world, backend)
        await backend.call('verify_verdict', { token: whole, user_id, action })
      }
      // After the overlap the old secret signs nothing. The SDK that reads its secrets again needs no restart.
      running.clock.advance(1_801_000)
      expect(await sdk.refused('health')).toMatchObject({ kind: 'signature', code: 'signature_invalid' })
      await sdk.said('secrets', [`${id}:${secret}`])
      await sdk.call('health')
      await (await client({ signing_secret: [`${id}:${secret}`, old] })).call('health')
    },
  },
  {
    title: 'goes on after a forced rotation with the secret that it was told',
    async run(world) {
      const sdk = await world.client()
      const first = await sdk.call('rotate_signing')
      const second = await sdk.call('rotate_signing', { force: true })
      expect(second.previous.id).toBe(first.signing_secret.id)
      expect(await sdk.refused('health')).toMatchObject({ kind: 'signature', code: 'signature_invalid' })
      const held = ({ id, secret }: { id: string; secret: string }) => `${id}:${secret}`
      await sdk.said('secrets', [held(second.signing_secret), held(first.signing_secret)])
      const { jwt } = await approval(world, sdk)
      await sdk.call('verify_verdict', { token: jwt, user_id, action })
    },
  },
  {
    title: 'never makes two secrets where the answer to a rotation was lost',
    async run({ client, proxy, tenant }) {
      const sdk = await client()
      let lost = 0
      proxy.mischief = async (_request, forward) => {
        const answer = await forward()
        return lost++ === 0 ? null : answer
      }
      const error = await sdk.refused('rotate_signing')
      expect(error).toMatchObject({
        ...{ kind: 'api', code: 'secret_already_told', verified: true },
        details: [
          { path: 'signing_secret.id', issue: expect.stringMatching(/^sec_/) },
          { path: 'previous.id', issue: expect.stringContaining(tenant.secret.id) },
        ],
      })
      expect(proxy.requests).toHaveLength(2)
      const { signing_secret } = await sdk.call('rotate_signing', { force: true })
      await sdk.said('secrets', [`${signing_secret.id}:${signing_secret.secret}`])
      expect((await sdk.call('health')).environment).toBe('sandbox')
    },
  },
  {
    title: 'believes a webhook for its secret, its environment and its time only',
    async run({ client, tenant, running }) {
      const id = 'evt_1'
      const body = JSON.stringify({
        id,
        type: 'user.locked_out',
        created_at: '2026-01-02T03:04:05.000Z',
        environment: 'sandbox',
        tenant_id: tenant.id,
        data: { user_id: 'Zoë', rejections: 5 },
      })
      const at = Math.floor(running.clock.now() / 1000)
      const pair = ({ id: kid, secret } = tenant.secret, environment = 'sandbox', t = at) => {
        const mac = createHmac('sha256', secret).update(`webhook:v2:${environment}:${t}:${id}:${body}`)
        return `kid=${kid},v2=${mac.digest('hex')}`
      }
      const headers = (signature: string) => ({ 'x-svc-webhook-id': id, 'x-svc-signature': signature })
      const stranger = { id: 'sec_other', secret: 'svc-sec-other' }
      const sdk = await client()
      for (const signature of [`t=${at},${pair()}`, `t=${at},${pair(stranger)},${pair()}`])
        expect(await sdk.call('verify_webhook', { headers: headers(signature), body })).toMatchObject({
          id,
          type: 'user.locked_out',
          data: { user_id: 'Zoë', rejections: 5 },
        })
      for (const [code, signature, sent] of [
        ['signature_invalid', `t=${at},${pair()}`, body.replace('5', '6')],
        ['signature_invalid', `t=${at},${pair(stranger)}`, body],
        ['wrong_environment', `t=${at},${pair(tenant.secret, 'production')}`, body],
        ['signature_expired', `t=${at - 301},${pair(tenant.secret, 'sandbox', at - 301)}`, body],
        ['signature_missing', '', body],
      ] as const) {
        const error = await sdk.refused('verify_webhook', { headers: headers(signature), body: sent })
        expect(error, code).toMatchObject({ kind: 'signature', code })
        if (code === 'signature_invalid')
          expect(error.message).toContain(
            signature.includes('sec_other')
              ? 'No configured secret made this signature (kid sec_other).'
              : `The secret ${tenant.secret.id} is configured, but the body is not what it signed: pass the raw bytes`,
          )
      }
    },
  },
]
