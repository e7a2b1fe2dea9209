import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { FEATURES } from '../../src/features/index.js'
import { docPath } from '../../src/lib/doc-path.js'
import { packageFile } from '../../src/lib/package-root.js'
import { adviceOn } from '../support/advice.js'
import { apiClient } from '../support/client.js'
import { workplaceForAll, workplaceOfTest } from '../support/command.js'
import { commandLines } from '../support/command-lines.js'
import { base64, face } from '../support/faces.js'
import { writeBroughtPack, writeCalibration } from '../support/packs.js'

const place = workplaceForAll()

/** Every command with those that it stands under, as they are typed, and '' for none. */
const LINES = await commandLines()
const COMMANDS = ['', ...LINES.keys()]
const GROUPS = COMMANDS.filter((one) =>
  COMMANDS.some((other) => other !== '' && other.startsWith(`${one} `.trimStart())),
)

const words = (command: string) => command.split(' ').filter(Boolean)

it('--help loads no command, and no package but the command line parser', async () => {
  const { stderr } = await place.spawn(['--help'], {
    NODE_OPTIONS: `--import ${pathToFileURL(packageFile('test', 'support', 'record-imports.mjs'))}`,
  })
  const loaded = stderr.split('\n')
  expect(loaded).toContainEqual(expect.stringMatching(/dist\/src\/cli\/main\.js$/))
  const packages = loaded.flatMap((url) => /\/node_modules\/([^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(packages)].sort()).toEqual(['commander', 'leven'])
  // The list of features declares their tables, next to which their statements stand. Neither file imports another one of storage.
  // A setting knows the names of quality components, which are a list and no more.
  const few = /\/(?:storage\/(?:table|connection)|models\/pack\/quality-components)\.js$/
  const others = loaded.filter((url) => !few.test(url))
  expect(others.filter((url) => /\/(?:biometrics|server|storage|dashboard|models)\//.test(url))).toEqual([])
})

describe('--help', () => {
  for (const command of COMMANDS)
    it(`explains "countersign ${command}" on stdout`, async () => {
      const { code, stdout, stderr } = await place.run([...words(command), '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Usage: countersign${command ? ` ${command}` : ''}`)
      expect(stdout).toContain('--help')
    })

  it('lists every command that has a help page here', async () => {
    const listed = async (command: string[]) => {
      const { stdout } = await place.run([...command, '--help'])
      const [, section = ''] = stdout.split(/^Commands:\n/m)
      return [...section.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
        .map(([, name]) => [...command, name!].join(' '))
        .filter((name) => !name.endsWith('help') && !name.startsWith('countersign'))
    }
    const names: string[] = []
    for (const group of GROUPS.map(words)) names.push(...(await listed(group)))
    expect(names.sort()).toEqual(COMMANDS.filter(Boolean).sort())
  })
})

it('--version prints the version of the package, its commit and the schemas', async () => {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  expect(await place.spawn(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      `^${version} [(]commit [0-9a-f]{12}(-dirty)?, schema [0-9]+ with SQLite, [0-9]+ with PostgreSQL[)]\n$`,
    ),
    stderr: '',
  })
})

// Other tests run commands inside their own process; this one holds for the real command.
it.each([
  [0, ['tenant', '--help']],
  [1, ['tenant', 'create', 'not a name', '--json']],
  [2, ['server']],
])('a process ends with %i and says what the program says', async (code, args) => {
  const result = await place.spawn(args)
  expect(result.code).toBe(code)
  expect(result).toEqual(await place.run(args))
})

it('npm scripts report an unknown command with the known ones, and end with 2', () => {
  const bootstrap = packageFile('scripts', 'bootstrap.mjs')
  for (const command of ['tenant', 'constructor']) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bootstrap, command], { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Unknown command ${command}. Known are: dev, site, build, serve, [^\\n]*\\n$`),
    )
  }
})

describe('wrong usage', () => {
  it.each([
    ['an unknown command', ['tennant'], /^unknown command 'tennant'/],
    ['a missing argument', ['compare', 'a.jpg'], /^missing required argument 'b'$/],
    ['one argument too many', ['tenant', 'create', 'a', 'b'], /^too many arguments for 'create'/],
    ['a missing option', ['jwt', 'abc'], /^required option '--secret <secret>' not specified$/],
    ['an unknown option', ['tenant', 'list', '--al'], /^unknown option '--al'$/],
    ['a group without a command', ['tenant'], /^A command is missing/],
    ['no command', [], /^A command is missing/],
  ])(
    'ends with 2 and an explanation on stderr, which --json makes one document: %s',
    async (_, args, message) => {
      const { code, stdout, stderr } = await place.run(args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/Usage: countersign|run with --help for usage/)
      await expectDocument(args, 'wrong_usage', message)
    },
  )

  it('is also an option without its value', async () => {
    const { code, stderr } = await place.run(['tenant', 'create', 'a', '--fmr'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('argument missing') })
  })

  it('is also an option that cannot be', () =>
    expectDocument(
      ['keys', 'rotate-master', '--finish', '--new-key-file', 'x'],
      'invalid_option',
      /separate steps/,
    ))

  async function expectDocument(args: string[], code: string, message: RegExp) {
    const result = await place.run([...args, '--json'])
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr.split('\n')).toHaveLength(2)
    expect(result.error).toEqual({ code, message: expect.stringMatching(message), ...adviceOn(code) })
  }
})

describe('a refusal', () => {
  it('says on stderr what is wrong, what to do and where to read more, ends with 1, and shows no stack', async () => {
    const result = await place.run(['tenant', 'create', 'not a name'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    const lines = /^error: [^\n]+\nWhat to do: [^\n]+\nMore about it: ([^\n#]+)(#[a-z-]+)?\n$/.exec(
      result.stderr,
    )
    expect(lines![1]).toBe(packageFile('docs', 'operations', 'tenants.md'))
    expect(existsSync(lines![1]!)).toBe(true)
  })

  it('is one JSON document on stderr with --json', async () => {
    const result = await place.run(['tenant', 'create', 'not a name', '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toEqual({
      error: {
        code: 'invalid_tenant_name',
        message: expect.any(String),
        remedy: 'Choose a name of the form that the message gives.',
        doc: docPath('operations/tenants.md#tenants'),
      },
    })
  })

  it('names the variable of a wrong setting', async () => {
    const result = await place.ask('tenant list', { COUNTERSIGN_WORKERS: 'many' })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.error).toEqual({
      code: 'invalid_configuration',
      message: 'COUNTERSIGN_WORKERS is "many"; expected a whole number from 1 to 256.',
      ...adviceOn('invalid_configuration'),
    })
  })
})

describe('a missing database', () => {
  const bare = workplaceForAll()
  it.each([
    ...['tenant list', 'tenant login-link acme', 'tenant rotate-signing acme', 'tenant passkeys acme'],
    ...['backup copy.db', 'audit verify', 'audit anchor', 'keys instance-secret', 'keys rotate-master'],
    ...[
      'keys discard-master 0123456789abcdef',
      'verdict-keys list',
      'verdict-keys rotate',
      'policy show acme',
    ],
  ])('is reported by "%s", which creates neither it nor a master key', async (line) => {
    const { code, stdout, error } = await bare.ask(line)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(error).toEqual({
      code: 'database_missing',
      message: `There is no database at ${bare.path('countersign.db')} yet. \`countersign serve\` or \`countersign tenant create\` makes one. If the service runs with another COUNTERSIGN_DATA_DIR or COUNTERSIGN_DATABASE, set the same here.`,
      ...adviceOn('database_missing'),
    })
    expect(await readdir(bare.dataDir)).toEqual([])
  })

  it('a database without its master key gets no new one', async () => {
    const fresh = await workplaceOfTest()
    await fresh.run(['tenant', 'create', 'acme'])
    await rm(fresh.path('master.key'))
    for (const args of [
      ['tenant', 'list'],
      ['tenant', 'create', 'other'],
    ]) {
      expect((await fresh.run([...args, '--json'])).error.code).toBe('master_key_missing')
      expect(await readdir(fresh.dataDir)).not.toContain('master.key')
    }
  })
})

describe('--json', () => {
  /** Files and arguments that each command needs to succeed, in an order in which all of them do. */
  const ARGUMENTS: Record<string, (made: { secret: string; jwt: string; oldMasterKey: string }) => string[]> =
    {
      'tenant list': () => [],
      'webhook list': () => ['acme'],
      'webhook deliveries': () => ['acme'],
      'tenant show': () => ['acme'],
      'tenant update': () => ['acme', '--rate-limit', '9/s'],
      'tenant capture-page': () => ['acme', '--company', 'Acme'],
      'tenant consent-text': () => ['acme'],
      'tenant suspend': () => ['demo'],
      'tenant resume': () => ['demo'],
      'tenant delete': () => ['demo', '--confirm', 'demo'],
      'tenant login-link': () => ['acme'],
      'tenant production-key': () => ['acme'],
      'tenant reissue-key': () => ['acme', '--type', 'sandbox'],
      'tenant revoke-key': () => ['acme', '--type', 'sandbox'],
      'tenant rotate-signing': () => ['acme'],
      'tenant person add': () => ['acme', 'pia@example.com', '--role', 'admin'],
      'tenant person list': () => ['acme'],
      'tenant person set-role': () => ['acme', 'pia@example.com', '--role', 'viewer'],
      'tenant person reset-password': () => ['acme', 'pia@example.com'],
      'tenant person sign-out': () => ['acme', 'pia@example.com'],
      'tenant person remove': () => ['acme', 'pia@example.com'],
      'tenant keys create': () => ['acme', '--name', 'payments'],
      'tenant keys list': () => ['acme'],
      'tenant keys reissue': () => ['acme', '--name', 'payments'],
      'tenant keys revoke': () => ['acme', '--name', 'payments'],
      'tenant passkeys': () => ['acme', '--rp-id', 'bank.example', '--origin', 'https://bank.example'],
      'policy set': () => ['acme', '--file', place.path('policy.json')],
      'policy show': () => ['acme'],
      'policy check': () => ['acme', '--action', place.path('action.json')],
      'policy history': () => ['acme'],
      'openid list': () => ['acme'],
      'openid keys list': () => [],
      'openid keys rotate': () => [],
      'policy clear': () => ['acme'],
      requests: () => ['acme'],
      display: () => [place.path('action.json')],
      'tenant sessions': () => ['acme'],
      'tenant sign-out': () => ['acme'],
      jwt: ({ secret, jwt }) => [jwt, '--secret', secret],
      compare: () => [place.path('ada.jpg'), place.path('ada.jpg')],
      evaluate: () => [place.path('pairs.csv')],
      'models list': () => [],
      'models drift': () => ['acme'],
      'models shadow': () => ['acme'],
      'models verify': () => [],
      'models import': () => [place.path('brought')],
      'models calibrate': () => ['brought', place.path('calibration.json')],
      'models migrate': () => ['--to', place.path('brought')],
      'models build': () => ['baseline', '--out', place.path('built')],
      backup: () => [place.path('copy.db')],
      restore: () => [place.path('copy.db')],
      migrate: () => [],
      'audit verify': () => [],
      'audit anchor': () => [],
      'verdict-keys list': () => [],
      'verdict-keys rotate': () => [],
      'keys instance-secret': () => [],
      'keys rotate-master': () => [],
      'keys discard-master': ({ oldMasterKey }) => [oldMasterKey],
      'config show': () => [],
      'config check': () => [],
      'operator list': () => [],
      'operator add': () => ['kim', '--role', 'viewer'],
      'operator set-role': () => ['kim', '--role', 'admin'],
      'operator reset-password': () => ['kim'],
      'operator sessions': () => [],
      'operator sign-in-link': () => ['kim'],
      'operator sign-out': () => ['kim'],
      'operator remove': () => ['kim'],
      'operator-password': () => ['--generate'],
      completion: () => ['bash'],
      doctor: () => [],
      evidence: () => [],
    }
  /** A restore needs a place without a database; the packs for tests are shared. */
  const ENVIRONMENT: Record<string, Record<string, string>> = {
    get restore() {
      return { COUNTERSIGN_DATABASE: `sqlite:${place.path('restored.db')}` }
    },
    get 'models calibrate'() {
      return { COUNTERSIGN_MODELS_DIR: place.path('models') }
    },
  }
  /** These run first, because the others need their results. */
  const MADE = ['serve', 'tenant create']
  /** These run first, in a process of their own: output of native libraries bypasses the streams of JavaScript. */
  const NATIVE = ['compare', 'evaluate', 'models import', 'backup', 'doctor']
  /** Need a server elsewhere, a liveness network, a second factor, a user, a webhook or PostgreSQL: see models-pull, evaluate-pad, user, webhook, postgres-copy, fleet and epoch-commands.test.ts. */
  const ELSEWHERE = [
    'fake',
    'models pull',
    'evaluate-pad',
    'migrate-store',
    'nodes',
    ...['keys export', 'keys import', 'keys rotate-epoch'],
    'operator reset-second-factor',
    'tenant person reset-second-factor',
    ...['user export', 'user show', 'user undo-ageing', 'user unlock'],
    ...['openid add', 'openid remove'],
    ...['webhook add', 'webhook remove', 'webhook test', 'webhook redeliver'],
  ]

  it('is an option of every command', async () => {
    const leaves = COMMANDS.filter((name) => name && !COMMANDS.some((other) => other.startsWith(`${name} `)))
    const tried = [...Object.keys(ARGUMENTS), ...MADE, ...ELSEWHERE]
    expect(tried.filter((name) => !leaves.includes(name))).toEqual([])
    // A feature's own tests try its commands.
    const added = FEATURES.flatMap(({ commands = [] }) => commands)
    const ofFeatures = added.map(({ parent, usage }) =>
      [...words(parent ?? ''), usage.split(' ')[0]].join(' '),
    )
    const others = leaves.filter((name) => !tried.includes(name))
    const isOwn = (name: string) => ofFeatures.some((one) => `${name} `.startsWith(`${one} `))
    const isJson = (name: string) => LINES.get(name)!.options.some(({ long }) => long === '--json')
    expect(others.filter((name) => !isOwn(name) || !isJson(name))).toEqual([])
  })

  it('prints one JSON document on stdout and nothing on stderr; serve prints a log of them', {
    timeout: 300_000,
  }, async () => {
    await writeFile(place.path('ada.jpg'), await face('ada'))
    await writeFile(place.path('policy.json'), JSON.stringify({ rules: [{ name: 'all', require: {} }] }))
    await writeFile(
      place.path('action.json'),
      JSON.stringify({
        type: 'payment',
        amount: '1.00',
        currency: 'EUR',
        payee: { name: 'Grace', account: 'DE89370400440532013000' },
      }),
    )
    await writeFile(place.path('pairs.csv'), 'a,b,same\nada.jpg,ada.jpg,1\nada.jpg,ada.jpg,0')
    await writeBroughtPack(place.path('brought'), inject('modelsDir'))
    await writeCalibration(place.path('calibration.json'), place.path('brought'))
    // An import goes into the folder of packs, and the one for tests is shared.
    await cp(inject('modelsDir'), place.path('models'), { recursive: true })
    // A build only looks whether the pack is whole.
    await cp(`${inject('modelsDir')}/baseline`, place.path('built'), { recursive: true })
    const server = await place.serve(['--json', '--demo'], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    const { demo, operator_password: password } = JSON.parse(server.stderr())
    expect({ demo, password }).toMatchObject({ demo: { name: 'demo' }, password: expect.any(String) })
    const created = await place.ask('tenant create acme')
    const { sandbox_key, signing_secret } = created.json
    const verified = await apiClient(`${server.sandbox}/v1`, sandbox_key).verify({
      user_id: 'u+match',
      image: base64(await face('ada')),
      action: 'login',
    })
    server.signal('SIGTERM')
    await server.exited
    for (const line of server.stdout().trimEnd().split('\n')) JSON.parse(line)
    expect(server.stdout()).not.toContain(password)
    expect(server.stdout()).not.toContain(demo.sandbox_key)

    const oldMasterKey = masterKeyId(Buffer.from(readFileSync(place.path('master.key'), 'utf8'), 'base64'))
    const made = { secret: signing_secret.secret, jwt: verified.body.jwt, oldMasterKey }
    const lineOf = (command: string) => [...words(command), ...ARGUMENTS[command]!(made), '--json']
    const native = await place.spawnAll(NATIVE.map(lineOf), {
      COUNTERSIGN_MODELS_DIR: place.path('models'),
    })
    for (const command of [...NATIVE, ...Object.keys(ARGUMENTS).filter((one) => !NATIVE.includes(one))]) {
      const { code, stdout, stderr } =
        native[NATIVE.indexOf(command)] ?? (await place.run(lineOf(command), ENVIRONMENT[command]))
      expect({ command, code, lines: stdout.split('\n').length }).toEqual({ command, code: 0, lines: 2 })
      expect(JSON.parse(stdout), command).toEqual(expect.anything())
      if (command !== 'models build') expect({ command, stderr }).toEqual({ command, stderr: '' })
    }
  })
})

it('two first commands at the same time agree on one master key and one database', async () => {
  const fresh = await workplaceOfTest()
  const results = await Promise.all(
    ['a', 'b', 'c'].map((name) => fresh.spawn(['tenant', 'create', name, '--json'])),
  )
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(Array(3).fill([0, '']))
  const ids = results.map(({ json }) => json.tenant_id).sort()
  const { json } = await fresh.ask('tenant list')
  expect(json.map(({ tenant_id }: { tenant_id: string }) => tenant_id).sort()).toEqual(ids)
  // Unsealing a secret needs the key under which it was sealed.
  const server = await fresh.host()
  for (const { json } of results) {
    const response = await fetch(`${server.sandbox}/v1/health`, {
      headers: { Authorization: `Bearer ${json.sandbox_key}` },
    })
    expect(response.status).toBe(200)
  }
})
