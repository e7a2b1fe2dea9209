import { execFile, spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { Countersign } from '../../clients/node/countersign.js'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { chooseTransport } from '../../src/http/listeners/transport.js'
import { adviceText } from '../support/advice.js'
import { apiClient } from '../support/client.js'
import { poll, type ServerProcess, until, workplaceForAll, workplaceForEach } from '../support/command.js'
import { signInAt } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { childrenOf } from '../support/process-tree.js'
import { openSocket, rawRequest } from '../support/raw-socket.js'

const place = workplaceForEach()

async function sandboxKey(name = 'acme'): Promise<string> {
  return (await place.run(['tenant', 'create', name, '--json'])).json.sandbox_key
}

/** The addresses of a service as variables, for listening there again. */
function addressesOf({ production, sandbox, admin }: ServerProcess): Record<string, string> {
  return {
    COUNTERSIGN_PRODUCTION_LISTEN: new URL(production).host,
    COUNTERSIGN_SANDBOX_LISTEN: new URL(sandbox).host,
    COUNTERSIGN_ADMIN_LISTEN: new URL(admin).host,
  }
}

describe('serve', () => {
  const home = workplaceForAll()
  let server: ServerProcess
  beforeAll(async () => {
    server = await home.serve([], { COUNTERSIGN_LOG_LV: 'debug' })
  })

  it('prints three addresses, and each of them answers', async () => {
    expect(server.stderr()).toMatch(/Production +http:\/\/127\.0\.0\.1:\d+\/v1\n/)
    expect(server.stderr()).toMatch(/Sandbox +http:\/\/127\.0\.0\.1:\d+\/v1\n/)
    expect(server.stderr()).toMatch(/Dashboard +http:\/\/127\.0\.0\.1:\d+\/\n/)
    const [production, sandbox, admin] = await Promise.all([
      fetch(`${server.production}/v1/health`),
      fetch(`${server.sandbox}/v1/health`),
      fetch(`${server.admin}/readyz`),
    ])
    expect([production.status, sandbox.status, admin.status]).toEqual([401, 401, 200])
  })

  it('warns of a misspelled variable and names the one that may be meant', async () => {
    expect(server.stderr()).toContain(
      'warning: COUNTERSIGN_LOG_LV is not a setting of Countersign; did you mean COUNTERSIGN_LOG_LEVEL?\n',
    )
  })

  it('creates master key and database with access for their owner only', async () => {
    expect(statSync(home.path('master.key')).mode & 0o777).toBe(0o600)
    for (const file of ['countersign.db', 'countersign.db-wal'])
      expect([file, statSync(home.path(file)).mode & 0o777]).toEqual([file, 0o600])
  })

  it('names the address at which another process listens, fails, and leaves that process running', async () => {
    for (const taken of Object.keys(addressesOf(server))) {
      const second = await place.run(['serve'], { [taken]: addressesOf(server)[taken]! })
      expect(second.code).toBe(1)
      expect(second.stderr).toBe(
        `error: ${addressesOf(server)[taken]} is in use by another process. The address is set by ${taken}.\n${adviceText('cannot_listen')}`,
      )
    }
    expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
  })

  it('ends without an error when it is stopped while it announces itself', async () => {
    const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>((resolve) => {
      void place.serve(['--demo']).then(async (server) => {
        server.signal('SIGTERM')
        const { code } = await server.exited
        resolve({ code, stderr: server.stderr() })
      })
    })
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/error:|\n {4}at /)
  })

  it('is refused without the master key of the database, creates no other, and names the right one', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const id = masterKeyId(Buffer.from(await readFile(place.path('master.key'), 'utf8'), 'base64'))
    await rename(place.path('master.key'), place.path('elsewhere.key'))
    const { code, stderr } = await place.run(['serve'])
    expect(code).toBe(1)
    expect(stderr).toContain(`There is no master key at ${place.path('master.key')}`)
    expect(stderr).toContain(`It opens with master key ${id} only.`)
    expect(await readdir(place.dataDir)).not.toContain('master.key')
  })

  it('is refused on a database from which another service serves; that one continues, and commands work', async () => {
    const second = await home.run(['serve'], {
      COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    })
    expect(second.code).toBe(1)
    expect(second.stderr).toBe(
      `error: Cannot use the database ${home.path('countersign.db')}: another Countersign serves from it. Stop that service first; commands may run while it serves.\n${adviceText('database_unusable')}`,
    )
    expect((await home.run(['tenant', 'list'])).code).toBe(0)
    expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
  })

  it('keeps no password where the start fails, and shows the valid one when it succeeds', async () => {
    const taken = addressesOf(server)
    expect((await place.run(['serve'], taken)).code).toBe(1)
    expect(existsSync(place.path('operator.password'))).toBe(false)
    const { admin, stderr } = await place.announce([], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    const [, password] = /shown only now:\n\n {2}(\S+)\n/.exec(stderr)!
    expect((await signInAt(admin, { password: password! })).status).toBe(201)
  })

  it('names the HTTP server that serves, and why', async () => {
    const { description } = await chooseTransport('auto')
    expect(server.stderr()).toContain(`\n  HTTP        ${description}\n`)
  })
})

describe('serve', () => {
  describe('that SIGTERM ends', () => {
    const home = workplaceForAll()
    let server: ServerProcess
    let key: string
    beforeAll(async () => {
      key = (await home.ask('tenant create acme')).json.sandbox_key
      // An earlier release left the database like this.
      chmodSync(home.path('countersign.db'), 0o644)
      server = await home.serve()
    })

    it('answers requests under way after a signal, accepts nothing new, and ends with 0', async () => {
      const body = JSON.stringify({ user_id: 'u+match', image: base64(await face('ada')), action: 'login' })
      const request = (line: string, json = '') =>
        rawRequest(
          line,
          [
            `Authorization: Bearer ${key}`,
            'Content-Type: application/json',
            `Content-Length: ${Buffer.byteLength(json)}`,
          ],
          json,
        )
      const under = await openSocket(server.sandbox)
      const idle = await openSocket(server.sandbox)
      for (const connection of [under, idle]) {
        connection.send(request('GET /v1/health'))
        expect(await connection.response()).toMatchObject({ status: 200 })
      }
      const verify = request('POST /v1/verify', body)
      const cut = verify.length - 1000
      under.send(verify.slice(0, cut))
      // One thread serves both connections in the order of arrival: this answer means that the head there has been read.
      idle.send(request('GET /v1/health'))
      expect(await idle.response()).toMatchObject({ status: 200 })

      server.signal('SIGTERM')
      await server.logged('stopping')
      idle.send(request('GET /v1/health'))
      const refused = await idle.response()
      expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
      expect(refused!.headers['retry-after']).toMatch(/^\d+$/)
      await expect(fetch(`${server.sandbox}/v1/health`)).rejects.toThrow()
      const ready = await fetch(`${server.admin}/readyz`)
      const stopping = { status: 'not_ready', reasons: ['stopping'] }
      expect([ready.status, await ready.json()]).toEqual([503, stopping])
      expect((await fetch(`${server.admin}/livez`)).status).toBe(200)

      under.send(verify.slice(cut))
      expect(await under.response()).toMatchObject({ status: 200, body: { verdict: 'approved' } })
      expect(await server.exited).toEqual({ code: 0, signal: null })
      await Promise.all([under.closed(), idle.closed()])
    })

    it('no longer listens', async () => {
      await expect(fetch(`${server.production}/v1/health`)).rejects.toThrow()
    })

    it('has written its log as JSON lines on stdout, and text for people only on stderr', () => {
      const lines = server.stdout().trimEnd().split('\n')
      expect([...new Set(lines.map((line) => JSON.parse(line).msg))]).toEqual([
        'the workers load their networks',
        'request',
        'stopping',
        'stopped',
      ])
    })

    it('has warned that a folder or database of an earlier version is open to every user of the machine', () => {
      expect(server.stderr()).toContain(
        `warning: ${home.path('countersign.db')} holds users' data and is open to every user here (mode 644).`,
      )
    })
  })

  it('applies another log level on SIGHUP without a restart, logs which settings need one, and ends on SIGINT', async () => {
    const settings = place.path('countersign.env')
    await writeFile(settings, 'COUNTERSIGN_LOG_LEVEL=error\n', { mode: 0o600 })
    const server = await place.serve(['--config', settings])
    await fetch(`${server.production}/v1/health`)

    await writeFile(settings, 'COUNTERSIGN_LOG_LEVEL=nonsense\n')
    server.signal('SIGHUP')
    await server.logged('the new configuration is invalid: nothing was reloaded')

    await writeFile(settings, 'COUNTERSIGN_LOG_LEVEL=info\nCOUNTERSIGN_QUEUE_LIMIT=7\n')
    server.signal('SIGHUP')
    await server.logged('configuration reloaded')
    expect(server.stdout()).toContain('"awaiting_restart":["COUNTERSIGN_QUEUE_LIMIT"]')
    await fetch(`${server.production}/v1/health`)
    server.signal('SIGINT')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(server.stdout().match(/"msg":"request"/g)).toHaveLength(1)
    expect(server.stdout()).toContain('"msg":"stopped"')
    await expect(fetch(`${server.production}/v1/health`)).rejects.toThrow()
  })

  it('obeys a SIGTERM that comes while it starts', async () => {
    const server = place.begin(['serve'])
    await until(() => existsSync(place.path('countersign.db')))
    server.signal('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(server.stdout()).toContain('"msg":"stopped"')
  })

  it('obeys a SIGTERM while many workers load, and leaves no engine', async () => {
    // Far more than the cores carry: without the signal they load for minutes.
    const server = place.begin(['serve'], { COUNTERSIGN_WORKERS: '48' })
    await until(() => server.stdout().includes('the workers load their networks'))
    const engine = await poll(
      async () => childrenOf(server.pid).at(0),
      (pid) => pid !== undefined,
    )
    server.signal('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    // A service that had started would say so here.
    expect(server.stdout()).not.toContain('"msg":"stopping"')
    expect(server.stdout()).toContain('"limit":"COUNTERSIGN_WORKERS"')
    expect(server.stdout()).toContain('"msg":"stopped"')
    expect(() => process.kill(engine!, 0)).toThrow('ESRCH')
  })

  it('starts again on the same data after a kill', async () => {
    const first = await place.serve()
    const key = await sandboxKey()
    const enrolled = await apiClient(`${first.sandbox}/v1`, key).enroll({
      user_id: 'ada',
      image: base64(await face('ada')),
    })
    expect(enrolled.status).toBe(201)
    first.signal('SIGKILL')
    await first.exited
    const second = await place.host()
    const verified = await apiClient(`${second.sandbox}/v1`, key).verify({
      user_id: 'ada',
      image: base64(await face('ada')),
      action: 'login',
    })
    expect(verified.body).toMatchObject({ verdict: 'approved' })
  })

  it('reads settings and secrets from files, and warns of those that everybody may read', async () => {
    const [settings, secret] = [place.path('countersign.env'), place.path('operator')]
    await writeFile(secret, 'correct horse battery\n', { mode: 0o644 })
    await writeFile(
      settings,
      `COUNTERSIGN_OPERATOR_PASSWORD_FILE="${secret}" # as mounted\nCOUNTERSIGN_HTTP=node\n`,
    )
    const server = await place.announce(['--config', settings], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    expect(server.stderr).toContain(
      `\n  HTTP        node:http of ${process.version} (COUNTERSIGN_HTTP=node)\n`,
    )
    expect(server.stderr).toContain(
      `warning: ${secret} contains a secret and is open to every user here (mode 644).`,
    )
    expect((await signInAt(server.admin, { password: 'correct horse battery' })).status).toBe(201)
    expect((await signInAt(server.admin, { password: 'correct horse' })).status).toBe(401)
  })

  const REFUSED: Array<[string, Record<string, string>, RegExp]> = [
    [
      'an address without a port',
      { COUNTERSIGN_PRODUCTION_LISTEN: 'localhost' },
      /COUNTERSIGN_PRODUCTION_LISTEN is "localhost"; expected host:port/,
    ],
    ['a database that it does not know', { COUNTERSIGN_DATABASE: 'mysql://x' }, /COUNTERSIGN_DATABASE/],
    ['a model pack that is not there', { COUNTERSIGN_MODEL_PACK: 'missing' }, /no model pack at .*missing/],
    ['a master key of a wrong length', { COUNTERSIGN_MASTER_KEY: 'c2hvcnQ=' }, /openssl rand -base64 32/],
    [
      'an address that is not of this machine',
      { COUNTERSIGN_PRODUCTION_LISTEN: '192.0.2.1:8080' },
      /Cannot listen on 192\.0\.2\.1:8080/,
    ],
  ]
  for (const [what, env, message] of REFUSED)
    it(`refuses ${what} in one line`, async () => {
      const { code, stdout, stderr } = await place.run(['serve'], env)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr).toMatch(/^error: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/)
    })

  it('names the file where the certificate is invalid', async () => {
    await writeFile(place.path('junk.pem'), 'junk', { mode: 0o600 })
    const { code, stderr } = await place.run(['serve'], {
      COUNTERSIGN_TLS_CERT: place.path('junk.pem'),
      COUNTERSIGN_TLS_KEY: place.path('junk.pem'),
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: [^\n]*junk\.pem[^\n]*\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/)
  })
})

describe('serve --demo', () => {
  describe('on an empty database', () => {
    const home = workplaceForAll()
    let server: ServerProcess
    let key: string
    beforeAll(async () => {
      server = await home.serve(['--demo'])
      await server.told(/5\. From your own code:[\s\S]*export CS_TENANT_ID=\S+\n/)
      key = /Sandbox key +(svc-sbx-\S+)/.exec(server.stderr())![1]!
    })

    it('creates a tenant and prints its keys', async () => {
      expect(server.stderr()).toMatch(/Signing secret +svc-sec-\S+/)
      expect((await apiClient(`${server.sandbox}/v1`, key).health()).status).toBe(200)
    })

    it('prints commands with the data folder, which another terminal does not know', () => {
      expect(server.stderr()).toContain(
        `KEY=$(COUNTERSIGN_DATA_DIR=${home.dataDir} npx countersign tenant production-key demo)`,
      )
    })

    const shell = spawnSync('bash', ['-c', 'command -v curl base64']).status === 0
    it.skipIf(!shell)('prints commands that work, with photos of 150 kB too', async () => {
      const calls = server
        .stderr()
        .split('\n\n')
        .filter((block) => block.includes('curl -s'))
      expect(calls).toHaveLength(4)
      // Bytes behind the end of a JPEG are ignored; a command line argument could not be this long.
      for (const photo of ['ada.jpg', 'ada-2.jpg', 'ada-3.jpg', 'ada-today.jpg', 'grace.jpg'])
        appendFileSync(home.path('demo', photo), Buffer.alloc(150_000))
      const run = async (call: string, production = '') => {
        const { stdout } = await promisify(execFile)('bash', ['-c', `KEY=${production}\n${call}`])
        return JSON.parse(stdout)
      }
      expect(await run(calls[0]!)).toMatchObject({ verdict: 'approved', production_key: 'issued' })
      const { stdout: production } = await home.run(['tenant', 'production-key', 'demo'])
      expect(await run(calls[1]!, production.trim())).toMatchObject({
        status: 'enrolled',
        quality: { views: 3 },
      })
      expect(await run(calls[2]!, production.trim())).toMatchObject({
        verdict: 'approved',
        replay: { suspected: false },
      })
      expect(await run(calls[3]!, production.trim())).toMatchObject({
        verdict: 'rejected',
        reason: 'no_match',
      })
    })

    it('ends with the four variables of the SDK, which call the sandbox when they are pasted', async () => {
      const lines = server.stderr().trim().split('\n').slice(-4)
      const show = 'echo "$CS_BASE_URL $CS_API_KEY $CS_SIGNING_SECRETS $CS_TENANT_ID"'
      const { stdout } = await promisify(execFile)('sh', ['-c', [...lines, show].join('\n')])
      const [baseUrl, apiKey, signingSecrets, tenantId] = stdout.trim().split(' ')
      const countersign = new Countersign({
        baseUrl: baseUrl!,
        apiKey: apiKey!,
        signingSecret: signingSecrets!,
        tenantId: tenantId!,
      })
      const action = { type: 'login' }
      const image = readFileSync(home.path('demo', 'ada.jpg'))
      const { jwt } = await countersign.verify({ user_id: 'ada+match', image, action })
      await countersign.verifyVerdict(jwt, { userId: 'ada+match', action })
    })

    it('writes no key into the log or the database, and prints none when it is started again', async () => {
      server.signal('SIGTERM')
      await server.exited
      expect(server.stdout()).not.toMatch(/svc-(sbx|prod|sec)-/)
      expect(readFileSync(home.path('countersign.db')).includes('svc-')).toBe(false)

      const second = await home.announce(['--demo'])
      expect(second.stderr).toContain('reissue-key')
      expect(second.stderr).not.toMatch(/svc-(sbx|prod|sec)-/)
      expect((await home.ask('tenant list')).json).toHaveLength(1)
      expect((await apiClient(`${second.sandbox}/v1`, key).health()).status).toBe(200)
    })
  })

  describe('on a database with a tenant', () => {
    const home = workplaceForAll()
    let told: string
    beforeAll(async () => {
      await home.run(['tenant', 'create', 'acme'])
      told = (await home.announce(['--demo'])).stderr
    })

    it('creates nothing where there are tenants already', async () => {
      expect(told).toContain('Keys are shown only when they are made')
      expect((await home.ask('tenant list')).json.map(({ name }: { name: string }) => name)).toEqual(['acme'])
    })

    it('names an existing tenant in its advice', async () => {
      const name = /reissue-key (\S+)/.exec(told)![1]!
      expect((await home.run(['tenant', 'reissue-key', name, '--type', 'sandbox'])).code).toBe(0)
    })
  })
})
