/** Tests random sequences of requests, erasures, restarts and hours: the service must answer each one as the model does. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ApiResponse, apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { Advance, Restart } from '../support/model-commands.js'
import { checkAsync } from '../support/properties.js'
import { serviceOfFile } from '../support/service.js'
import {
  type Environment,
  IdempotencyModel,
  type Operation,
  type Request,
  WINDOW_MS,
} from './idempotency-model.js'

const running = await serviceOfFile({
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s',
  COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
  COUNTERSIGN_WRONG_KEY_LIMIT: '0',
})
const image = { production: base64(await face('ada', 300)), sandbox: base64(await plain()) }

/** A service with two unused tenants. */
class Installation {
  private readonly requestIds = new Set<string>()

  private constructor(private readonly keys: Array<Record<Environment, string>>) {}

  static async create(): Promise<Installation> {
    const keys = []
    for (let tenant = 0; tenant < 2; tenant++) {
      const created = await running.tenant()
      keys.push({ sandbox: created.sandboxKey, production: (await running.production(created)).key })
    }
    return new Installation(keys)
  }

  send(request: Request): Promise<ApiResponse> {
    const { operation, environment, form, key } = request
    const body = JSON.stringify(bodyOf(operation, environment))
    const headers = {
      'X-Svc-Idempotency-Key': key,
      'Content-Type': form === 'mistyped' ? 'text/plain' : 'application/json',
    }
    const raw = form === 'broken' ? body.slice(0, -1) : form === 'spaced' ? ` ${body}` : body
    return this.call(request, 'POST', operation.path, { raw, headers })
  }

  erase(place: Pick<Request, 'tenant' | 'environment'>, user: string): Promise<ApiResponse> {
    return this.call(place, 'DELETE', `/v1/delete?user_id=${encodeURIComponent(user)}`)
  }

  private async call(
    { tenant, environment }: Pick<Request, 'tenant' | 'environment'>,
    method: string,
    path: string,
    options = {},
  ): Promise<ApiResponse> {
    const client = apiClient(running.service.url(environment), this.keys[tenant]![environment])
    const response = await client.call(method, path, undefined, options)
    const requestId = response.headers.get('x-request-id')!
    expect(this.requestIds.has(requestId)).toBe(false)
    this.requestIds.add(requestId)
    return response
  }
}

function bodyOf(operation: Operation, environment: Environment): object {
  if (operation.path === '/v1/keys/rotate-signing') return { force: operation.force }
  const { user } = operation
  const photo = { user_id: user, image: image[environment] }
  return operation.path === '/v1/enroll'
    ? { ...photo, replace: operation.replace }
    : { ...photo, action: 'pay' }
}

const isReplay = (response: ApiResponse) => response.headers.get('x-svc-idempotent-replay') === 'true'
const codeOf = (response: ApiResponse): string | null => response.body.code ?? null
const summaryOf = (response: ApiResponse) => [response.status, codeOf(response), isReplay(response)]

type Command = fc.AsyncCommand<IdempotencyModel, Installation>

/** One request, or several copies of it in parallel. */
class Post implements Command {
  constructor(
    private readonly request: Request,
    private readonly times: number,
  ) {}

  check = () => true

  async run(model: IdempotencyModel, service: Installation): Promise<void> {
    const expected = model.expects(this.request)
    const responses = await Promise.all(Array.from({ length: this.times }, () => service.send(this.request)))
    // A copy that finds another one running is answered with 409 only.
    const answered = responses.filter((response) => codeOf(response) !== 'idempotency_in_progress')
    expect(answered.length).toBeGreaterThan(0)
    for (const response of responses)
      if (!answered.includes(response)) {
        expect(summaryOf(response)).toEqual([409, 'idempotency_in_progress', false])
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      }
    if (expected.kind === 'replay') {
      for (const response of answered)
        expect([response.text, ...summaryOf(response)]).toEqual([
          expected.text,
          expected.status,
          codeOf(response),
          true,
        ])
    } else if (expected.kind === 'rotated_before') {
      for (const response of answered) expect(summaryOf(response)).toEqual([409, 'secret_already_told', true])
    } else if (expected.kind === 'refusal') {
      for (const response of answered)
        expect(summaryOf(response)).toEqual([expected.status, expected.code, false])
    } else {
      const isSecretWithheld = (response: ApiResponse) => codeOf(response) === 'secret_already_told'
      for (const response of answered)
        if (!isSecretWithheld(response))
          expect([response.status, codeOf(response)]).toEqual([expected.status, expected.code])
      const first = answered.filter((response) => !isReplay(response))
      if (expected.isKept) {
        expect(first).toHaveLength(1)
        for (const response of answered)
          if (!isSecretWithheld(response)) expect(response.text).toBe(first[0]!.text)
      } else expect(first).toHaveLength(answered.length)
      model.executed(this.request, expected.status, first[0]!.text)
    }
  }

  toString = () => `${this.times} x ${JSON.stringify(this.request)}`
}

/** Two parallel requests that share only their key. */
class Race implements Command {
  constructor(
    private readonly one: Request,
    private readonly other: Request,
  ) {}

  // Both would be executed and kept, so that the second one is refused, in either order.
  check = (model: Readonly<IdempotencyModel>) =>
    [this.one, this.other].every((request) => {
      const expected = model.expects(request)
      return expected.kind === 'execution' && expected.isKept
    })

  async run(model: IdempotencyModel, service: Installation): Promise<void> {
    const requests = [this.one, this.other]
    const responses = await Promise.all(requests.map((request) => service.send(request)))
    const winner = responses.findIndex((response) => codeOf(response) !== 'idempotency_key_reused')
    expect(summaryOf(responses[1 - winner]!)).toEqual([422, 'idempotency_key_reused', false])
    const { status, text } = responses[winner]!
    expect(model.expects(requests[winner]!)).toMatchObject({ status, code: codeOf(responses[winner]!) })
    model.executed(requests[winner]!, status, text)
  }

  toString = () => `race of ${JSON.stringify(this.one)} and ${JSON.stringify(this.other)}`
}

class Erase implements Command {
  constructor(
    private readonly place: Pick<Request, 'tenant' | 'environment'>,
    private readonly user: string,
  ) {}

  check = () => true

  async run(model: IdempotencyModel, service: Installation): Promise<void> {
    expect((await service.erase(this.place, this.user)).status).toBe(model.erase(this.place, this.user))
  }

  toString = () => `erase ${JSON.stringify({ ...this.place, user: this.user })}`
}

const user = fc.constantFrom('ada', 'grace')
const scripted = fc.constantFrom('x+match', 'x+no_face', 'x+rate_limited', 'x+unavailable')
const environment = fc.constantFrom<Environment>('sandbox', 'production')
// Most requests are of the same tenant, so that their keys collide.
const place = { tenant: fc.constantFrom(0, 0, 0, 1), environment }
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ path: fc.constant('/v1/enroll'), user, replace: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ path: fc.constant('/v1/verify'), user }) },
  { weight: 2, arbitrary: fc.record({ path: fc.constant('/v1/verify'), user: scripted }) },
  { weight: 2, arbitrary: fc.record({ path: fc.constant('/v1/keys/rotate-signing'), force: fc.boolean() }) },
)
const form = fc.oneof(
  { weight: 9, arbitrary: fc.constant('plain') },
  { weight: 1, arbitrary: fc.constantFrom('spaced', 'broken', 'mistyped') },
) as fc.Arbitrary<Request['form']>
const request: fc.Arbitrary<Request> = fc.record({
  ...place,
  operation,
  form,
  key: fc.constantFrom('k1', 'k2'),
})

/** Production takes scripted users for users like any other, so that they would test nothing new there. */
const post = request
  .filter(
    ({ environment: where, operation: what }) =>
      where === 'sandbox' || !('user' in what && what.user.includes('+')),
  )
  .chain((one) => fc.constantFrom(1, 1, 1, 4).map((times) => new Post(one, times)))
const race = request.map(
  (one) =>
    new Race(
      { ...one, form: 'plain', operation: { path: '/v1/enroll', user: 'ada', replace: true } },
      { ...one, form: 'plain', operation: { path: '/v1/enroll', user: 'grace', replace: true } },
    ),
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 20, arbitrary: post },
  { weight: 2, arbitrary: race },
  { weight: 3, arbitrary: fc.record(place).chain((where) => user.map((name) => new Erase(where, name))) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(1, 1_800_000, WINDOW_MS / 2, WINDOW_MS - 1, WINDOW_MS)
      .map((ms) => new Advance(() => running, ms)),
  },
  { weight: 1, arbitrary: fc.constant(new Restart(() => running)) },
)

it('answers any sequence of requests as the model of the specification does', async () => {
  await checkAsync(
    fc.asyncProperty(fc.commands([command], { maxCommands: 30, size: 'max' }), (commands) =>
      fc.asyncModelRun(
        async () => ({ model: new IdempotencyModel(), real: await Installation.create() }),
        commands,
      ),
    ),
    25,
  )
})
