/** Tests that a backup taken under load and restored elsewhere contains the users enrolled before it, with the kept responses. */
import { randomUUID } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type ApiClient, apiClient } from '../support/client.js'
import { until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { Crowd } from './crowd.js'
import { Installation } from './installation.js'

const USERS = 4

async function install(): Promise<Installation> {
  const installation = await Installation.create()
  onTestFinished(() => installation.dispose())
  return installation
}

it('a backup under load restores to a complete database: users verify, responses are replayed, the logs are intact', async () => {
  const original = await install()
  const server = await original.serve()
  const crowd = await Crowd.gather(original, server, { seed: 9 })
  const { key } = crowd.tenants[0]!
  const image = base64(await face('ada'))
  const enrol = (client: ApiClient, user_id: string, idempotencyKey: string) =>
    client.enroll({ user_id, image }, { headers: { 'X-Svc-Idempotency-Key': idempotencyKey } })
  const users = Array.from({ length: USERS }, (_, index) => ({ id: `before-${index}`, key: randomUUID() }))
  const answers: string[] = []
  for (const user of users) {
    const { status, text } = await enrol(apiClient(`${server.production}/v1`, key), user.id, user.key)
    expect(status).toBe(201)
    answers.push(text)
  }

  const stop = new AbortController()
  const working = crowd.work(server.production, stop.signal)
  await until(() => crowd.findings.acknowledged > 20)
  const copy = join(original.dataDir, 'copy.db')
  const before = crowd.findings.acknowledged
  await original.run('backup', copy)
  await until(() => crowd.findings.acknowledged > before)
  stop.abort()
  await working
  expect(crowd.problems).toEqual([])
  expect(crowd.findings.unanswered).toBe(0)
  expect(await server.stop()).toBe(0)

  const restored = await install()
  copyFileSync(join(original.dataDir, 'master.key'), join(restored.dataDir, 'master.key'))
  await restored.run('restore', copy)
  const again = await restored.serve()
  const client = apiClient(`${again.production}/v1`, key)
  for (const [index, user] of users.entries()) {
    const replay = await enrol(client, user.id, user.key)
    expect(replay.headers.get('x-svc-idempotent-replay')).toBe('true')
    expect(replay).toMatchObject({ status: 201, text: answers[index] })
    const { body } = await client.verify({ user_id: user.id, image, action: 'login' })
    expect(body).toMatchObject({ verdict: 'approved' })
  }
  expect(await again.stop()).toBe(0)
  const chains = JSON.parse(await restored.run('audit', 'verify', '--json'))
  expect(chains).toHaveLength(crowd.tenants.length)
  for (const chain of chains) expect(chain).toMatchObject({ broken_at: null })
})
