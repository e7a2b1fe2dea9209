import { beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { adviceText } from '../support/advice.js'
import { type ApiClient, apiClient } from '../support/client.js'
import { type HostedService, workplaceForAll, workplaceOfTest } from '../support/command.js'
import { signInAt } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { validSignatures } from '../support/trust.js'

const place = workplaceForAll()
let server: HostedService
let photo: string
beforeAll(async () => {
  server = await place.host()
  photo = base64(await face('ada'))
})

const sandbox = (key: string): ApiClient => apiClient(`${server.sandbox}/v1`, key)
const production = (key: string): ApiClient => apiClient(`${server.production}/v1`, key)

async function create(name: string) {
  const { code, json } = await place.run(['tenant', 'create', name, '--json'])
  expect(code).toBe(0)
  return json as { tenant_id: string; sandbox_key: string; signing_secret: { id: string; secret: string } }
}

/** A tenant whose production key is issued but not revealed. */
async function createIssued(name: string) {
  const tenant = await create(name)
  const verified = await sandbox(tenant.sandbox_key).verify({
    user_id: 'u+match',
    image: photo,
    action: 'login',
  })
  expect(verified.body).toMatchObject({ verdict: 'approved', production_key: 'issued' })
  return tenant
}

async function reveal(name: string): Promise<string> {
  const { code, json } = await place.run(['tenant', 'production-key', name, '--json'])
  expect(code).toBe(0)
  return json.production_key
}

async function expectRevoked(client: ApiClient) {
  const response = await client.health()
  expect(response.status).toBe(401)
  expect(response.body).toMatchObject({ error: 'authentication_failed', code: 'revoked_api_key' })
}

describe('tenant create', () => {
  it('prints exactly the key, the secret and the address of the dashboard', async () => {
    const { code, json, stderr } = await place.ask('tenant create shape')
    expect(code).toBe(0)
    expect(stderr).toBe('')
    expect(json).toEqual({
      tenant_id: expect.stringMatching(/^ten_[0-9a-f]{32}$/),
      name: 'shape',
      sandbox_key: expect.stringMatching(/^svc-sbx-[0-9A-Za-z]{49}$/),
      signing_secret: {
        id: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
        secret: expect.stringMatching(/^svc-sec-[0-9A-Za-z]{43}$/),
      },
      dashboard_url: expect.stringMatching(/^http:\/\/.+\/#\/login\/[0-9A-Za-z]{43}$/),
      signed_fmr: 1e-4,
      signed_fmr_basis: 'measured',
    })
  })

  it('prints the same for people, and says that it is shown only now', async () => {
    const { code, stdout, stderr } = await place.run(['tenant', 'create', 'people'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Sandbox key +svc-sbx-\S{49}$/m)
    expect(stdout).toMatch(/^Signing secret +svc-sec-\S{43}$/m)
    expect(stderr).toContain('shown only now')
  })

  it('takes effect in a running service at once', async () => {
    const tenant = await create('at-once')
    const response = await sandbox(tenant.sandbox_key).health()
    expect(response.status).toBe(200)
    const { id, secret } = tenant.signing_secret
    expect(validSignatures(response, { [id]: secret })).toEqual([id])
  })

  it('makes one tenant when two commands create the same name at once', async () => {
    const results = await Promise.all([1, 2].map(() => place.spawn(['tenant', 'create', 'race', '--json'])))
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1])
    expect(results.find(({ code }) => code === 1)!.error.code).toBe('tenant_exists')
  })

  it('accepts a contract, which the list shows', async () => {
    const created = await place.ask('tenant create contract --rate-limit 7/s --fmr 5e-5')
    expect(created.code).toBe(0)
    const { json } = await place.ask('tenant list')
    expect(json.find(({ name }: { name: string }) => name === 'contract')).toMatchObject({
      rate_limit_per_second: 7,
      fmr: 5e-5,
    })
    expect(created.json).toMatchObject({ signed_fmr: 5e-5, signed_fmr_basis: 'measured' })
    const { stdout } = await place.run(['tenant', 'show', 'contract'])
    expect(stdout).toMatch(/^False match rate +0\.00005; signed at 0\.00005, measured$/m)
  })

  for (const [option, value] of [
    ['--rate-limit', 'fast'],
    ['--fmr', '2'],
    ['--fmr', '0.5'],
  ] as const)
    it(`refuses ${option} ${value} as wrong usage, and makes no tenant`, async () => {
      const refused = await place.run(['tenant', 'create', 'unmade', option, value, '--json'])
      expect(refused.code).toBe(2)
      expect(refused.error.message).toContain(option)
      const { stdout } = await place.run(['tenant', 'list'])
      expect(stdout).not.toContain('unmade')
    })
})

describe('tenant list', () => {
  it('shows the state of every key, but never a key or a secret', async () => {
    const tenant = await createIssued('listed')
    const key = await reveal('listed')
    for (const args of [
      ['tenant', 'list', '--json'],
      ['tenant', 'list'],
    ]) {
      const { code, stdout } = await place.run(args)
      expect(code).toBe(0)
      expect(stdout).toContain('listed')
      for (const secret of [tenant.sandbox_key, tenant.signing_secret.secret, key])
        expect(stdout).not.toContain(secret.slice(8, 40))
    }
    const { json } = await place.ask('tenant list')
    const listed = json.find(({ name }: { name: string }) => name === 'listed')
    expect(listed).toMatchObject({ tenant_id: tenant.tenant_id, production_key: 'revealed' })
    expect(listed.keys).toEqual([
      expect.objectContaining({ type: 'production', hint: `…${key.slice(-4)}`, revoked_at: null }),
      expect.objectContaining({
        type: 'sandbox',
        hint: `…${tenant.sandbox_key.slice(-4)}`,
        revoked_at: null,
      }),
    ])
  })

  it('says how to begin when there are no tenants', async () => {
    const empty = await workplaceOfTest()
    await empty.host()
    const people = await empty.run(['tenant', 'list'])
    expect(people).toMatchObject({ code: 0, stdout: expect.stringContaining('countersign tenant create') })
    expect((await empty.ask('tenant list')).json).toEqual([])
  })
})

describe('tenant production-key', () => {
  it('is refused before a verify in the sandbox was approved', async () => {
    const tenant = await create('early')
    const rejected = await sandbox(tenant.sandbox_key).verify({
      user_id: 'u+no_match',
      image: photo,
      action: 'login',
    })
    expect(rejected.body).toMatchObject({ verdict: 'rejected' })
    const result = await place.ask('tenant production-key early')
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'production_key_not_issued' } })
  })

  it('is issued by the operator with --issue, which the refusal names and the audit log records', async () => {
    await create('shell')
    const refused = await place.ask('tenant production-key shell')
    expect(refused.error.message).toContain('countersign tenant production-key shell --issue')
    const { stdout } = await place.run(['tenant', 'production-key', 'shell', '--issue', '--new-secret'])
    const [, key] = /^Production key +(svc-prod-\S+)$/m.exec(stdout)!
    expect(stdout).toMatch(/^For the SDK +CS_SIGNING_SECRETS=sec_[0-9a-f]+:svc-sec-\S+$/m)
    expect((await production(key!).health()).status).toBe(200)
    const log = await production(key!).call('GET', '/v1/audit?event=key_revealed')
    expect(log.text).toContain('"issued_without_sandbox":true')
    const named = ['tenant', 'keys', 'create', 'shell', '--name', 'payments', '--scope', 'verify']
    expect((await place.run(named)).code).toBe(0)
  })

  it('is revealed with --issue as without where the sandbox has issued it', async () => {
    await createIssued('both')
    const { json } = await place.ask('tenant production-key both --issue')
    const log = await production(json.production_key).call('GET', '/v1/audit?event=key_revealed')
    expect(log.text).not.toContain('issued_without_sandbox')
  })

  it('prints only the key, once, and the service accepts it at once', async () => {
    const tenant = await createIssued('once')
    const { code, stdout } = await place.run(['tenant', 'production-key', 'once'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^svc-prod-[0-9A-Za-z]{49}\n$/)
    const response = await production(stdout.trim()).health()
    expect(response.status).toBe(200)
    const { id, secret } = tenant.signing_secret
    expect(validSignatures(response, { [id]: secret })).toEqual([id])

    const again = await place.ask('tenant production-key once')
    expect(again).toMatchObject({ code: 1, stdout: '', error: { code: 'production_key_already_revealed' } })
    expect(again.error.message).toContain('reissue-key once --type production')
  })

  it('makes a new signing secret with --new-secret, and ends the one used with the sandbox at once', async () => {
    const tenant = await createIssued('fresh')
    const result = await place.ask('tenant production-key fresh --new-secret')
    expect(result).toMatchObject({
      code: 0,
      json: {
        production_key: expect.stringMatching(/^svc-prod-/),
        signing_secret: {
          id: expect.stringMatching(/^sec_/),
          secret: expect.stringMatching(/^svc-sec-/),
        },
      },
    })
    const { production_key, signing_secret: made } = result.json
    const both = { [tenant.signing_secret.id]: tenant.signing_secret.secret, [made.id]: made.secret }
    for (const client of [production(production_key), sandbox(tenant.sandbox_key)])
      expect(validSignatures(await client.health(), both)).toEqual([made.id])
    const log = await production(production_key).call('GET', '/v1/audit?event=key_revealed')
    expect(log.text).toContain(`"new_signing_secret":"${made.id}"`)
    expect(log.text).not.toContain('svc-')

    const again = await place.ask('tenant production-key fresh --new-secret')
    expect(again).toMatchObject({ code: 1, stdout: '', error: { code: 'production_key_already_revealed' } })
    expect(validSignatures(await sandbox(tenant.sandbox_key).health(), both)).toEqual([made.id])
  })

  it('reveals the key to only one of two commands at once', async () => {
    await createIssued('two-ask')
    const results = await Promise.all(
      [1, 2].map(() => place.spawn(['tenant', 'production-key', 'two-ask', '--json'])),
    )
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1])
  })
})

describe('tenant revoke-key', () => {
  it('revokes a key at once', async () => {
    const tenant = await create('revoked')
    const client = sandbox(tenant.sandbox_key)
    expect((await client.health()).status).toBe(200)
    const { code, json } = await place.ask('tenant revoke-key revoked --type sandbox')
    expect({ code, json }).toEqual({ code: 0, json: { revoked: 1 } })
    await expectRevoked(client)
  })

  it('is refused when no key is active', async () => {
    await create('nothing-active')
    const production = await place.ask('tenant revoke-key nothing-active --type production')
    expect(production).toMatchObject({ code: 1, error: { code: 'no_active_key' } })
    await place.run(['tenant', 'revoke-key', 'nothing-active', '--type', 'sandbox'])
    const again = await place.ask('tenant revoke-key nothing-active --type sandbox')
    expect(again).toMatchObject({ code: 1, error: { code: 'no_active_key' } })
  })
})

describe('tenant reissue-key', () => {
  it('replaces the key at once without --grace', async () => {
    const tenant = await create('reissued')
    const { code, json } = await place.ask('tenant reissue-key reissued --type sandbox')
    expect(code).toBe(0)
    expect(Object.keys(json)).toEqual(['sandbox_key'])
    await expectRevoked(sandbox(tenant.sandbox_key))
    expect((await sandbox(json.sandbox_key).health()).status).toBe(200)
  })

  it('keeps the old key valid next to the new one with --grace', async () => {
    await createIssued('graceful')
    const old = await reveal('graceful')
    const line = 'tenant reissue-key graceful --type production --grace 1h'
    const { code, stdout, stderr } = await place.run(line.split(' '))
    expect(code).toBe(0)
    expect(stderr).toMatch(/old key stays valid until \d{4}-/)
    expect((await production(old).health()).status).toBe(200)
    expect((await production(stdout.trim()).health()).status).toBe(200)
    const { json } = await place.ask('tenant list')
    const listed = json.find(({ name }: { name: string }) => name === 'graceful')
    const ends = listed.keys.flatMap(({ valid_until }: { valid_until: string | null }) => valid_until ?? [])
    expect(ends.map((end: string) => Math.ceil((Date.parse(end) - Date.now()) / MINUTE_MS))).toEqual([60])
  })

  it('reveals a production key only once, also when the reissue comes first', async () => {
    await createIssued('spent')
    await place.run(['tenant', 'reissue-key', 'spent', '--type', 'production'])
    const result = await place.ask('tenant production-key spent')
    expect(result).toMatchObject({ code: 1, error: { code: 'production_key_already_revealed' } })
  })

  for (const grace of ['1', '-1h', '999999999999999d'])
    it(`refuses --grace ${grace} as wrong usage, and keeps the key`, async () => {
      const name = `grace-${grace.replace(/[^0-9a-z]/g, '_')}`
      const tenant = await create(name)
      const { code, stderr } = await place.ask(`tenant reissue-key ${name} --type sandbox --grace=${grace}`)
      expect(code).toBe(2)
      expect(stderr).not.toContain('    at ')
      expect((await sandbox(tenant.sandbox_key).health()).status).toBe(200)
    })
})

describe('tenant keys', () => {
  const keys = (...args: string[]) => place.run(['tenant', 'keys', ...args, '--environment', 'sandbox'])
  beforeAll(() => create('acme'))

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

describe('tenant person', () => {
  const NAME = 'pia@example.com'
  beforeAll(() => create('employer'))
  const person = (command: string, ...rest: string[]) =>
    place.run(['tenant', 'person', command, 'employer', ...rest])
  const open = async (link: string) => {
    const response = await signInAt(server.admin, { login_token: link.split('/').at(-1) })
    return (await response.json()) as Record<string, unknown>
  }

  it('adds a person, who signs in by the printed link, and lists, changes, invites again and removes the person', async () => {
    expect((await person('list')).stdout).toContain('There are none yet')
    const added = await person('add', NAME, '--role', 'viewer')
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('within 24 hours')])
    expect(await open(added.stdout.trim())).toMatchObject({
      role: 'tenant',
      person: { name: NAME, role: 'viewer' },
      password: 'required',
    })
    expect((await person('set-role', NAME, '--role', 'admin')).stdout).toBe(`${NAME} is admin now.\n`)
    expect((await person('list', '--json')).json).toMatchObject([
      { name: NAME, role: 'admin', state: 'invited' },
    ])
    expect((await person('list')).stdout).toMatch(/pia@example\.com +admin +invited/)
    const sessions = await place.run(['tenant', 'sessions', 'employer'])
    expect(sessions.stdout).toContain(`${NAME} of employer`)
    expect((await person('sign-out', NAME)).stdout).toBe('1 session ended.\n')
    const again = await person('reset-password', NAME, '--json')
    expect(await open(again.json.dashboard_url)).toMatchObject({ person: { name: NAME, role: 'admin' } })
    expect((await person('remove', NAME)).stdout).toBe(`${NAME} can no longer sign in.\n`)
  })

  it('reports an unknown person, and names the roles', async () => {
    const unknown = await person('remove', 'nobody')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Nobody named nobody')])
    const role = await person('add', 'someone', '--role', 'owner')
    expect([role.code, role.stderr]).toEqual([2, expect.stringContaining('expected admin')])
    expect((await person('reset-second-factor', 'nobody')).code).toBe(1)
  })
})

it('tenant rotate-signing is refused while two secrets are valid, unless --force ends the older one at once', async () => {
  const tenant = await create('forced')
  const first = await place.ask('tenant rotate-signing forced')
  const refused = await place.ask('tenant rotate-signing forced')
  expect(refused).toMatchObject({ code: 1, stdout: '', error: { code: 'rotation_in_progress' } })
  const forced = await place.ask('tenant rotate-signing forced --force')
  expect(forced.code).toBe(0)
  expect(forced.json.previous.id).toBe(first.json.signing_secret.id)
  const response = await sandbox(tenant.sandbox_key).health()
  expect(response.headers.get('x-svc-signature')).not.toContain(tenant.signing_secret.id)
  const { id, secret } = forced.json.signing_secret
  expect(validSignatures(response, { [id]: secret })).toEqual([id])
})

describe('every tenant command', () => {
  const COMMANDS = [
    ['production-key'],
    ['revoke-key', '--type', 'sandbox'],
    ['reissue-key', '--type', 'sandbox'],
    ['rotate-signing'],
  ]
  for (const [command, ...options] of COMMANDS) {
    it(`reports an unknown tenant: ${command}`, async () => {
      const { code, stdout, stderr } = await place.run(['tenant', command!, 'nobody', ...options])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(`error: There is no tenant named nobody.\n${adviceText('tenant_not_found')}`)
    })
  }

  it('finds a tenant by its id too', async () => {
    const tenant = await create('by-id')
    const { code } = await place.run(['tenant', 'rotate-signing', tenant.tenant_id])
    expect(code).toBe(0)
  })

  it.each(['revoke-key', 'reissue-key'])('is wrong usage without a known --type: %s', async (command) => {
    const missing = await place.ask(`tenant ${command} shape`)
    expect(missing).toMatchObject({ code: 2, error: { message: expect.stringContaining('--type') } })
    const unknown = await place.ask(`tenant ${command} shape --type both`)
    expect(unknown).toMatchObject({ code: 2, error: { code: 'invalid_option' } })
  })
})

describe('tenant show, update, suspend, resume and delete', () => {
  it('change a tenant of a running service at once, and print the result', async () => {
    const tenant = await createIssued('lifecycle')
    const key = await reveal('lifecycle')
    expect((await production(key).enroll({ user_id: 'ada', image: photo })).status).toBe(201)
    expect((await place.run(['tenant', 'update', 'lifecycle', '--rate-limit', '7/s'])).code).toBe(0)
    const shown = async () => (await place.ask('tenant show lifecycle')).json
    expect(await shown()).toMatchObject({
      tenant_id: tenant.tenant_id,
      status: 'active',
      rate_limit_per_second: 7,
      fmr: null,
      signed_fmr: 1e-4,
      signed_fmr_basis: 'measured',
      production_key: 'revealed',
      references: { production: 1, sandbox: 0 },
      signing_secrets: [{ id: tenant.signing_secret.id }],
    })
    expect((await place.run(['tenant', 'suspend', 'lifecycle'])).code).toBe(0)
    for (const client of [production(key), sandbox(tenant.sandbox_key)]) {
      const refused = await client.health()
      expect(refused.status).toBe(403)
      expect(refused.body).toMatchObject({ error: 'permission_denied', code: 'tenant_suspended' })
    }
    expect(await shown()).toMatchObject({ status: 'suspended', suspended_at: expect.any(String) })
    expect((await place.run(['tenant', 'resume', 'lifecycle'])).code).toBe(0)
    expect((await production(key).health()).status).toBe(200)

    const unconfirmed = await place.ask('tenant delete lifecycle --confirm lifecycl')
    expect({ code: unconfirmed.code, error: unconfirmed.error.code }).toEqual({
      code: 2,
      error: 'not_confirmed',
    })
    const { code, json } = await place.ask('tenant delete lifecycle --confirm lifecycle')
    expect(code).toBe(0)
    expect(json).toMatchObject({
      name: 'lifecycle',
      status: 'deleted',
      erasure_id: expect.stringMatching(/^era_/),
      erased: { users: 1, references: 1 },
    })
    await expectRevoked(production(key))
    await expectRevoked(sandbox(tenant.sandbox_key))
    expect(await shown()).toMatchObject({
      status: 'deleted',
      references: { production: 0 },
      signing_secrets: [],
    })
    const people = await place.run(['tenant', 'show', 'lifecycle'])
    expect(people.stdout).toMatch(/^Status +deleted since 2/m)
    const later = await place.ask('tenant reissue-key lifecycle --type sandbox')
    expect(later.error.code).toBe('tenant_deleted')
    expect((await place.run(['audit', 'verify'])).code).toBe(0)
  })

  it('ask for an option to change', async () => {
    await create('idle')
    const { code, error } = await place.ask('tenant update idle')
    expect({ code, error: error.code }).toEqual({ code: 2, error: 'wrong_usage' })
  })
})

it('links to the dashboard lead to the running service, also where the shell of the command has another address', async () => {
  const other = await workplaceOfTest()
  const running = await other.host()
  await other.ask('tenant create linked')
  const elsewhere = { COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:8082' }
  const link = await other.ask('tenant login-link linked', elsewhere)
  expect(link.json.dashboard_url.startsWith(`${running.admin}/#/login/`)).toBe(true)
  await running.stop()
  const later = await other.ask('tenant login-link linked', elsewhere)
  expect(later.json.dashboard_url).toMatch(/^http:\/\/127\.0\.0\.1:8082\//)
})
