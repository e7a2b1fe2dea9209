/**
 * Every code of the registry, provoked for real: by the scenarios of the witnesses, or here where it needs a service of its own, or
 * guidance that a record does not hold. A code that no request can bring about does not belong in the registry.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PHOTO_GUIDANCE } from '../../clients/capture/guidance-codes.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { ERRORS, type ErrorCode } from '../../src/contract/error-codes.js'
import { packageFile } from '../../src/lib/package-root.js'
import { generateApiKey } from '../../src/tenants/api-key.js'
import type { KeyGrants } from '../../src/tenants/key-grants.js'
import { allowReturn, askForSession } from '../support/capture-page.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { withDatabase } from '../support/database.js'
import { base64, face, groupPhoto, landscape, unseenFace } from '../support/faces.js'
import { blurredFace, distantFace, plain, pngHeader, upsideDownFace } from '../support/images.js'
import { exchange, openSocket, type RawResponse, rawRequest } from '../support/raw-socket.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { validSignatures } from '../support/trust.js'

interface World {
  running: TestService
  tenant: TestTenant
  sandbox: ApiClient
  production: ApiClient & { key: string }
  /** A usable image without a face. */
  image: string
}

/** Enough for a call, and little to wait for while the store is locked. */
const LITTLE_PATIENCE = { COUNTERSIGN_DEADLINE_MS: '2500' }
const IMPATIENT = { COUNTERSIGN_DEADLINE_MS: '150', COUNTERSIGN_QUEUE_LIMIT: '1000' }

type Answer = ApiResponse | (RawResponse & { request: { method: string; target: string } })
type Provocation = (world: World) => Promise<Answer>

let world: World
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  // Reached from outside, so that the channel in the clear can be tried.
  world = await createWorld({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0', COUNTERSIGN_SANDBOX_LISTEN: '0.0.0.0:0' })
})
afterAll(async () => {
  for (const started of beside.values()) await (await started).running.stop()
  await world?.running.stop()
})

async function createWorld(env: Record<string, string>): Promise<World> {
  const running = await startService(env)
  const tenant = await running.tenant()
  return {
    running,
    tenant,
    sandbox: tenant.sandbox,
    production: await running.production(tenant),
    image: base64(await plain()),
  }
}

/** A service of its own, for what harms it. */
async function apart<T>(env: Record<string, string>, provoke: (world: World) => Promise<T>): Promise<T> {
  const own = await createWorld(env)
  try {
    return await provoke(own)
  } finally {
    await own.running.stop()
  }
}

/** Services with other settings that are not harmed by what is asked of them: one for each, started when first asked for. */
const beside = new Map<string, Promise<World>>()
async function besides<T>(env: Record<string, string>, provoke: (world: World) => Promise<T>): Promise<T> {
  const key = JSON.stringify(env)
  if (!beside.has(key)) beside.set(key, createWorld(env))
  return provoke(await beside.get(key)!)
}

/** Bytes that no client library would send, to the sandbox. @param start method and target, which the signature covers */
async function raw({ running }: World, start: string, bytes: string): Promise<Answer> {
  const response = await exchange(running.service.url('sandbox'), bytes)
  if (!response) throw new Error('no response')
  const [method, target] = start.split(' ') as [string, string]
  return { ...response, request: { method, target } }
}

const posted = ({ tenant }: World, bytes: number, body = '') =>
  rawRequest(
    'POST /v1/enroll',
    [
      `Authorization: Bearer ${tenant.sandboxKey}`,
      'Content-Type: application/json',
      `Content-Length: ${bytes}`,
    ],
    body,
  )

/** The answer to the second of two enrollments. */
async function enrolledTwice({ sandbox, image }: World): Promise<ApiResponse> {
  await sandbox.enroll({ user_id: newUser(), image })
  return sandbox.enroll({ user_id: newUser(), image })
}

const captures = { COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' }
const overNode = { COUNTERSIGN_HTTP: 'node' }

let furtherKeys = 0
async function furtherKey({ running, tenant }: World, grants: Partial<KeyGrants>) {
  const { tenancy } = running.service.core
  const operations = running.operations
  const { key } = await operations.keys.create(await tenancy.find(tenant.id), COMMAND_LINE, 'sandbox', {
    ...{ name: `further-${++furtherKeys}`, scopes: null, networks: null, ...grants },
  })
  return apiClient(running.service.url('sandbox'), key)
}

const enrolWith =
  (make: () => Buffer | Promise<Buffer>): Provocation =>
  async ({ production }) =>
    production.enroll({ user_id: newUser(), image: base64(await make()) })

const PROVOCATIONS = {
  malformed_request: () =>
    besides(overNode, (world) => raw(world, 'GET /v1/health', 'GET /v1/health HTTP/1.0\r\n\r\n')),
  request_timeout: () =>
    apart({ ...overNode, COUNTERSIGN_HTTP_HEAD_MS: '100' }, (world) =>
      raw(world, 'GET /v1/health', 'GET /v1/health HTTP/1.1\r\nHost: '),
    ),
  headers_too_large: () =>
    besides(overNode, (world) =>
      raw(world, 'GET /v1/health', rawRequest('GET /v1/health', [`X-Large: ${'x'.repeat(4096)}`])),
    ),
  invalid_api_key: ({ running }) =>
    besides(overNode, (elsewhere) =>
      apiClient(running.service.url('sandbox'), elsewhere.tenant.sandboxKey).health(),
    ),
  revoked_api_key: async ({ running }) => {
    const tenant = await running.tenant()
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(tenant.id)
    await store.transaction('installation', (tx) => tenancy.revokeKeys(tx, record, 'sandbox'))
    return tenant.sandbox.health()
  },
  tenant_suspended: async ({ running }) => {
    const tenant = await running.tenant()
    const { tenancy } = running.service.core
    const operations = running.operations
    await operations.lifecycle.suspend(await tenancy.find(tenant.id), COMMAND_LINE)
    return tenant.sandbox.health()
  },
  network_not_allowed: async (world) => (await furtherKey(world, { networks: ['192.0.2.0/24'] })).health(),
  client_certificate_required: async (world) => (await furtherKey(world, { certificate: 'CN=x' })).health(),
  insecure_channel: async ({ running }) => {
    const customer = await running.tenant()
    const outside = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')
    if (!outside) throw new Error('this machine has no address but loopback')
    const { port } = new URL(running.service.url('sandbox'))
    return apiClient(`http://${outside.address}:${port}/v1`, customer.sandboxKey).rotate()
  },
  idempotency_in_progress: async ({ production }) => {
    const image = base64(await face('ada'))
    const request = { user_id: newUser(), images: [image, image, image] }
    const once = { headers: { 'X-Svc-Idempotency-Key': newUser() } }
    const responses = await Promise.all(Array.from({ length: 4 }, () => production.enroll(request, once)))
    return responses.find(({ status }) => status === 409)!
  },
  image_unreadable: enrolWith(() => Buffer.from('not an image')),
  image_too_large: enrolWith(() => pngHeader(5001, 5000)),
  image_too_small: enrolWith(() => plain(63, 63)),
  face_not_found: enrolWith(landscape),
  multiple_faces: enrolWith(groupPhoto),
  face_too_small: enrolWith(distantFace),
  face_not_upright: enrolWith(upsideDownFace),
  low_quality: enrolWith(blurredFace),
  // The pack of the tests checks no liveness, so the sandbox stands in.
  liveness_failed: ({ sandbox, image }) => sandbox.enroll({ user_id: `${newUser()}+spoof`, image }),
  different_people: async ({ production }) =>
    production.enroll({
      user_id: newUser(),
      images: [base64(await face('ada')), base64(await face('grace'))],
    }),
  too_many_wrong_keys: () =>
    besides({ COUNTERSIGN_WRONG_KEY_LIMIT: '1' }, async ({ running }) => {
      const guess = () => apiClient(running.service.url('sandbox'), generateApiKey('sandbox')).health()
      await guess()
      return guess()
    }),
  internal_error: () =>
    besides(captures, async ({ running, sandbox }) => {
      withDatabase(running, (database) => database.exec("UPDATE tenant SET capture_page = '{'"))
      return askForSession(sandbox, { user_id: `${newUser()}+match` })
    }),
  sandbox_quota_reached: () => besides({ COUNTERSIGN_SANDBOX_USERS: '1' }, enrolledTwice),
  sandbox_daily_quota_reached: () => besides({ COUNTERSIGN_SANDBOX_RECORDS_PER_DAY: '1' }, enrolledTwice),
  sandbox_storage_low: () =>
    besides(
      { COUNTERSIGN_SANDBOX_DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) },
      ({ sandbox, image }) => sandbox.enroll({ user_id: newUser(), image }),
    ),
  engine_unavailable: () =>
    apart({}, async ({ running, production }) => {
      // The first step of a process that stops. Here it stays in that state, as when every worker is lost.
      await running.service.engine.drain()
      return production.enroll({ user_id: newUser(), image: base64(await face('ada')) })
    }),
  store_unavailable: () =>
    besides(LITTLE_PATIENCE, ({ running, sandbox, image }) =>
      withLock(running, () => sandbox.enroll({ user_id: newUser(), image })),
    ),
  shutting_down: () =>
    apart({}, async (own) => {
      const { service } = own.running
      const health = rawRequest('GET /v1/health', [`Authorization: Bearer ${own.tenant.sandboxKey}`])
      const [held, idle] = [
        await openSocket(service.url('sandbox')),
        await openSocket(service.url('sandbox')),
      ]
      held.send(posted(own, 2, '{'))
      idle.send(health)
      await idle.response()
      const stopped = service.stop()
      idle.send(health)
      const response = (await idle.response())!
      held.send('}')
      await stopped
      return { ...response, request: { method: 'GET', target: '/v1/health' } }
    }),
  deadline_exceeded: () => besides(IMPATIENT, (own) => raw(own, 'POST /v1/enroll', posted(own, 10, '{'))),
} satisfies Partial<Record<ErrorCode, Provocation>>

const enrollUnseen = async (production: ApiClient) =>
  production.enroll({ user_id: newUser(), image: base64(await unseenFace('ada')) })

/** Another process holds SQLite's write lock for as long as the store has patience, and longer. */
async function withLock<T>({ dataDir }: TestService, work: () => Promise<T>): Promise<T> {
  const other = new Database(`${dataDir}/countersign.db`)
  other.exec('BEGIN IMMEDIATE')
  try {
    return await work()
  } finally {
    other.exec('ROLLBACK')
    other.close()
  }
}

const RETRIED = new Set<ErrorCode>([
  ...(['rotation_in_progress', 'idempotency_in_progress', 'rate_limited', 'too_many_wrong_keys'] as const),
  ...(['sandbox_daily_quota_reached', 'sandbox_storage_low', 'overloaded', 'shutting_down'] as const),
  ...(['engine_unavailable', 'store_unavailable'] as const),
])
/** The only statuses of a category. */
const STATUSES: Record<string, number[]> = {
  biometric_rejected: [422],
  unavailable: [503, 504],
  internal: [500],
  rate_limited: [429],
  authentication_failed: [401],
  permission_denied: [403],
  not_found: [404],
}
const header = ({ headers }: Answer, name: string): string | null =>
  headers instanceof Headers ? headers.get(name) : (headers[name] ?? null)

const MEASURED = { component: 'sharpness', value: expect.any(Number), bound: { min: expect.any(Number) } }
const GUIDED = {
  guidance: expect.toBeOneOf([...PHOTO_GUIDANCE]),
  hint: expect.stringMatching(/^\S.+\.$/),
}

interface RecordedAnswer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

const folder = packageFile('test', 'witnesses', 'recorded')
/** Every refusal that the witnesses recorded of the real service. */
const RECORDED = readdirSync(folder)
  .flatMap((name): Array<{ calls: RecordedAnswer[] }> => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  .flatMap(({ calls }) => calls)
  .filter(({ body }) => body?.error !== undefined)
const WITNESSED = new Set<ErrorCode>(RECORDED.map(({ body }) => body.code))

/** The one error shape. @param header of the answer, null where it has none */
function expectShape(
  code: ErrorCode,
  { status, body }: Pick<Answer, 'status' | 'body'>,
  header: (name: string) => string | null,
) {
  const { category, ...known } = ERRORS[code]
  expect(status).toBe(known.status)
  expect(body).toEqual({
    error: category,
    code,
    message: expect.stringMatching(/^\S.+[.!?`]$|^<usual>$/s),
    remedy: expect.stringMatching(/^\S.+[.!?`]$|^<usual>$/s),
    doc_url: expect.stringMatching(new RegExp(`^http://[^/]+/errors#${code}$`)),
    request_id: header('x-request-id'),
    ...(body.details || category === 'biometric_rejected'
      ? {
          details: body.details.map(() => ({
            path: expect.any(String),
            issue: expect.any(String),
            ...(code === 'insufficient_scope' ? { scope: expect.any(String) } : {}),
            ...(code === 'policy_not_met' ? { requirement: expect.any(String) } : {}),
            ...(code === 'low_quality' && MEASURED),
            ...(category === 'biometric_rejected' && GUIDED),
          })),
        }
      : {}),
  })
  if (RETRIED.has(code)) expect(Number(header('retry-after'))).toBeGreaterThan(0)
  if (status === 401) expect(header('www-authenticate')).toMatch(/^Bearer/)
  // Nothing of the inside shows.
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:|SQLITE|svc-(sbx|prod|sec)-|\/tmp\//)
}

describe('the error registry', () => {
  it('has no error code that is provoked neither by a test here nor by the scenarios of the witnesses', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[]
    expect(codes.filter((code) => !(code in PROVOCATIONS) && !WITNESSED.has(code))).toEqual([])
  })

  it('gives each category the statuses of the contract', () => {
    for (const [code, { category, status }] of Object.entries(ERRORS)) {
      expect(code).toMatch(/^[a-z][a-z_]*$/)
      expect(STATUSES[category] ?? [status], code).toContain(status)
    }
  })

  it.each([...WITNESSED].filter((code) => !(code in PROVOCATIONS)))(
    'has an answer %s in the one error shape, wherever the witnesses met it',
    (code) => {
      for (const answer of RECORDED.filter(({ body }) => body.code === code))
        expectShape(code, answer, (name) => answer.headers[name] ?? null)
    },
  )

  for (const [code, provoke] of Object.entries(PROVOCATIONS) as Array<[ErrorCode, Provocation]>)
    it(`answers ${ERRORS[code].status} ${code} in the one error shape`, async () => {
      const response = await provoke(world)
      expectShape(code, response, (name) => header(response, name))
      expect(header(response, 'content-type')).toBe('application/json; charset=utf-8')
      expect(header(response, 'x-svc-signature')).toMatch(/^t=\d+(,kid=[^,]+,v2=[0-9a-f]{64})+$/)
    })
})

describe('what to do', () => {
  const GUIDANCE = {
    image_unreadable: 'file_unreadable',
    image_too_large: 'image_too_large',
    image_too_small: 'image_too_small',
    face_not_found: 'no_face',
    multiple_faces: 'several_faces',
    face_too_small: 'too_far',
    face_not_upright: 'not_upright',
    low_quality: 'blurred',
    liveness_failed: 'not_live',
    different_people: 'different_people',
  } as const
  for (const [code, guidance] of Object.entries(GUIDANCE) as Array<[keyof typeof GUIDANCE, string]>)
    it(`gives the guidance and hint for a photo that is refused as ${code}`, async () => {
      const { body } = await PROVOCATIONS[code](world)
      expect(body.details.map((detail: { guidance: string }) => detail.guidance)).toContain(guidance)
    })

  it('serves the page that doc_url leads to without an API key in both environments', async () => {
    for (const environment of ['production', 'sandbox'] as const) {
      const { running } = world
      const refused = await apiClient(running.service.url(environment), 'nonsense').call('GET', '/v1/health')
      const { origin, pathname, hash } = new URL(refused.body.doc_url)
      expect(origin).toBe(new URL(running.service.url(environment)).origin)
      const response = await fetch(`${origin}${pathname}`)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      const page = await response.text()
      expect(page).toContain(`<section id="${hash.slice(1)}">`)
      for (const code of Object.keys(ERRORS)) expect(page).toContain(`<section id="${code}">`)
    }
  })

  it('names the base URL of a key of the other environment', async () => {
    const { running, production, tenant } = world
    const { service } = running
    for (const [at, other, key] of [
      ['sandbox', 'production', production.key],
      ['production', 'sandbox', tenant.sandboxKey],
    ] as const) {
      const { body } = await apiClient(service.url(at), key).call('GET', '/v1/health')
      expect(body).toMatchObject({
        ...{ error: 'permission_denied', code: 'wrong_environment' },
        message: `This is the ${at} base URL; the API key is a ${other} key.`,
      })
      expect(body.remedy).toContain(service.url(other))
    }
  })

  it('mentions the checksum where a key was copied in part', async () => {
    const { running, tenant } = world
    const client = apiClient(running.service.url('sandbox'), tenant.sandboxKey.slice(0, -1))
    const { body } = await client.call('GET', '/v1/health')
    expect(body.code).toBe('malformed_api_key')
    expect(body.remedy).toMatch(/checksum.*truncated/)
  })

  it('names the allowed origins of the capture page, and the command that allows another', async () => {
    await apart(captures, async ({ running, tenant, sandbox }) => {
      const ask = (return_url: string) => askForSession(sandbox, { user_id: 'ada+match', return_url })
      const before = await ask('https://shop.example/done')
      expect(before.body.message).toContain('https://shop.example: none is allowed yet')
      await allowReturn(running, tenant, { returnOrigins: ['https://bank.example'] })
      const after = await ask('https://shop.example/done')
      expect(after.body.message).toContain('allowed are https://bank.example.')
      expect(after.body.remedy).toContain(
        `countersign tenant capture-page ${tenant.name} --return-origin https://bank.example https://shop.example`,
      )
      const { body } = await ask('not a url')
      expect(body.message).toContain('must be an https URL')
    })
  })
})

describe('a failing store', () => {
  it('answers 503 at the deadline while the store stays locked, leaves nothing half done, and serves again afterwards', () =>
    besides(LITTLE_PATIENCE, async ({ running, sandbox, image, tenant }) => {
      const user_id = newUser()
      const once = { headers: { 'X-Svc-Idempotency-Key': user_id } }
      const refused = await withLock(running, () => sandbox.enroll({ user_id, image }, once))
      expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable'])
      expect(validSignatures(refused, { [tenant.secret.id]: tenant.secret.secret })).toHaveLength(1)
      expect((await sandbox.erase(user_id)).status).toBe(404)
      const again = await sandbox.enroll({ user_id, image }, once)
      expect([again.status, again.headers.get('x-svc-idempotent-replay')]).toEqual([201, null])
      expect((await sandbox.health()).status).toBe(200)
    }))

  it('waits for a short lock of the store', async () => {
    const { running, sandbox, image } = world
    const other = new Database(`${running.dataDir}/countersign.db`)
    other.exec('BEGIN IMMEDIATE')
    const pending = sandbox.enroll({ user_id: newUser(), image })
    expect((await sandbox.health()).status).toBe(200)
    other.exec('ROLLBACK')
    other.close()
    expect((await pending).status).toBe(201)
  })
})

describe('an overloaded service', () => {
  it('refuses calls at once when the queue is full, and still answers health', () =>
    besides({ COUNTERSIGN_QUEUE_LIMIT: '2' }, async ({ production }) => {
      const flood = Array.from({ length: 20 }, () => enrollUnseen(production))
      const health = await production.health()
      expect(health.status).toBe(200)
      expect(health.body.checks.engine.queue.limit).toBe(2)
      expect(health.body.checks.engine.queue.waiting).toBeLessThanOrEqual(2)
      const statuses = (await Promise.all(flood)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(3)
      expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0)
      expect(statuses.every((status) => status === 201 || status === 503)).toBe(true)
    }))

  it('answers 504 to a call that waited longer than its deadline', () =>
    besides(IMPATIENT, async ({ production }) => {
      const request = async () => {
        const image = base64(await unseenFace('ada'))
        return production.enroll({ user_id: newUser(), images: Array(5).fill(image) })
      }
      const responses = await Promise.all(Array.from({ length: 25 }, request))
      const late = responses.filter(({ status }) => status === 504)
      expect(late.length).toBeGreaterThan(0)
      for (const { body } of late) expect(body.code).toBe('deadline_exceeded')
      expect(responses.every(({ status }) => status === 504 || status === 201)).toBe(true)
    }))
})
