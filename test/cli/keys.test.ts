import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { beforeAll, describe, expect, it } from 'vitest'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { apiClient } from '../support/client.js'
import { type HostedService, workplaceForAll, workplaceForEach } from '../support/command.js'
import { base64, face } from '../support/faces.js'

const place = workplaceForEach()

const masterKey = (fill: number) => Buffer.alloc(32, fill).toString('base64')

async function createTenant(env?: Record<string, string>): Promise<{ sandbox_key: string }> {
  return (await place.ask('tenant create acme', env)).json
}

it('a malformed key for an existing database is answered with the id of the right key, not with advice to make a new one', async () => {
  await createTenant()
  const file = place.path('master.key')
  const id = masterKeyId(Buffer.from(await readFile(file, 'utf8'), 'base64'))
  await writeFile(file, 'cut\n')
  const message = `The master key in ${file} is not 32 bytes of base64: restore the master key of the database (id ${id}); a new key opens nothing.`
  expect((await place.ask('tenant list')).error.message).toBe(message)
  expect((await place.ask('serve')).error.message).toBe(message)
  expect((await place.ask('config check')).json.problems).toEqual([message])
})

describe('rotating the master key', () => {
  it('replaces the key file while the service runs, and enrolled users stay readable', async () => {
    const server = await place.host()
    const { sandbox_key } = await createTenant()
    const before = await readFile(place.path('master.key'), 'utf8')
    const enrolled = await apiClient(`${server.sandbox}/v1`, sandbox_key).enroll({
      user_id: 'ada',
      image: base64(await face('ada', 120)),
    })
    expect(enrolled.status).toBe(201)

    const rotated = await place.ask('keys rotate-master')
    expect(rotated.code).toBe(0)
    expect(rotated.json).toMatchObject({
      master_key_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      previous: null,
    })
    const after = await readFile(place.path('master.key'), 'utf8')
    expect(after).not.toBe(before)
    // The kept key opens earlier backups; only naming it destroys it.
    const { kept } = rotated.json
    expect(await readFile(kept, 'utf8')).toBe(before)
    expect((await stat(kept)).mode & 0o777).toBe(0o600)
    const oldId = kept.split('.').at(-1)
    const discard = (id: string) => place.run(['keys', 'discard-master', id, '--json'])
    expect((await discard(rotated.json.master_key_id)).error.code).toBe('key_in_use')
    expect((await discard('../master.key')).error.code).toBe('key_not_found')
    expect((await discard(oldId)).json).toEqual({ discarded: oldId, file: kept })
    await expect(stat(kept)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await stat(place.path('master.key'))).mode & 0o777).toBe(0o600)

    const again = { user_id: 'ada', image: base64(await face('ada', 120)), replace: true }
    expect((await apiClient(`${server.sandbox}/v1`, sandbox_key).enroll(again)).status).toBe(201)
    await server.stop()
    const restarted = await place.host()
    const erased = await apiClient(`${restarted.sandbox}/v1`, sandbox_key).erase('ada')
    expect(erased.body).toMatchObject({ status: 'erased', erased: { references: 1 } })

    await writeFile(place.path('old.key'), before, { mode: 0o600 })
    const old = await place.ask('tenant list', {
      COUNTERSIGN_MASTER_KEY_FILE: place.path('old.key'),
    })
    expect(old.code).not.toBe(0)
    expect(old.stderr).toContain('does not open this database')
  })

  it('takes a new key from a file where the present one is not in the key file; both work until it is finished', async () => {
    const [old, next] = [{ COUNTERSIGN_MASTER_KEY: masterKey(1) }, { COUNTERSIGN_MASTER_KEY: masterKey(2) }]
    await createTenant(old)
    expect((await place.ask('keys rotate-master', old)).error.code).toBe('new_key_needed')
    const file = place.path('next.key')
    await writeFile(file, masterKey(2), { mode: 0o600 })
    expect((await place.run(['keys', 'rotate-master', '--new-key-file', file], old)).code).toBe(0)
    for (const env of [old, next])
      expect((await place.ask('audit verify', env)).json).toMatchObject([{ broken_at: null }])

    const finding = async (env: Record<string, string>) =>
      (await place.ask('doctor', env)).json.findings.find(
        ({ check }: { check: string }) => check === 'master key',
      )
    const ids = [1, 2].map((fill) => masterKeyId(Buffer.alloc(32, fill)))
    expect(await finding(old)).toMatchObject({
      status: 'warning',
      detail: `a change is not finished: both ${ids.join(' and ')} open the database`,
      remedy: expect.stringMatching(/--finish.*--cancel/),
    })

    // In the wrong order this would delete the new key: the command says so, and does it only for a key named by id.
    const early = await place.ask('keys rotate-master --finish', old)
    expect(early.error.code).toBe('not_the_new_key')
    expect((await place.run(['tenant', 'list'], next)).code).toBe(0)

    const finished = await place.ask('keys rotate-master --finish', next)
    expect(finished.json.forgotten).toHaveLength(1)
    expect(await finding(next)).toBeUndefined()
    expect((await place.run(['tenant', 'list'], next)).code).toBe(0)
    expect((await place.run(['tenant', 'list'], old)).code).not.toBe(0)
  })

  it('can be cancelled until the new key is configured, and not after that', async () => {
    const [old, next] = [{ COUNTERSIGN_MASTER_KEY: masterKey(1) }, { COUNTERSIGN_MASTER_KEY: masterKey(2) }]
    await createTenant(old)
    const file = place.path('next.key')
    await writeFile(file, masterKey(2), { mode: 0o600 })
    const cancel = (env: Record<string, string>) => place.ask('keys rotate-master --cancel', env)
    await place.run(['keys', 'rotate-master', '--new-key-file', file], old)
    expect((await cancel(next)).error.code).toBe('too_late')
    expect((await cancel(old)).json.forgotten).toHaveLength(1)
    expect((await place.run(['tenant', 'list'], next)).code).not.toBe(0)
    const nothing = await place.ask('keys rotate-master --finish', old)
    expect(nothing.error.code).toBe('nothing_prepared')
  })

  it('refuses the key in use as the new one', async () => {
    await createTenant()
    const file = place.path('master.key')
    const result = await place.run(['keys', 'rotate-master', '--new-key-file', file, '--json'])
    expect(result.error.code).toBe('same_key')
  })
})

describe('services that could not follow a new master key', () => {
  const place = workplaceForAll()
  let sandboxKey: string
  let server: HostedService
  /** Where commands find the key in use. */
  let configured: Record<string, string> = {}
  /** The service has a copy of the key, as systemd's LoadCredential makes one. */
  const byCopy = () => ({ COUNTERSIGN_MASTER_KEY_FILE: place.path('copy.key') })
  beforeAll(async () => {
    sandboxKey = (await place.ask('tenant create acme')).json.sandbox_key
    await copyFile(place.path('master.key'), place.path('copy.key'))
    server = await place.host(byCopy())
  })
  const isReady = async (admin: string) => (await fetch(`${admin}/readyz`)).status === 200
  const idOf = async (file: string) =>
    masterKeyId(Buffer.from(await readFile(place.path(file), 'utf8'), 'base64'))

  it('stop the one-step form from changing anything, and are named with the keys that they can read', async () => {
    const before = await readFile(place.path('master.key'), 'utf8')
    const { error } = await place.ask('keys rotate-master')
    expect(error.code).toBe('services_cannot_follow')
    expect(error.message).toContain(`${hostname()}/${process.pid} (it can read ${await idOf('master.key')})`)
    expect(error.message).toContain('--new-key-file')
    expect(await readFile(place.path('master.key'), 'utf8')).toBe(before)
    expect((await readdir(place.dataDir)).filter((name) => name.startsWith('master.key'))).toEqual([
      'master.key',
    ])
    expect((await place.run(['audit', 'verify'])).code).toBe(0)
    expect(await isReady(server.admin)).toBe(true)
  })

  it('stop --finish from deleting the old key until each was restarted with the new one', async () => {
    await writeFile(place.path('next.key'), masterKey(2), { mode: 0o600 })
    const next = { COUNTERSIGN_MASTER_KEY_FILE: place.path('next.key') }
    const rotate = (step: string[], env = {}) => place.run(['keys', 'rotate-master', ...step, '--json'], env)
    expect((await rotate(['--new-key-file', place.path('next.key')])).code).toBe(0)

    expect((await rotate(['--finish'], next)).error.code).toBe('services_cannot_follow')
    expect((await apiClient(`${server.sandbox}/v1`, sandboxKey).health()).status).toBe(200)
    expect(await isReady(server.admin)).toBe(true)

    await server.stop()
    await copyFile(place.path('next.key'), place.path('copy.key'))
    server = await place.host(byCopy())
    configured = next
    const { nodes } = (await place.ask('nodes', next)).json
    expect(nodes).toMatchObject([{ is_serving: true, master_keys: [await idOf('next.key')] }])
    expect((await rotate(['--finish'], next)).code).toBe(0)
    const image = base64(await face('ada', 120))
    const enrolled = await apiClient(`${server.sandbox}/v1`, sandboxKey).enroll({ user_id: 'ada', image })
    expect(enrolled.status).toBe(201)
    expect(await isReady(server.admin)).toBe(true)
    await server.stop()
  })

  it('are only those that run: a killed service does not count', async () => {
    const killed = await place.serve([], byCopy())
    killed.signal('SIGKILL')
    await killed.exited
    expect((await place.ask('nodes', configured)).json.nodes).toEqual([])
    expect((await place.ask('keys rotate-master', configured)).code).toBe(0)
  })
})

it("a master key from a command opens the database; a failure is reported without the command's output", async () => {
  await createTenant({ COUNTERSIGN_MASTER_KEY: masterKey(3) })
  const good = { COUNTERSIGN_MASTER_KEY_COMMAND: `echo ${masterKey(3)}` }
  expect((await place.ask('tenant list', good)).json).toHaveLength(1)
  const bad = await place.run(['tenant', 'list'], {
    COUNTERSIGN_MASTER_KEY_COMMAND: 'echo half-a-secret; exit 3',
  })
  expect(bad.code).not.toBe(0)
  expect(bad.stderr).toContain('COUNTERSIGN_MASTER_KEY_COMMAND failed (exit code 3)')
  expect(bad.stderr + bad.stdout).not.toContain('half-a-secret')
})
