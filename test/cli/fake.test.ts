/** `countersign fake`: the service in memory as a process, as a program of any language uses it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Countersign } from '../../clients/node/index.js'
import { packageFile } from '../../src/lib/package-root.js'
import { leash } from '../support/leash.js'

const COMMAND = [...leash(), packageFile('dist', 'src', 'cli', 'main.js'), 'fake']
const action = { type: 'transfer', amount: '1250.00' }
const image = 'cGhvdG8='

let fake: ChildProcess
let settings: Record<string, string>
let client: Countersign

beforeAll(async () => {
  fake = spawn(process.execPath, COMMAND, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = await once(fake.stdout!, 'data')
  settings = Object.fromEntries(
    String(text)
      .trim()
      .split('\n')
      .map((line) => line.replace('export ', '').split(/=(.*)/s).slice(0, 2)),
  )
  client = new Countersign({
    baseUrl: settings.CS_BASE_URL!,
    apiKey: settings.CS_API_KEY!,
    signingSecret: settings.CS_SIGNING_SECRETS!,
    tenantId: settings.CS_TENANT_ID!,
  })
})
afterAll(async () => {
  if (!fake || fake.exitCode !== null) return
  fake.kill()
  await once(fake, 'exit')
})

const ask = async (path: string, method = 'POST', body?: object) => {
  const response = await fetch(new URL(path, settings.CS_BASE_URL), {
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers freely
  return [response.status, await response.json()] as [number, any]
}

it('answers as the sandbox, signed, under an address that a client can check', async () => {
  const answer = await client.verify({ user_id: 'ada+match', image, action })
  const expected = { userId: 'ada+match', action, issuer: settings.CS_BASE_URL! }
  expect(await client.verifyVerdict(answer, expected)).toMatchObject({ verdict: 'approved', action })
  const rejected = await client.verify({ user_id: 'eve+no_match', image, action })
  expect(rejected).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
  expect(await ask('/fake/requests', 'GET')).toMatchObject([
    200,
    { data: [{ path: '/verify', body: { user_id: 'ada+match' } }, { body: { user_id: 'eve+no_match' } }] },
  ])
})

it('plays the person on the hosted page', async () => {
  const { session_id, url } = await client.createCaptureSession({
    user_id: 'ada+match',
    action,
    return_url: 'https://bank.example/confirmed',
  })
  expect(url).toContain(new URL(settings.CS_BASE_URL!).origin)
  const [status, { state, return_url }] = await ask(`/fake/capture-sessions/${session_id}/capture`)
  expect([status, state]).toEqual([200, 'over'])
  const proof = new URL(return_url).searchParams.get('capture_proof')
  const session = await client.getCaptureSession(session_id, { proof })
  const expected = { userId: 'ada+match', action, captureSessionId: session_id }
  expect(await client.verifyVerdict(session, expected)).toMatchObject({ verdict: 'approved' })
})

it('moves its clock when it is asked to, and follows that of the system otherwise', async () => {
  const [, before] = await ask('/fake/clock', 'POST', { advance_ms: 0 })
  const [, after] = await ask('/fake/clock', 'POST', { advance_ms: 100_000 })
  expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(100_000)
  await expect
    .poll(async () => (await ask('/fake/clock', 'POST', { advance_ms: 0 }))[1].now > after.now)
    .toBe(true)
  expect((await ask('/fake/clock', 'POST', {}))[0]).toBe(400)
})

it('says what is wrong with its options, and with what it is sent', async () => {
  for (const options of [
    ['--port', 'x'],
    ['--environment', 'staging'],
  ])
    await expect(promisify(execFile)(process.execPath, [...COMMAND, ...options])).rejects.toMatchObject({
      code: 2,
    })
  expect((await ask('/fake/unknown'))[0]).toBe(404)
  const { status } = await fetch(`${settings.CS_BASE_URL}/verify`, { method: 'POST', body: '{' })
  expect(status).toBe(400)
})
