/** Random timelines of rotations, seen by backends that hold any of the secrets there ever were. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryReplayStore, verifyVerdict } from '../../clients/node/index.js'
import { assertResponseSignature } from '../../clients/node/response-signature.js'
import { type ApiResponse, apiClient } from '../support/client.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { Advance, Restart } from '../support/model-commands.js'
import { checkAsync } from '../support/properties.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt, validSignatures } from '../support/trust.js'
import { OVERLAP_MS, RotationModel, type Secret, WINDOW_MS } from './rotation-model.js'

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s' })
const image = base64(await plain())

/** A tenant that may rotate; its verdicts are the sandbox's, which need no face. */
class Tenant {
  private constructor(
    readonly id: string,
    readonly first: Secret,
    private readonly keys: { sandbox: string; production: string },
  ) {}

  static async create(): Promise<Tenant> {
    const tenant = await running.tenant()
    const { key } = await running.production(tenant)
    return new Tenant(tenant.id, tenant.secret, { sandbox: tenant.sandboxKey, production: key })
  }

  rotate(force: boolean, key?: string): Promise<ApiResponse> {
    const client = apiClient(running.service.url('production'), this.keys.production)
    return client.rotate({ force }, key === undefined ? {} : { headers: { 'X-Svc-Idempotency-Key': key } })
  }

  verify(signingKeyId?: string): Promise<ApiResponse> {
    const client = apiClient(running.service.url('sandbox'), this.keys.sandbox)
    const headers: Record<string, string> = signingKeyId ? { 'X-Svc-Signing-Key-Id': signingKeyId } : {}
    return client.verify({ user_id: 'ada+match', image, action: 'pay' }, { headers })
  }
}

type Command = fc.AsyncCommand<RotationModel, Tenant>

const idsOf = (secrets: Secret[]) => secrets.map(({ id }) => id)
const signersOf = (response: ApiResponse, secrets: Secret[]) =>
  validSignatures(response, Object.fromEntries(secrets.map(({ id, secret }) => [id, secret])))
const holds = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  )

/** Whether the SDK of a backend with these secrets trusts the response itself, which is one of the sandbox. */
const trustsResponse = (response: ApiResponse, held: Array<string | Secret>, now: number) =>
  holds(
    assertResponseSignature(
      {
        environment: 'sandbox',
        signature: response.headers.get('x-svc-signature'),
        requestId: response.headers.get('x-request-id'),
        status: response.status,
        ...response.request,
        body: Buffer.from(response.text),
      },
      held.map((secret) => (typeof secret === 'string' ? { secret } : secret)),
      { now: now / 1000 },
    ),
  )

/** The result of verifying a token by the SDK of a backend with these secrets. */
const trustsToken = (token: string, held: Array<string | Secret>, audience: string, now: number) =>
  holds(
    verifyVerdict(token, {
      signingSecret: held,
      audience,
      environment: 'sandbox',
      userId: 'ada+match',
      action: 'pay',
      now: () => now / 1000,
      replayStore: new MemoryReplayStore(),
    }),
  )

/** Checks which secret signs a verdict now, and which backends accept it. */
class Look implements Command {
  /** @param hint the secret that the caller says it holds, counted from the newest; null for none */
  constructor(private readonly hint: number | null) {}

  check = () => true

  async run(model: RotationModel, tenant: Tenant): Promise<void> {
    const { secrets, active, current, outgoing, now } = model
    const named = this.hint === null ? undefined : secrets.at(-1 - (this.hint % secrets.length))!
    const response = await tenant.verify(named?.id)
    expect(response.status).toBe(200)
    expect(signersOf(response, secrets)).toEqual(idsOf(active))
    expect(response.headers.get('x-svc-signature')!.match(/kid=/g)).toHaveLength(active.length)

    const { jwt, jwt_next: next } = response.body
    const [first, second] = outgoing && named?.id === current.id ? [current] : active
    expect(decodeJwt(jwt, first!.secret)).toMatchObject({ valid: true, header: { kid: first!.id } })
    if (second) {
      expect(decodeJwt(next, second.secret)).toMatchObject({ valid: true, header: { kid: second.id } })
      expect(decodeJwt(next, '').claims).toEqual(decodeJwt(jwt, '').claims)
    } else expect(response.body.jwt_next).toBeNull()

    // A backend may configure only the secret, or the secret with its id.
    for (const secret of secrets)
      for (const held of [secret.secret, secret]) {
        expect(await trustsResponse(response, [held], now)).toBe(active.includes(secret))
        expect(await trustsToken(jwt, [held], tenant.id, now)).toBe(secret === first)
        if (next) expect(await trustsToken(next, [held], tenant.id, now)).toBe(secret === second)
      }
    // A backend with both secrets of an overlap accepts every verdict.
    for (const token of [jwt, next].filter(Boolean))
      expect(await trustsToken(token, active, tenant.id, now)).toBe(true)
  }

  toString = () => `look${this.hint === null ? '' : `, naming the secret ${this.hint} before the newest`}`
}

class Rotate implements Command {
  constructor(
    private readonly force: boolean,
    private readonly key: string | undefined,
  ) {}

  check = () => true

  async run(model: RotationModel, tenant: Tenant): Promise<void> {
    const signers = idsOf(model.active)
    const response = await tenant.rotate(this.force, this.key)
    // The answer is signed with what the caller can hold already.
    expect(signersOf(response, model.secrets)).toEqual(signers)
    const kept = this.key === undefined ? undefined : model.kept.get(this.key)
    if (kept && kept.expiresMs > model.now) {
      if (kept.force === this.force && kept.status === 200) {
        expect([response.status, response.body.code]).toEqual([409, 'secret_already_told'])
        expect(response.text).not.toContain('svc-sec-')
      } else if (kept.force === this.force)
        expect([response.status, response.text]).toEqual([kept.status, kept.text])
      else expect([response.status, response.body.code]).toEqual([422, 'idempotency_key_reused'])
      return
    }
    assertOutcome(model, this.force, response)
    if (this.key !== undefined)
      model.kept.set(this.key, {
        status: response.status,
        text: response.text,
        expiresMs: model.now + WINDOW_MS,
        force: this.force,
      })
  }

  toString = () => `rotate${this.force ? ' by force' : ''}${this.key ? ` with key ${this.key}` : ''}`
}

/** Without force, of several at once only one can be first. */
class RotateInParallel implements Command {
  check = () => true

  async run(model: RotationModel, tenant: Tenant): Promise<void> {
    const responses = await Promise.all([1, 2, 3].map(() => tenant.rotate(false)))
    const succeeded = responses.filter(({ status }) => status === 200)
    expect(succeeded).toHaveLength(model.outgoing ? 0 : 1)
    for (const response of [...succeeded, ...responses.filter(({ status }) => status !== 200)])
      assertOutcome(model, false, response)
  }

  toString = () => 'rotate three times at once'
}

function assertOutcome(model: RotationModel, force: boolean, response: ApiResponse): void {
  const expected = model.outcome(force)
  if (expected.kind === 'in_progress') {
    expect([response.status, response.body.code]).toEqual([409, 'rotation_in_progress'])
    expect(response.headers.get('retry-after')).toBe(String(expected.retryAfterSeconds))
    return
  }
  expect(response.status).toBe(200)
  const { signing_secret: made, previous } = response.body
  expect({ id: previous.id, validUntilMs: Date.parse(previous.valid_until) }).toEqual(expected.previous)
  for (const { id, secret } of model.secrets) {
    expect(made.id).not.toBe(id)
    expect(made.secret).not.toBe(secret)
  }
  model.rotated({ id: made.id, secret: made.secret })
}

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.option(fc.nat(3)).map((hint) => new Look(hint)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.boolean(), fc.constantFrom(undefined, undefined, 'k1', 'k2'))
      .map(([force, key]) => new Rotate(force, key)),
  },
  { weight: 1, arbitrary: fc.constant(new RotateInParallel()) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(1, 1000, OVERLAP_MS / 3, OVERLAP_MS - 1, OVERLAP_MS, WINDOW_MS - OVERLAP_MS, WINDOW_MS)
      .map((ms) => new Advance(() => running, ms)),
  },
  { weight: 1, arbitrary: fc.constant(new Restart(() => running)) },
)

it('signing secrets sign and validate as the specification says, for any timeline', async () => {
  await checkAsync(
    fc.asyncProperty(fc.commands([command], { maxCommands: 30, size: 'max' }), (commands) =>
      fc.asyncModelRun(async () => {
        const real = await Tenant.create()
        return { model: new RotationModel(real.first, running.clock.now()), real }
      }, commands),
    ),
    25,
  )
})
