import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, inject, it } from 'vitest'
import { ALL_SETTINGS } from '../../src/app/configuration.js'
import type { Finding } from '../../src/cli/lib/finding.js'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { freePorts } from '../../src/http/free-port.js'
import { DAY_MS } from '../../src/lib/clock.js'
import { adviceText } from '../support/advice.js'
import { CertificateMaker } from '../support/certificates.js'
import { workplaceForEach } from '../support/command.js'
import { withDatabase } from '../support/database.js'

/** No setting is open by default here, and there is no pack to judge, also none that could be built. */
const CLOSED = {
  COUNTERSIGN_REPLAY_POLICY: 'reject',
  COUNTERSIGN_REQUIRE_LIVENESS: 'active',
  COUNTERSIGN_MODELS_DIR: '/dev/null/models',
  COUNTERSIGN_MODEL_PACK: 'brought',
}
const place = workplaceForEach(CLOSED)

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

interface View {
  name: string
  value: string | null
  source: string
}

async function show(env: Record<string, string> = {}, args: string[] = []) {
  const result = await place.run(['config', ...args, '--json'], env)
  const of = (name: string): View =>
    result.json.settings.find((view: View) => view.name === `COUNTERSIGN_${name}`)
  return { ...result, json: result.json, of }
}

describe('config', () => {
  it('shows every setting with its default and meaning', async () => {
    const { code, json } = await show({}, ['show'])
    expect(code).toBe(0)
    expect(json.problems).toEqual([])
    expect(json.settings).toEqual(
      Object.values(ALL_SETTINGS).map(({ variable, fallback, description }) =>
        expect.objectContaining({ name: variable, default: fallback ?? null, description }),
      ),
    )
  })

  it('shows the source of each value; the environment wins over the file', async () => {
    const file = place.path('countersign.env')
    await writeFile(file, 'COUNTERSIGN_WORKERS=3\nCOUNTERSIGN_QUEUE_LIMIT=7\n')
    const { of } = await show({}, ['--config', file])
    expect(of('CONFIG')).toMatchObject({ value: file, source: 'environment' })
    expect(of('WORKERS')).toMatchObject({ value: '1', source: 'environment' })
    expect(of('QUEUE_LIMIT')).toMatchObject({ value: '7', source: 'file' })
    expect(of('JWT_TTL_SECONDS')).toMatchObject({ value: '300', source: 'default' })
  })

  it('shows values as they are in effect', async () => {
    const { of } = await show({ COUNTERSIGN_PRODUCTION_LISTEN: '[::1]:81', COUNTERSIGN_WORKERS: '2' })
    expect(of('PRODUCTION_LISTEN').value).toBe('[::1]:81')
    expect(of('PRODUCTION_URL')).toMatchObject({ value: 'http://[::1]:81/v1', source: 'default' })
    expect(of('QUEUE_LIMIT').value).toBe('64')
    expect(of('DATABASE').value).toBe(`sqlite:${place.path('countersign.db')}`)
  })

  it('never shows a secret, nor the file that a secret makes superfluous', async () => {
    const env = {
      COUNTERSIGN_MASTER_KEY: MASTER_KEY,
      COUNTERSIGN_OPERATOR_PASSWORD: 'correct horse of tests',
      COUNTERSIGN_DATABASE: 'postgres://user:battery@host/db',
    }
    const { stdout, stderr, of } = await show(env)
    const people = await place.run(['config', '--explain'], env)
    for (const secret of [MASTER_KEY, 'correct horse of tests', 'battery'])
      expect(stdout + stderr + people.stdout + people.stderr).not.toContain(secret)
    expect(of('MASTER_KEY')).toMatchObject({ value: '********', source: 'environment' })
    expect(of('MASTER_KEY_FILE').value).toBeNull()
    expect(of('OPERATOR_PASSWORD_FILE').value).toBeNull()
  })

  it('shows people a table, and what is wrong, with the default in its place', async () => {
    const { code, stdout, stderr } = await place.run(['config'], { COUNTERSIGN_FMR: '2' })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^VARIABLE +VALUE +SOURCE$/m)
    expect(stdout).toMatch(/^COUNTERSIGN_FMR +0\.0001 +default$/m)
    expect(stderr).toBe(
      `error: COUNTERSIGN_FMR is "2"; expected a false match rate over 0 and at most 0.01, such as 1e-4.\n${adviceText('invalid_configuration')}`,
    )
  })

  it('prints no table where the named file cannot be read', async () => {
    const { code, stdout, stderr } = await place.run(['config', '--config', place.path('nope.env')])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const [said, advice] = stderr.split(/(?<=\n)(?=What)/)
    expect(said).toMatch(/^error: Cannot read the configuration file: .*nope\.env'\.\n$/)
    expect(advice).toBe(adviceText('invalid_configuration'))
  })

  it('explains each setting, in one line when piped', async () => {
    const { stdout } = await place.run(['config', '--explain'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(Object.keys(ALL_SETTINGS).length + 1)
    for (const { variable, description } of Object.values(ALL_SETTINGS))
      expect(lines.find((line) => line.startsWith(`${variable} `))).toContain(description)
  })
})

describe('config check', () => {
  it('accepts a valid configuration and creates nothing', async () => {
    const { code, json } = await place.ask('config check')
    expect({ code, json }).toEqual({ code: 0, json: { ok: true, problems: [], warnings: [] } })
    expect((await place.run(['config', 'check'])).stdout).toBe('The configuration is valid.\n')
    expect(readdirSync(place.dataDir)).toEqual([])
  })

  /** The command says this of a configuration, and ends with 1 exactly where there is a problem. */
  async function check(env: Record<string, string>, ...args: string[]) {
    const { code, json } = await place.run(['config', 'check', '--json', ...args], env)
    const { ok, problems, warnings } = json as { ok: boolean; problems: string[]; warnings: string[] }
    const isSound = problems.length === 0
    expect({ code, ok }).toEqual({ code: isSound ? 0 : 1, ok: isSound })
    return { problems, warnings }
  }

  it.each<[string, Record<string, string>, unknown]>([
    [
      'says what to do with an OpenID provider by plain http',
      {
        COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_OPENID_URL: 'http://id.bank.example',
      },
      expect.stringMatching(
        /^The OpenID provider would be at http:\/\/id\.bank\.example, .*COUNTERSIGN_OPENID_URL/,
      ),
    ],
    [
      'reports an unreachable PostgreSQL without showing the password',
      { COUNTERSIGN_DATABASE: 'postgres://user:battery@127.0.0.1:1/db' },
      'Cannot use the PostgreSQL database db on 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. Check that PostgreSQL is running, that it listens on this address and port, and that no firewall blocks it.',
    ],
    [
      'names the missing file of a URL',
      { COUNTERSIGN_DATABASE: 'postgres://user@127.0.0.1:1/db?sslmode=verify-full&sslrootcert=/nope.pem' },
      "COUNTERSIGN_DATABASE cannot be used: ENOENT: no such file or directory, open '/nope.pem'.",
    ],
    [
      'reports a wrong URL once',
      { COUNTERSIGN_DATABASE: 'postgres://user:p@ss@127.0.0.1:1/db' },
      'COUNTERSIGN_DATABASE cannot be used: write an @ in user or password as %40.',
    ],
    [
      'fails at once for a pack that is not there yet and that serve will refuse',
      { COUNTERSIGN_MODEL_PACK: 'standard', COUNTERSIGN_ACCEPT_PACK: '' },
      expect.stringMatching(
        /^The model pack is not there yet, and the first start builds it\. The model pack standard@1\.0\.0 is of evaluation grade .* COUNTERSIGN_ACCEPT_PACK=/,
      ),
    ],
  ])('%s', async (_, env, problem) => {
    expect(await check(env)).toMatchObject({ problems: [problem] })
  })

  it('refuses an operator password that is easy to guess, and says how to generate one', async () => {
    const detail =
      'has 1 character, and needs at least 15; make one with: countersign operator-password --generate'
    const env = { COUNTERSIGN_OPERATOR_PASSWORD: 'a' }
    const inVariable = await check(env)
    expect(inVariable.problems).toEqual([`The password in COUNTERSIGN_OPERATOR_PASSWORD ${detail}`])
    const file = place.path('short.password')
    await writeFile(file, 'fourteen chars', { mode: 0o600 })
    const named = { COUNTERSIGN_OPERATOR_PASSWORD: '', COUNTERSIGN_OPERATOR_PASSWORD_FILE: file }
    const inFile = await check(named)
    expect(inFile.problems).toEqual([expect.stringContaining('has 14 characters, and needs at least 15')])
    expect(JSON.stringify([inVariable, inFile])).not.toContain('fourteen chars')
  })

  it('reports everything that is wrong, secrets included, and ends with 1', async () => {
    const env = {
      COUNTERSIGN_WORKERS: 'many',
      COUNTERSIGN_FRM: '1e-5',
      COUNTERSIGN_DATABASE: 'mysql://user:battery@host/db',
      COUNTERSIGN_MASTER_KEY: 'c2hvcnQ=',
      COUNTERSIGN_OPERATOR_PASSWORD: 'scrypt$cut',
    }
    expect(await check(env)).toEqual({
      problems: [
        'COUNTERSIGN_FRM is not a setting of Countersign; did you mean COUNTERSIGN_FMR?',
        expect.stringMatching(/^COUNTERSIGN_WORKERS is "many"/),
        expect.stringMatching(/^COUNTERSIGN_DATABASE is not supported/),
        expect.stringMatching(/^The master key in COUNTERSIGN_MASTER_KEY is not 32 bytes/),
        expect.stringMatching(/^COUNTERSIGN_OPERATOR_PASSWORD holds a password hash that is not whole/),
      ],
      warnings: [],
    })
    const people = await place.run(['config', 'check'], env)
    expect(people.code).toBe(1)
    expect(people.stdout.match(/^FAIL {2}/gm)).toHaveLength(5)
  })

  /** The findings of config check and doctor, which are the same. */
  async function find(env: Record<string, string>, name: string) {
    const checked = await check(env)
    const { findings } = (await place.ask('doctor', env)).json as { findings: Finding[] }
    return { ...checked, finding: findings.find((one) => one.check === name)! }
  }

  it.each(['COUNTERSIGN', 'COUNTERSIGN_OPENID'])(
    'reports that %s_TLS_CERT and its key do not belong together, as doctor does',
    async (prefix) => {
      const certificates = new CertificateMaker(place.dataDir)
      certificates.authority('one')
      certificates.authority('other')
      const env = {
        [`${prefix}_TLS_CERT`]: place.path('one.pem'),
        [`${prefix}_TLS_KEY`]: place.path('other.key'),
      }
      const mismatch = `The TLS key ${place.path('other.key')} does not belong to the certificate ${place.path('one.pem')}.`
      const { problems, finding } = await find(env, 'TLS')
      expect(problems).toEqual([mismatch])
      expect(finding).toMatchObject({ status: 'problem', detail: mismatch })
    },
  )

  it('reports an address in use by another program and one given twice, as doctor does', async () => {
    const stranger = createServer().listen(0, '127.0.0.1')
    try {
      await once(stranger, 'listening')
      const taken = `127.0.0.1:${(stranger.address() as AddressInfo).port}`
      const env = { COUNTERSIGN_SANDBOX_LISTEN: taken, COUNTERSIGN_METRICS_LISTEN: taken }
      const { problems, finding } = await find(env, 'addresses')
      expect(problems).toEqual([
        `${taken} (COUNTERSIGN_SANDBOX_LISTEN) is in use by another program.`,
        `COUNTERSIGN_METRICS_LISTEN and COUNTERSIGN_SANDBOX_LISTEN are both ${taken}.`,
      ])
      expect(finding).toMatchObject({ status: 'problem', detail: problems.join(' ') })
    } finally {
      stranger.close()
    }
    expect((await check({ COUNTERSIGN_ADMIN_LISTEN: '192.0.2.1:8082' })).problems).toEqual([
      expect.stringMatching(/^Cannot listen on 192\.0\.2\.1:8082 \(COUNTERSIGN_ADMIN_LISTEN\)/),
    ])
  })

  async function onOnePort(one: string, other: string): Promise<Record<string, string>> {
    const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
    return {
      COUNTERSIGN_PRODUCTION_LISTEN: `${one}:${port}`,
      COUNTERSIGN_ADMIN_LISTEN: `${other}:${port}`,
    }
  }

  it.each([
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '[::]'],
  ])('refuses listeners on one port at %s and %s, as doctor does', async (one, other) => {
    const { problems, finding } = await find(await onOnePort(one, other), 'addresses')
    expect(problems).toEqual([
      expect.stringMatching(
        /^COUNTERSIGN_ADMIN_LISTEN \(.*\) and COUNTERSIGN_PRODUCTION_LISTEN \(.*\) overlap: /,
      ),
    ])
    expect(finding.status).toBe('problem')
  })

  it('ends with 1 as a process that has found such listeners, as doctor does', async () => {
    const env = await onOnePort('127.0.0.1', '0.0.0.0')
    for (const command of [['config', 'check'], ['doctor']])
      expect((await place.spawn(command, env)).code).toBe(1)
  })

  it('reports a master key that does not open the database and one that is missing, as doctor does', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const id = masterKeyId(Buffer.from(await readFile(place.path('master.key'), 'utf8'), 'base64'))
    expect((await check({})).problems).toEqual([])
    const wrong = await find({ COUNTERSIGN_MASTER_KEY: MASTER_KEY }, 'database')
    expect(wrong.problems).toEqual([
      expect.stringContaining(`does not open this database: it is sealed under master key ${id}, not `),
    ])
    await rename(place.path('master.key'), place.path('elsewhere.key'))
    const missing = await find({}, 'database')
    expect(missing.problems).toEqual([
      expect.stringMatching(`There is no master key at .*It opens with master key ${id} only\\.`),
    ])
    for (const { finding } of [wrong, missing]) expect(finding.status).toBe('problem')
    expect(missing.finding.detail).toContain(id)
  })

  it('refuses a pack that serve would refuse, as doctor does', async () => {
    const models = { COUNTERSIGN_MODELS_DIR: inject('modelsDir'), COUNTERSIGN_MODEL_PACK: 'baseline' }
    const { problems, finding } = await find({ ...models, COUNTERSIGN_ACCEPT_PACK: '' }, 'model pack')
    expect(problems).toEqual([expect.stringContaining('COUNTERSIGN_ACCEPT_PACK=baseline')])
    expect(finding).toMatchObject({ status: 'problem', detail: expect.stringContaining(problems[0]!) })
  })

  it('refuses a certificate for another name than that of the URL, unless TLS ends in front', async () => {
    const maker = new CertificateMaker(place.dataDir)
    maker.authority('ca')
    maker.issue('other', 'ca', { names: 'DNS:other.bank.test,IP:192.0.2.1' })
    const env = {
      COUNTERSIGN_TLS_CERT: place.path('other.pem'),
      COUNTERSIGN_TLS_KEY: place.path('other.key'),
      COUNTERSIGN_PRODUCTION_URL: 'https://verify.bank.test/v1',
      COUNTERSIGN_SANDBOX_URL: 'https://192.0.2.1/v1',
    }
    const problem = `The TLS certificate ${place.path('other.pem')} is for DNS:other.bank.test, IP Address:192.0.2.1, and COUNTERSIGN_PRODUCTION_URL is https://verify.bank.test/v1.`
    const { problems, finding } = await find(env, 'TLS')
    expect(problems).toEqual([problem])
    expect(finding).toMatchObject({ status: 'problem', detail: problem })
    expect((await check({ ...env, COUNTERSIGN_TLS_TERMINATED_UPSTREAM: 'true' })).problems).toEqual([])
  })

  it('refuses a setting that the file names twice, with both lines', async () => {
    const file = place.path('countersign.env')
    await writeFile(file, 'COUNTERSIGN_FMR=1e-4\n# later\nCOUNTERSIGN_FMR=1e-5\n', { mode: 0o600 })
    expect((await check({}, '--config', file)).problems).toEqual([
      `${file} sets COUNTERSIGN_FMR twice, in lines 1 and 3. Remove one of them.`,
    ])
  })

  it('accepts the addresses at which the service already runs', async () => {
    const server = await place.host({
      COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
      COUNTERSIGN_MODEL_PACK: 'baseline',
    })
    const env = {
      COUNTERSIGN_PRODUCTION_LISTEN: new URL(server.production).host,
      COUNTERSIGN_SANDBOX_LISTEN: new URL(server.sandbox).host,
      COUNTERSIGN_ADMIN_LISTEN: new URL(server.admin).host,
    }
    expect(await find(env, 'addresses')).toMatchObject({
      ...{ problems: [], warnings: [] },
      finding: { status: 'ok', detail: 'a Countersign service listens there' },
    })
  })

  it('runs the key command and reports what is wrong with it, as doctor does', async () => {
    const run = (command: string) => find({ COUNTERSIGN_MASTER_KEY_COMMAND: command }, 'key command')
    for (const [command, message] of [
      ['exit 3', 'COUNTERSIGN_MASTER_KEY_COMMAND failed (exit code 3).'],
      ['echo short', expect.stringContaining('is not 32 bytes of base64')],
    ] as const) {
      const finding = { status: 'problem', detail: message }
      expect(await run(command)).toMatchObject({ problems: [message], finding })
    }
    const sound = await run(`echo ${MASTER_KEY}`)
    expect(sound).toMatchObject({ problems: [], finding: { status: 'ok' } })
    expect(JSON.stringify(sound)).not.toContain(MASTER_KEY)
  })

  it('reports a database that cannot be written, as doctor does', async () => {
    await writeFile(place.path('file'), '')
    const env = { COUNTERSIGN_DATABASE: `sqlite:${place.path('file', 'countersign.db')}` }
    const { problems, finding } = await find(env, 'disk')
    expect(problems).toEqual([expect.stringMatching(/file is not writable: /)])
    expect(finding.status).toBe('problem')
  })

  it('warns of an overdue backup, as doctor does', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const age = (sql: string) =>
      withDatabase(place, (database) => database.prepare(sql).run(Date.now() - 3 * DAY_MS))
    expect(await find({}, 'backups')).toMatchObject({ warnings: [], finding: { status: 'ok' } })
    age('UPDATE tenant SET created_at = ?')
    const never = `There is no backup of ${place.path('countersign.db')} yet. Make one: countersign backup <file>.`
    expect(await find({}, 'backups')).toMatchObject({
      warnings: [never],
      finding: { status: 'warning', detail: never },
    })
    expect((await place.run(['backup', place.path('copy.db')])).code).toBe(0)
    expect(await find({}, 'backups')).toMatchObject({ warnings: [], finding: { status: 'ok' } })
    age('UPDATE last_backup SET at = ?')
    expect((await check({})).warnings).toEqual([
      `The last backup of ${place.path('countersign.db')} is 3 days old.`,
    ])
  })

  it('warns of secret files that everybody may open', async () => {
    const [password, settings] = [place.path('password'), place.path('countersign.env')]
    await writeFile(password, 'correct horse of tests', { mode: 0o644 })
    await writeFile(settings, `COUNTERSIGN_MASTER_KEY=${MASTER_KEY}\n`, { mode: 0o644 })
    const env = { COUNTERSIGN_OPERATOR_PASSWORD_FILE: password }
    expect(await check(env, '--config', settings)).toEqual({
      problems: [],
      warnings: [settings, password].map(
        (file) => `${file} contains a secret and is open to every user here (mode 644).`,
      ),
    })
  })

  it('warns of addresses that endanger callers or operators', async () => {
    const outside = { COUNTERSIGN_ADMIN_LISTEN: '0.0.0.0:0' }
    const odd = {
      COUNTERSIGN_PRODUCTION_URL: 'https://face.example.com',
      COUNTERSIGN_SANDBOX_URL: 'https://face.example.com/v1',
      ...outside,
    }
    expect(await check(odd)).toEqual({
      problems: [],
      warnings: [
        'COUNTERSIGN_PRODUCTION_URL is https://face.example.com, which does not end in /v1.',
        expect.stringMatching(/^COUNTERSIGN_ADMIN_LISTEN is 0\.0\.0\.0:0, .* without TLS/),
      ],
    })
    const { warnings } = await check({ ...outside, COUNTERSIGN_TLS_TERMINATED_UPSTREAM: 'true' })
    expect(warnings).toEqual([])
  })

  it('warns of settings that let a photo of the user pass, with the remedy', async () => {
    const open = {
      COUNTERSIGN_REPLAY_POLICY: 'report',
      COUNTERSIGN_REQUIRE_LIVENESS: '',
      COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
      COUNTERSIGN_MODEL_PACK: 'baseline',
    }
    const { problems, warnings } = await check(open)
    expect(problems).toEqual([])
    expect(warnings).toEqual([
      expect.stringMatching(/^The baseline pack is only for evaluation/),
      expect.stringMatching(
        /^COUNTERSIGN_REPLAY_POLICY is report: .* enrollment photo, .* To close it: set COUNTERSIGN_REPLAY_POLICY=reject/,
      ),
      expect.stringMatching(
        /^COUNTERSIGN_REQUIRE_LIVENESS is none: .* To close it: set COUNTERSIGN_REQUIRE_LIVENESS=active/,
      ),
      expect.stringMatching(
        /^The model pack baseline@.* is of evaluation grade .*every SDK .*production\.md#the-grade-a-decision\.$/,
      ),
    ])
    const { findings } = (await place.ask('doctor', open)).json
    for (const about of ['COUNTERSIGN_REPLAY_POLICY is report', 'COUNTERSIGN_REQUIRE_LIVENESS is none'])
      expect(findings).toContainEqual({
        check: 'configuration',
        status: 'warning',
        detail: expect.stringContaining(about),
        remedy: expect.stringMatching(/^set /),
      })
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'model pack',
        status: 'warning',
        detail: expect.stringContaining('of evaluation grade'),
      }),
    )
  })

  it('warns in one line at the start, where nobody chose the setting', async () => {
    const models = { COUNTERSIGN_MODELS_DIR: inject('modelsDir'), COUNTERSIGN_MODEL_PACK: 'baseline' }
    const first = await place.announce([], {
      ...models,
      COUNTERSIGN_REPLAY_POLICY: '',
      COUNTERSIGN_REQUIRE_LIVENESS: '',
    })
    expect(first.stderr.match(/^warning: Open by default: .*$/gm)).toEqual([
      expect.stringContaining(
        'Open by default: COUNTERSIGN_REQUIRE_LIVENESS=none lets a photo of the user pass.',
      ),
    ])
    await first.stop()
    const named = await place.announce([], {
      ...models,
      COUNTERSIGN_REPLAY_POLICY: 'report',
      COUNTERSIGN_REQUIRE_LIVENESS: 'none',
    })
    expect(named.stderr).not.toContain('Open by default')
  })

  it('warns of the baseline pack in the words of the start', async () => {
    expect(await check({ COUNTERSIGN_MODEL_PACK: 'baseline' })).toEqual({
      problems: [],
      warnings: [
        expect.stringMatching(
          /^The baseline pack is only for evaluation: .* COUNTERSIGN_MODEL_PACK=standard/,
        ),
        expect.stringMatching(
          /^The model pack is not there yet, .* baseline@1\.0\.0 is of evaluation grade .*every SDK/,
        ),
      ],
    })
  })

  it('does not warn of a readable file that contains only settings', async () => {
    const settings = place.path('countersign.env')
    await writeFile(settings, 'COUNTERSIGN_QUEUE_LIMIT=7\n', { mode: 0o644 })
    expect((await check({}, '--config', settings)).warnings).toEqual([])
  })
})
