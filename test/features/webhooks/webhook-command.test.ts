/** Webhooks by command, with the receiver of the guide. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageFile } from '../../../src/lib/package-root.js'
import { apiClient } from '../../support/client.js'
import { poll, workplaceForAll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { leash } from '../../support/leash.js'

const place = workplaceForAll()
let app: ChildProcess
let said = ''
let url: string
let sandbox: ReturnType<typeof apiClient>

beforeAll(async () => {
  const server = await place.host()
  const { json } = await place.ask('tenant create acme')
  sandbox = apiClient(`${server.sandbox}/v1`, json.sandbox_key)
  const { id, secret } = json.signing_secret
  app = spawn(process.execPath, [...leash(), packageFile('docs', 'examples', 'webhooks', 'server.mjs')], {
    env: { ...process.env, PORT: '0', CS_SIGNING_SECRETS: `${id}:${secret}`, CS_ENVIRONMENT: 'sandbox' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  app.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  url = (await poll(async () => said, Boolean)).trim()
})
afterAll(async () => {
  if (app?.exitCode === null) {
    app.kill()
    await once(app, 'exit')
  }
})

const run = (...args: string[]) => place.run(['webhook', ...args, '--json'])
const told = (line: string) => poll(async () => said.includes(line), Boolean)
const isDelivered = (count: number) => async () => {
  const { json } = await run('deliveries', 'acme')
  return json.length === count && json.every(({ status }: { status: string }) => status === 'delivered')
}

it('a webhook is added, tested, gets one event of an erasure, sends it again, and is removed', async () => {
  const options = ['--sandbox', '--events', 'user.erased, user.locked_out']
  const { code, json: endpoint } = await run('add', 'acme', url, ...options)
  expect(code).toBe(0)
  expect(endpoint).toMatchObject({ environment: 'sandbox', url, events: ['user.erased', 'user.locked_out'] })
  expect((await run('list', 'acme')).json).toEqual([{ ...endpoint, waiting: 0, dropped: 0 }])
  await run('test', 'acme')
  await poll(isDelivered(1), Boolean)
  // The receiver's output may arrive later than its answer.
  await told('webhook.test\n')
  const image = base64(await face('ada'))
  await sandbox.enroll({ user_id: 'ada', image })
  const { body: receipt } = await sandbox.erase('ada')
  await poll(isDelivered(2), Boolean)
  await told(`ada is erased: ${receipt.erasure_id}\n`)
  const [{ id: delivery, last_outcome }] = (await run('deliveries', 'acme')).json
  expect(last_outcome).toBe('204')
  expect((await run('deliveries', 'acme', endpoint.id)).json).toHaveLength(2)
  expect((await run('deliveries', 'acme', 'whe_other')).json).toEqual([])
  const again = await run('redeliver', 'acme', delivery)
  expect([again.code, JSON.parse(again.stderr).error.code]).toEqual([1, 'body_gone'])
  expect((await run('remove', 'acme', endpoint.id)).json).toEqual({ removed: endpoint.id })
  expect((await run('deliveries', 'acme')).json).toEqual([])
})

it('a webhook has to be named where the tenant has none or several', async () => {
  const { code, stderr } = await run('test', 'acme')
  const { error } = JSON.parse(stderr)
  expect([code, error.code]).toEqual([2, 'wrong_usage'])
  expect(error.message).toContain('acme has 0 webhooks')
})

it('the receiver refuses an unsigned event', async () => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect([response.status, await response.json()]).toEqual([400, { error: 'signature_missing' }])
})

it('an address without TLS is refused', async () => {
  const { code, stderr } = await run('add', 'acme', 'http://example.com/')
  expect([code, JSON.parse(stderr).error.code]).toEqual([1, 'invalid_webhook_url'])
})
