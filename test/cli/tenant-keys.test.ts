/** `countersign tenant keys`: keys are made, listed, reissued and revoked while a service runs. */
import { beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/client.js'
import { type HostedService, workplaceForAll } from '../support/command.js'

const place = workplaceForAll()
let server: HostedService
beforeAll(async () => {
  server = await place.host()
  expect((await place.ask('tenant create acme')).code).toBe(0)
})

const sandbox = (key: string) => apiClient(`${server.sandbox}/v1`, key)
const keys = (...args: string[]) => place.run(['tenant', 'keys', ...args, '--environment', 'sandbox'])

describe('tenant keys', () => {
  it('makes a key that is shown once, lists it without its text, and revokes it', async () => {
    const grants = ['--scope', 'verify', '--scope', 'read', '--network', '127.0.0.0/8']
    const { code, stdout } = await keys('create', 'acme', '--name', 'payments', ...grants)
    expect(code).toBe(0)
    const [, key] = /^Key +(svc-sbx-\S{49})$/m.exec(stdout)!
    expect(stdout).toMatch(/^Scopes +verify, read$/m)
    expect((await sandbox(key!).call('GET', '/v1/users/nobody')).status).toBe(404)
    expect((await sandbox(key!).erase('nobody')).body.code).toBe('insufficient_scope')

    const listed = await place.ask('tenant keys list acme')
    expect(listed.json[0]).toMatchObject({
      ...{ type: 'sandbox', name: 'payments', scopes: ['verify', 'read'], networks: ['127.0.0.0/8'] },
      hint: `…${key!.slice(-4)}`,
    })
    expect(listed.json[1]).toMatchObject({ name: null, scopes: null, networks: null })
    expect(listed.stdout).not.toContain(key)
    const table = await place.run(['tenant', 'keys', 'list', 'acme'])
    expect(table.stdout).toMatch(/payments.+active.+verify, read.+127\.0\.0\.0\/8/)

    expect((await keys('revoke', 'acme', '--name', 'payments')).stdout).toContain('Revoked')
    expect((await sandbox(key!).health()).body.code).toBe('revoked_api_key')
  })

  it('reissues a key with the same scopes and networks, and keeps the old one for its grace period', async () => {
    const made = await keys('create', 'acme', '--name', 'ci', '--scope', 'audit', '--json')
    const { json } = await keys('reissue', 'acme', '--name', 'ci', '--grace', '1h', '--json')
    for (const key of [made.json.key, json.key]) {
      expect((await sandbox(key).health()).status).toBe(200)
      expect((await sandbox(key).erase('nobody')).body.code).toBe('insufficient_scope')
    }
  })

  it('reports a wrong scope or network, and makes no key', async () => {
    for (const [args, code] of [
      [['--name', 'bad', '--scope', 'admin'], 'invalid_scope'],
      [['--name', 'bad', '--network', '10.0.0.0/99'], 'invalid_network'],
      [['--name', 'bad name'], 'invalid_key_name'],
      [['--name', 'bad', '--environment', 'staging'], 'invalid_option'],
    ] as const) {
      const refused = await place.run([
        ...['tenant', 'keys', 'create', 'acme', '--environment', 'sandbox', '--json'],
        ...args,
      ])
      expect(refused.code).not.toBe(0)
      expect(refused.error.code).toBe(code)
    }
    const { json } = await place.ask('tenant keys list acme')
    expect(json.map(({ name }: { name: string }) => name)).not.toContain('bad')
  })
})
