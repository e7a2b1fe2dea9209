import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.js'
import { Idempotency } from '../../src/idempotency/idempotency.js'
import { DAY_MS, MINUTE_MS } from '../../src/lib/clock.js'
import { StoreUnavailableError } from '../../src/storage/store.js'
import { expectRefusal } from '../support/answers.js'
import { type ApiResponse, apiClient, type CallOptions } from '../support/client.js'
import { poll } from '../support/command.js'
import { countRows, keptBytes } from '../support/database.js'
import { base64, landscape, photoOf, unseenFace } from '../support/faces.js'
import { plain } from '../support/images.js'
import { exchange, openSocket, rawRequest } from '../support/raw-socket.js'
import { serviceOfFile, startService } from '../support/service.js'
import { validSignatures } from '../support/trust.js'

const action = { type: 'transfer' }

const running = await serviceOfFile({
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s',
  COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
  COUNTERSIGN_MAX_BODY_BYTES: '400000',
})
const tenant = await running.tenant()
const sandbox = tenant.sandbox
const production = await running.production(tenant)
const image = base64(await plain())
const photo = await photoOf('ada')
const faceless = base64(await landscape())

const keyed = (key: string = randomUUID()) => ({ headers: { 'X-Svc-Idempotency-Key': key } })
const isReplay = (response: ApiResponse) => response.headers.get('x-svc-idempotent-replay') === 'true'
/** Expected replay of the first answer, byte for byte. */
const expectReplay = async (call: Promise<ApiResponse>, first: ApiResponse) => {
  const again = await call
  expect([isReplay(again), again.status, again.text]).toEqual([true, first.status, first.text])
}
/** Expected execution: the call is no replay. */
const expectExecuted = async (call: Promise<ApiResponse>, status = 201) => {
  const response = await call
  expect([response.status, isReplay(response)]).toEqual([status, false])
  return response
}
/** `POST /v1/enroll` as bytes, with headers that `fetch` would correct. */
const rawEnroll = (apiKey: string, key: string, length: number, body: string) =>
  rawRequest(
    'POST /v1/enroll',
    [
      `Authorization: Bearer ${apiKey}`,
      `X-Svc-Idempotency-Key: ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ],
    body,
  )
const idempotency = (store = running.service.core.store) => {
  const { vault, keys } = running.service.core
  return new Idempotency(store, vault, keys, running.clock)
}
const requestOf = (tenantId: string, key: string, environment: Environment, path: string) => ({
  ...{ tenantId, key, environment, method: 'POST', path },
})
let users = 0
const newUser = () => `user-${++users}`

/** Expected replay of a rotation: it names the new secret by its id, and says how to get another one. */
function expectAlreadyTold(replay: ApiResponse, { body: { signing_secret: made } }: ApiResponse): void {
  expect([replay.status, replay.body.code, isReplay(replay)]).toEqual([409, 'secret_already_told', true])
  expect(replay.body.details).toContainEqual({ path: 'signing_secret.id', issue: made.id })
  expect(replay.text).not.toContain('svc-sec-')
}

describe('a replay', () => {
  it('replays status and body, says so, and gives the replay a request id and signature of its own', async () => {
    const once = keyed()
    const user_id = newUser()
    const first = await production.enroll({ user_id, image: photo }, once)
    running.clock.advance(MINUTE_MS)
    const second = await production.enroll({ user_id, image: photo }, once)
    expect(first.headers.get('x-svc-idempotent-replay')).toBeNull()
    expect(second.headers.get('x-svc-idempotent-replay')).toBe('true')
    expect([second.status, second.text]).toEqual([first.status, first.text])
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    const secrets = { [tenant.secret.id]: tenant.secret.secret }
    const stamp = (response: ApiResponse) =>
      Number(/^t=(\d+)/.exec(response.headers.get('x-svc-signature')!)![1])
    expect(stamp(second) - stamp(first)).toBe(60)
    for (const response of [first, second])
      expect(validSignatures(response, secrets)).toEqual([tenant.secret.id])
  })

  it('never enrolls twice by a replay', async () => {
    const once = keyed()
    const user_id = newUser()
    const rows = () => Promise.all([countRows(running, 'reference'), countRows(running, 'audit')])
    const [references, audits] = await rows()
    for (let i = 0; i < 3; i++)
      expect((await production.enroll({ user_id, image: photo, replace: true }, once)).status).toBe(201)
    expect(await rows()).toEqual([references + 1, audits + 1])
  })

  it('replays a verify with the same token', async () => {
    const once = keyed()
    const request = { user_id: 'a+match', image, action }
    const first = await sandbox.verify(request, once)
    const second = await sandbox.verify(request, once)
    expect(second.body.jwt).toBe(first.body.jwt)
    expect(isReplay(second)).toBe(true)
  })

  it('replays a rotation with the id of the new secret, never the secret', async () => {
    const other = await running.tenant()
    const once = keyed()
    const first = await other.sandbox.rotate(undefined, once)
    const second = await other.sandbox.rotate(undefined, once)
    expectAlreadyTold(second, first)
    expect((await other.sandbox.rotate()).status).toBe(409)
    expect(await countRows(running, 'signing_secret', 'tenant_id = $1', [other.id])).toBe(2)
  })

  it('ends no other secret by a replay of a forced rotation', async () => {
    const other = await running.tenant()
    await other.sandbox.rotate()
    const once = keyed()
    const first = await other.sandbox.rotate({ force: true }, once)
    const second = await other.sandbox.rotate({ force: true }, once)
    expectAlreadyTold(second, first)
    const ids = (await other.sandbox.health()).headers.get('x-svc-signature')!
    expect(ids).toContain(first.body.previous.id)
    expect(ids).toContain(first.body.signing_secret.id)
  })

  it('replays for 24 hours from the first use of a key, not from the last', async () => {
    const once = keyed()
    const user_id = newUser()
    const request = { user_id, image, replace: true }
    const first = await sandbox.enroll(request, once)
    running.clock.advance(DAY_MS - 1)
    await expectReplay(sandbox.enroll(request, once), first)
    running.clock.advance(1)
    const tooLate = await expectExecuted(sandbox.enroll(request, once))
    expect(tooLate.body.reference_id).not.toBe(first.body.reference_id)
    await expectReplay(sandbox.enroll(request, once), tooLate)
  })

  it('replays after a restart', async () => {
    const once = keyed()
    const other = await startService()
    const owner = await other.tenant()
    const first = await owner.sandbox.enroll({ user_id: 'u', image }, once)
    await other.restart()
    const client = apiClient(other.service.url('sandbox'), owner.sandboxKey)
    await expectReplay(client.enroll({ user_id: 'u', image }, once), first)
    await other.stop()
  })

  it('stores kept responses so that nobody can read them in the database', async () => {
    const first = await sandbox.verify({ user_id: 'sealed+match', image, action }, keyed())
    for (const [name, bytes] of await keptBytes(running)) {
      expect(bytes.includes(first.body.jwt), name).toBe(false)
      expect(bytes.includes(first.body.jwt_public), name).toBe(false)
      // The request log and the table of sandbox verifications hold the id, because it is looked up there.
      expect(bytes.includes(`"verification_id":"${first.body.verification_id}"`), name).toBe(false)
    }
  })
})

describe('another payload under the same key', () => {
  it('refuses another payload under the same key with 422, and keeps the first response', async () => {
    const once = keyed()
    const user_id = newUser()
    const first = await sandbox.enroll({ user_id, image }, once)
    const other = sandbox.enroll({ user_id: newUser(), image }, once)
    await expectRefusal(other, 422, 'idempotency_key_reused', { error: 'conflict' })
    await expectReplay(sandbox.enroll({ user_id, image }, once), first)
  })

  it('compares payloads by their bytes: even other white space is another payload', async () => {
    const once = keyed()
    const json = JSON.stringify({ user_id: newUser(), image })
    await sandbox.call('POST', '/v1/enroll', undefined, { raw: json, ...once })
    const other = await sandbox.call('POST', '/v1/enroll', undefined, { raw: `${json} `, ...once })
    expect(other.body.code).toBe('idempotency_key_reused')
  })

  it('refuses another payload with 422 while the first request still runs, too', async () => {
    const once = keyed()
    const first = sandbox.enroll({ user_id: newUser(), images: Array(5).fill(photo) }, once)
    const others = await Promise.all(
      Array.from({ length: 3 }, () => sandbox.enroll({ user_id: newUser(), image }, once)),
    )
    // Any of the four may be first: it is executed, and the others are refused as other payloads.
    const statuses = [await first, ...others].map(({ status }) => status).sort()
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 422)).toHaveLength(3)
  })
})

describe('the same key in parallel', () => {
  it('executes parallel requests with one key once, and answers the others with 409 and Retry-After or the replay', async () => {
    const once = keyed()
    const user_id = newUser()
    // The engine has its work with them: what it remembers would be answered before the others arrive.
    const unseen = base64(await unseenFace('ada'))
    const request = { user_id, images: [unseen, unseen, unseen], replace: true }
    const before = await countRows(running, 'audit')
    const responses = await Promise.all(Array.from({ length: 10 }, () => production.enroll(request, once)))
    const executed = responses.filter((response) => response.status === 201 && !isReplay(response))
    expect(executed).toHaveLength(1)
    const waiting = responses.filter(({ status }) => status === 409)
    expect(waiting.length).toBeGreaterThan(0)
    for (const response of waiting) {
      expect(response.body).toMatchObject({ error: 'conflict', code: 'idempotency_in_progress' })
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    for (const response of responses)
      if (response.status !== 409) expect(response.text).toBe(executed[0]!.text)
    expect(await countRows(running, 'audit')).toBe(before + 1)
    await expectReplay(production.enroll(request, once), executed[0]!)
  })

  it('rotates once for parallel requests with one key', async () => {
    const other = await running.tenant()
    const once = keyed()
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => other.sandbox.rotate(undefined, once)),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body, text } of responses)
      if (status !== 200) {
        expect(status).toBe(409)
        expect(['idempotency_in_progress', 'secret_already_told']).toContain(body.code)
        expect(text).not.toContain('svc-sec-')
      }
  })
})

describe('the signing secret of a rotation', () => {
  const rotationOf = (tenantId: string, key: string) =>
    requestOf(tenantId, key, 'sandbox', '/v1/keys/rotate-signing')

  it('keeps no signing secret in the kept response of a rotation', async () => {
    const other = await running.tenant()
    const key = randomUUID()
    const { body } = await other.sandbox.rotate(undefined, keyed(key))
    const response = await idempotency().kept(rotationOf(other.id, key))
    const { secret, ...told } = body.signing_secret
    expect(secret).toMatch(/^svc-sec-/)
    expect(JSON.parse(response!.body)).toEqual({ ...body, signing_secret: told, overlap_seconds: undefined })
  })

  it('returns no signing secret from a response that an earlier version kept', async () => {
    const other = await running.tenant()
    const key = randomUUID()
    const first = await other.sandbox.rotate()
    // An earlier version kept the whole response, the secret included.
    const begun = await idempotency().begin(rotationOf(other.id, key), Buffer.alloc(0))
    if (!('execution' in begun)) throw new Error('the key is used already')
    const { store } = running.service.core
    await store.transaction('installation', (tx) =>
      begun.execution.keep(tx, { status: 200, body: first.text }),
    )
    begun.execution.release()
    expectAlreadyTold(await other.sandbox.rotate(undefined, keyed(key)), first)
  })

  it('refuses the sandbox key a replayed rotation once the production key is issued', async () => {
    const other = await running.tenant()
    const key = randomUUID()
    expect((await other.sandbox.rotate(undefined, keyed(key))).status).toBe(200)
    await running.production(other)
    for (const once of [keyed(key), keyed()]) {
      const refused = await expectExecuted(other.sandbox.rotate(undefined, once), 403)
      expect(refused.body.code).toBe('production_key_required')
      expect(refused.text).not.toContain('sec_')
    }
  })
})

describe('a refusal of the execution is kept', () => {
  it('keeps a 404, even when the user is enrolled meanwhile', async () => {
    const once = keyed()
    const user_id = newUser()
    const first = await sandbox.verify({ user_id, image, action }, once)
    expect(first.status).toBe(404)
    await sandbox.enroll({ user_id, image })
    await expectReplay(sandbox.verify({ user_id, image, action }, once), first)
  })

  it.each([
    [409, photo, false],
    [422, faceless, true],
  ])('keeps a %d', async (status, image, replace) => {
    const once = keyed()
    const user_id = newUser()
    await production.enroll({ user_id, image: photo })
    const first = await production.enroll({ user_id, image, replace }, once)
    expect(first.status).toBe(status)
    await expectReplay(production.enroll({ user_id, image, replace }, once), first)
  })
})

describe('what was not executed is not kept', () => {
  it.each<[number, (once: CallOptions, key: string) => Promise<{ status: number } | null>]>([
    [400, (once) => sandbox.enroll({ user_id: 'x' }, once)],
    [400, (once) => sandbox.enroll({ user_id: 'x', image: 'not base64!' }, once)],
    [400, (once) => sandbox.enroll({ user_id: 5, image }, once)],
    [401, (once) => running.anonymous('sandbox').enroll({ user_id: 'x', image }, once)],
    [
      403,
      (once) =>
        apiClient(running.service.url('production'), tenant.sandboxKey).enroll({ user_id: 'x', image }, once),
    ],
    [
      413,
      (_, key) => exchange(running.service.url('sandbox'), rawEnroll(tenant.sandboxKey, key, 500_000, 'x')),
    ],
    [
      415,
      ({ headers }) => {
        const options = { raw: '{}', headers: { ...headers, 'Content-Type': 'text/plain' } }
        return sandbox.call('POST', '/v1/enroll', undefined, options)
      },
    ],
    [429, (once) => sandbox.enroll({ user_id: 'a+rate_limited', image }, once)],
    [503, (once) => sandbox.enroll({ user_id: 'a+unavailable', image }, once)],
  ])('keeps no answer to a request that was not executed: %d', async (status, send) => {
    const key = randomUUID()
    expect((await send(keyed(key), key))?.status).toBe(status)
    await expectExecuted(sandbox.enroll({ user_id: newUser(), image }, keyed(key)))
  })

  it('keeps no 403 of a rotation', async () => {
    const key = randomUUID()
    const other = await running.tenant()
    await other.sandbox.verify({ user_id: 'a+match', image, action })
    for (let i = 0; i < 2; i++) await expectExecuted(other.sandbox.rotate(undefined, keyed(key)), 403)
  })

  it('keeps no answer to a request that failed: 500', async () => {
    const user_id = newUser()
    // Time passes, so that no other reference is as new as this one.
    running.clock.advance(1)
    await sandbox.enroll({ user_id, image })
    const { database } = running
    const [{ id, sealed: kept }] = (await database.query(
      'SELECT id, sealed FROM reference ORDER BY created_at DESC LIMIT 1',
    )) as [{ id: string; sealed: Buffer }]
    const put = (sealed: Buffer) =>
      database.query('UPDATE reference SET sealed = $1 WHERE id = $2', [sealed, id])
    const key = randomUUID()
    await put(Buffer.alloc(1))
    await expectRefusal(sandbox.verify({ user_id, image, action }, keyed(key)), 500, 'internal_error')
    await put(kept)
    await expectExecuted(sandbox.verify({ user_id, image, action }, keyed(key)), 200)
  })
})

describe('the scope of a key', () => {
  it('keeps idempotency keys of each tenant, each environment and each path apart', async () => {
    const once = keyed()
    const other = await running.tenant()
    const user_id = newUser()
    const request = { user_id, image: photo }
    await expectExecuted(sandbox.enroll(request, once))
    await expectExecuted(other.sandbox.enroll(request, once))
    await expectExecuted(production.enroll(request, once))
    await expectExecuted(sandbox.verify({ user_id, image, action }, once), 200)
  })

  it('replays for every API key of a tenant', async () => {
    const other = await running.tenant()
    const once = keyed()
    const first = await other.sandbox.enroll({ user_id: 'u', image }, once)
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(other.id)
    const key = await store.transaction('installation', (tx) =>
      tenancy.reissueKey(tx, record, 'sandbox', 0, null),
    )
    await expectReplay(
      apiClient(running.service.url('sandbox'), key).enroll({ user_id: 'u', image }, once),
      first,
    )
  })

  it('asks the caller to try again when the user is erased while the kept response is read', async () => {
    const key = randomUUID()
    const user_id = newUser()
    expect((await production.enroll({ user_id, image: photo }, keyed(key))).status).toBe(201)
    const { store } = running.service.core
    const read: typeof store.read = {
      ...store.read,
      idempotencyRecord: async (scope, now) => {
        const record = await store.read.idempotencyRecord(scope, now)
        if (record) expect((await production.erase(user_id)).status).toBe(200)
        return record
      },
    }
    const erasing = idempotency(Object.create(store, { read: { value: read } }))
    const request = requestOf(tenant.id, key, 'production', '/v1/enroll')
    await expect(erasing.kept(request)).rejects.toBeInstanceOf(StoreUnavailableError)
    await expectExecuted(production.enroll({ user_id, image: photo }, keyed(key)))
  })

  it('ignores the idempotency key of a DELETE', async () => {
    const once = keyed()
    const user_id = newUser()
    await sandbox.enroll({ user_id, image })
    expect((await sandbox.erase(user_id, once)).status).toBe(200)
    expect(isReplay(await sandbox.erase(user_id, once))).toBe(false)
    expect((await sandbox.erase(newUser(), once)).status).toBe(404)
  })
})

describe('an idempotency key', () => {
  it('takes an idempotency key of 1 to 255 printable ASCII characters', async () => {
    for (const key of ['k', 'x'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 'a b'])
      expect((await sandbox.enroll({ user_id: newUser(), image }, keyed(key))).status).toBe(201)
  })

  it('refuses an idempotency key that is empty, longer, or holds anything else', async () => {
    for (const key of ['', 'x'.repeat(256), 'a\u00e9b', 'a\tb']) {
      const raw = Buffer.from(rawEnroll(tenant.sandboxKey, key, 2, '{}'), 'latin1')
      const response = await exchange(running.service.url('sandbox'), raw)
      expect(response?.status, JSON.stringify(key)).toBe(400)
      expect(response?.body).toMatchObject({ error: 'invalid_request', code: 'invalid_idempotency_key' })
    }
  })
})

it('frees the key of a caller that hangs up, and nothing has happened', async () => {
  const key = randomUUID()
  const request = { user_id: newUser(), image: base64(await unseenFace('ada')) }
  const body = JSON.stringify(request)
  // The only worker is busy, so that the request still waits when its caller hangs up.
  const busy = Array.from({ length: 6 }, async () =>
    production.enroll({ user_id: newUser(), image: base64(await unseenFace('ada')) }),
  )
  const connection = await openSocket(running.service.url('production'))
  connection.socket.end(rawEnroll(production.key, key, body.length, body))
  await connection.closed()
  expect(connection.received()).toBe('')
  await poll(
    async () => running.logText(),
    (log) => log.includes('"status":499'),
  )
  await Promise.all(busy)
  await expectExecuted(production.enroll(request, keyed(key)))
})
