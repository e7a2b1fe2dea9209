import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import {
  adminUrl,
  ConfigError,
  environmentUrl,
  followingPackDirs,
  modelPackDir,
  parseRate,
  resolveConfig,
  SETTINGS,
  sqliteFile,
} from '../../src/config/config.js'
import { DEPRECATED_SETTINGS } from '../../src/config/deprecated-settings.js'
import { ownValues } from '../../src/config/own-settings.js'
import { defaultWorkers } from '../../src/config/worker-limits.js'
import { EPOCH_SETTINGS } from '../../src/features/epoch-keys/epoch-settings.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const dir = temporaryFolder()
writeFileSync(join(dir, 'tls.pem'), '')

const load = (env: Record<string, string> = {}) =>
  loadConfig(Object.fromEntries(Object.entries(env).map(([name, value]) => [`COUNTERSIGN_${name}`, value])))

describe('packs that follow', () => {
  it('are names in the models folder or paths', () => {
    const config = load({
      MODELS_DIR: '/models',
      FOLLOWING_PACKS: 'standard, /packs/own',
      MODEL_PACK: 'baseline',
    })
    expect(config.followingPacks).toEqual(['standard', '/packs/own'])
    expect(followingPackDirs(config)).toEqual(['/models/standard', '/packs/own'])
    expect(followingPackDirs(load())).toEqual([])
  })

  it.each(['a,b,c', 'a,a'])('are at most two different ones: not %s', (FOLLOWING_PACKS) => {
    expect(() => load({ FOLLOWING_PACKS })).toThrow('at most 2 different packs')
  })

  it('do not name the pack that decides', () => {
    expect(() => load({ MODEL_PACK: 'baseline', FOLLOWING_PACKS: 'baseline' })).toThrow(
      'Name only other packs',
    )
  })
})

describe('the configuration without any variable', () => {
  it('has the defaults of the contract', () => {
    expect(load()).toMatchObject({
      productionListen: { host: '127.0.0.1', port: 8080 },
      sandboxListen: { host: '127.0.0.1', port: 8081 },
      adminListen: { host: '127.0.0.1', port: 8082 },
      tlsTerminatedUpstream: false,
      dataDir: resolve('data'),
      database: `sqlite:${resolve('data/countersign.db')}`,
      masterKeyFile: resolve('data/master.key'),
      modelsDir: resolve('data/models'),
      modelPack: 'standard',
      executionProviders: ['cpu'],
      workers: defaultWorkers({ processes: 1, database: '' }).workers,
      queueLimit: defaultWorkers({ processes: 1, database: '' }).workers * 32,
      deadlineMs: 10_000,
      maxBodyBytes: 8 * 1024 * 1024,
      trustedProxies: [],
      bodyMemoryBytes: 256 * 1024 * 1024,
      maxImagePixels: 25_000_000,
      minFacePx: 80,
      fmr: 1e-4,
      lockoutAttempts: undefined,
      replayPolicy: 'reject_identical',
      jwtTtlSeconds: 300,
      rateLimit: 50,
      sandboxRateLimit: 20,
      logLevel: 'info',
    })
  })

  it('ignores an empty variable', () => {
    const empty = Object.fromEntries(Object.values(SETTINGS).map(({ variable }) => [variable, ' ']))
    expect(loadConfig(empty)).toEqual(loadConfig({}))
  })

  it('cannot be changed', () => {
    expect(Object.isFrozen(load())).toBe(true)
  })
})

describe('the paths of written files', () => {
  it('are in the data folder unless a variable names another place', () => {
    const config = load({ DATA_DIR: dir })
    expect([config.database, config.masterKeyFile, config.modelsDir]).toEqual([
      `sqlite:${join(dir, 'countersign.db')}`,
      join(dir, 'master.key'),
      join(dir, 'models'),
    ])
    const elsewhere = load({
      DATA_DIR: dir,
      DATABASE: 'sqlite:/x/y.db',
      MASTER_KEY_FILE: '/k',
      MODELS_DIR: '/m',
    })
    expect([sqliteFile(elsewhere), elsewhere.masterKeyFile, elsewhere.modelsDir]).toEqual([
      '/x/y.db',
      '/k',
      '/m',
    ])
  })

  it("resolve a pack's name in the models folder, and take a path as it is", () => {
    expect(modelPackDir(load({ MODELS_DIR: '/m', MODEL_PACK: 'zoo' }))).toBe('/m/zoo')
    expect(modelPackDir(load({ MODELS_DIR: '/m', MODEL_PACK: '/packs/zoo' }))).toBe('/packs/zoo')
    expect(modelPackDir(load({ MODELS_DIR: '/m', MODEL_PACK: './zoo' }))).toBe(resolve('zoo'))
  })
})

describe('a valid value', () => {
  for (const [name, text, key, value] of [
    ['PRODUCTION_LISTEN', '0.0.0.0:443', 'productionListen', { host: '0.0.0.0', port: 443 }],
    ['PRODUCTION_LISTEN', '[::1]:8080', 'productionListen', { host: '::1', port: 8080 }],
    ['SANDBOX_LISTEN', 'localhost:0', 'sandboxListen', { host: 'localhost', port: 0 }],
    ['PRODUCTION_URL', 'https://id.example.test/v1/', 'productionUrl', 'https://id.example.test/v1'],
    ['EXECUTION_PROVIDERS', ' CUDA, cpu ,', 'executionProviders', ['cuda', 'cpu']],
    ['RATE_LIMIT', '0.5/s', 'rateLimit', 0.5],
    ['FMR', '1e-6', 'fmr', 1e-6],
    ['LOCKOUT_ATTEMPTS', '0', 'lockoutAttempts', 0],
    ['TLS_TERMINATED_UPSTREAM', 'true', 'tlsTerminatedUpstream', true],
    ['WORKERS', ' 3 ', 'workers', 3],
  ] as const)
    it(`is read: ${name}=${text}`, () => {
      expect(load({ [name]: text })[key]).toEqual(value)
    })

  it('makes the queue grow with the workers', () => {
    expect(load({ WORKERS: '3' }).queueLimit).toBe(96)
    expect(load({ WORKERS: '3', QUEUE_LIMIT: '7' }).queueLimit).toBe(7)
  })
})

describe('an invalid value', () => {
  for (const [name, ...texts] of [
    ['PRODUCTION_LISTEN', 'localhost', '8080', ':8080', '1.2.3.4:99999', 'a b:80', 'http://x:80', '[::1]'],
    ['PRODUCTION_URL', 'example.test', 'ftp://x', '/v1'],
    ['TLS_TERMINATED_UPSTREAM', 'yes', '1', 'TRUE'],
    ['WORKERS', '0', '257', '-1', '1.5', 'many', '1e999', '0x'],
    ['DEADLINE_MS', '99', '600001'],
    ['MAX_BODY_BYTES', '1023', '8MiB'],
    ['FMR', '0', '1', '0.5', '0.011', '-1e-4', 'low'],
    ['LOCKOUT_ATTEMPTS', '-1', '1001'],
    ['REPLAY_POLICY', 'ignore'],
    ['RATE_LIMIT', '0', '0/s', '50/m', '-1/s', 'fast', '1e9'],
    ['JWT_TTL_SECONDS', '9', '3601'],
    ['LOG_LEVEL', 'loud'],
  ] as const)
    for (const text of texts)
      it(`is reported with variable, value and expectation: ${name}=${text}`, () => {
        expect(() => load({ [name]: text })).toThrow(ConfigError)
        expect(() => load({ [name]: text })).toThrow(
          `COUNTERSIGN_${name} is ${JSON.stringify(text)}; expected `,
        )
      })

  it('refuses a PostgreSQL URL where a SQLite file is needed, without showing the URL', () => {
    const config = load({ DATABASE: 'postgres://user:password@host/db' })
    expect(() => sqliteFile(config)).toThrow(ConfigError)
    expect(() => sqliteFile(config)).not.toThrow(/password/)
  })

  it('refuses a certificate without its key, and a file that cannot be read', () => {
    const file = join(dir, 'tls.pem')
    expect(load({ TLS_CERT: file, TLS_KEY: file })).toMatchObject({ tlsCert: file, tlsKey: file })
    expect(() => load({ TLS_CERT: file })).toThrow(/must be given together/)
    expect(() => load({ ADMIN_TLS_KEY: file })).toThrow(
      /ADMIN_TLS_CERT and .*ADMIN_TLS_KEY must be given together/,
    )
    expect(() => load({ TLS_KEY: file })).toThrow(/must be given together/)
    expect(() => load({ TLS_CERT: file, TLS_KEY: join(dir, 'missing') })).toThrow(ConfigError)
  })
})

it('epoch keys need PostgreSQL, and are refused with SQLite instead of ignored', () => {
  expect(() => load({ EPOCH_KEYS: dir })).toThrow(/COUNTERSIGN_EPOCH_KEYS needs PostgreSQL/)
  const config = ownValues(
    EPOCH_SETTINGS,
    load({ EPOCH_KEYS: dir, DATABASE: 'postgres://countersign@localhost/countersign' }),
  )
  expect([config.epochKeys, config.epochHours, config.epochRetentionHours]).toEqual([dir, 24, 1])
})

describe('the memory for bodies', () => {
  it('refuses an OpenID provider without the capture page to which it sends people', () => {
    expect(() => load({ OPENID_LISTEN: '127.0.0.1:8085' })).toThrow(
      /COUNTERSIGN_OPENID_LISTEN needs COUNTERSIGN_CAPTURE_LISTEN/,
    )
    expect(
      load({ OPENID_LISTEN: '127.0.0.1:8085', CAPTURE_LISTEN: '127.0.0.1:8083' }).openidListen,
    ).toBeDefined()
  })

  it('refuses an OpenID provider by plain http anywhere but on this computer', () => {
    const at = (more: Record<string, string>) =>
      load({ OPENID_LISTEN: '127.0.0.1:8085', CAPTURE_LISTEN: '127.0.0.1:8083', ...more })
    for (const refused of [
      { OPENID_URL: 'http://id.bank.example' },
      { OPENID_URL: 'http://127.0.0.2:8085' },
      { OPENID_URL: 'http://localhost.bank.example' },
      { OPENID_LISTEN: '10.0.0.5:8085' },
    ])
      expect(() => at(refused)).toThrow(/Set COUNTERSIGN_OPENID_URL to the https address/)
    for (const host of [
      'https://id.bank.example',
      'http://localhost:8085',
      'http://127.0.0.1',
      'http://[::1]',
    ])
      expect(at({ OPENID_URL: host }).openidUrl).toBe(host)
    expect(at({ OPENID_LISTEN: '0.0.0.0:8085' }).openidListen).toBeDefined()
    // Without a listener there is no provider whose sign-ins could fail.
    expect(load({ OPENID_URL: 'http://id.bank.example' }).openidUrl).toBeDefined()
  })

  it('must be large enough for one body; the error names both settings', () => {
    expect(() => load({ BODY_MEMORY_BYTES: '1000000', MAX_BODY_BYTES: '1000001' })).toThrow(
      /COUNTERSIGN_BODY_MEMORY_BYTES \(1000000\) must not be less than COUNTERSIGN_MAX_BODY_BYTES \(1000001\)/,
    )
    expect(() => load({ BODY_MEMORY_BYTES: '1000000' })).toThrow(/COUNTERSIGN_MAX_BODY_BYTES/)
    expect(load({ BODY_MEMORY_BYTES: '1000000', MAX_BODY_BYTES: '1000000' }).bodyMemoryBytes).toBe(1_000_000)
  })
})

describe('URLs', () => {
  it('are made from the addresses, with a host that can be called', () => {
    const config = load({
      PRODUCTION_LISTEN: '0.0.0.0:80',
      SANDBOX_LISTEN: '[::1]:81',
      ADMIN_LISTEN: '[::]:82',
    })
    expect(environmentUrl(config, 'production')).toBe('http://localhost:80/v1')
    expect(environmentUrl(config, 'sandbox')).toBe('http://[::1]:81/v1')
    expect(adminUrl(config)).toBe('http://localhost:82')
  })

  it('are https where a certificate is given, and the configured ones otherwise', () => {
    const file = join(dir, 'tls.pem')
    const config = load({ TLS_CERT: file, TLS_KEY: file, SANDBOX_URL: 'https://sbx.example.test/v1' })
    expect(environmentUrl(config, 'production')).toBe('https://127.0.0.1:8080/v1')
    expect(environmentUrl(config, 'sandbox')).toBe('https://sbx.example.test/v1')
  })
})

it('rates are numbers per second, with or without the unit', () => {
  expect([parseRate('50', 'x'), parseRate('50/s', 'x'), parseRate(' 2.5/s ', 'x')]).toEqual([50, 50, 2.5])
})

/** Everything that is wrong with an environment. */
const problemsOf = (env: Record<string, string>) => resolveConfig(env).problems

const warningsOf = (env: Record<string, string>) => resolveConfig(env).warnings

describe('a variable that is no setting', () => {
  it.each([
    ['REQUIRE_LIVENES', 'REQUIRE_LIVENESS'],
    ['FRM', 'FMR'],
  ])('is refused where it is a misspelt setting, as in the file: %s', (name, meant) => {
    expect(problemsOf({ [`COUNTERSIGN_${name}`]: '1' })).toEqual([
      `COUNTERSIGN_${name} is not a setting of Countersign; did you mean COUNTERSIGN_${meant}?`,
    ])
    expect(problemsOf({ [`COUNTERSIGN_${name}`]: ' ' })).toEqual([])
  })

  it('gets a warning where it is another word, which names the setting that may be meant; other names are ignored', () => {
    expect(warningsOf({ COUNTERSIGN_WORKRSES: '1', COUNTERSIGN_WORKERS: '1', PATH: 'x' })).toEqual([
      'COUNTERSIGN_WORKRSES is not a setting of Countersign; did you mean COUNTERSIGN_WORKERS?',
    ])
    for (const name of ['COUNTERSIGN_COLOUR', 'COUNTERSIGN_RATE'])
      expect(warningsOf({ [name]: 'x' })).toEqual([
        `${name} is not a setting of Countersign: see countersign config.`,
      ])
  })

  it('is ignored where Kubernetes has set it', () => {
    const links = {
      COUNTERSIGN_SERVICE_HOST: '10.0.0.1',
      COUNTERSIGN_SERVICE_PORT: '8080',
      COUNTERSIGN_SERVICE_PORT_HTTP_API: '8080',
      COUNTERSIGN_PORT: 'tcp://10.0.0.1:8080',
      COUNTERSIGN_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      COUNTERSIGN_PORT_8080_TCP_ADDR: '10.0.0.1',
      COUNTERSIGN_SANDBOX_PORT_8081_TCP_PROTO: 'tcp',
    }
    expect(warningsOf(links)).toEqual([])
    expect(warningsOf({ COUNTERSIGN_SERVICE_HOSTS: 'x' })).toHaveLength(1)
  })
})

it('several problems are reported together', () => {
  const env = { COUNTERSIGN_WORKERS: 'many', COUNTERSIGN_FMR: '2', COUNTERSIGN_TLS_CERT: join(dir, 'none') }
  expect(problemsOf(env)).toHaveLength(4)
  try {
    loadConfig(env)
    expect.unreachable()
  } catch (error) {
    expect((error as ConfigError).problems).toEqual(problemsOf(env))
  }
})

describe('settings that exclude each other', () => {
  for (const [first, second] of [
    ['MASTER_KEY', 'MASTER_KEY_FILE'],
    ['MASTER_KEY', 'MASTER_KEY_COMMAND'],
    ['MASTER_KEY_COMMAND', 'MASTER_KEY_FILE'],
    ['OPERATOR_PASSWORD', 'OPERATOR_PASSWORD_FILE'],
  ])
    it(`are refused together: ${first} and ${second}`, () => {
      const env = { [`COUNTERSIGN_${first}`]: 'top-secret', [`COUNTERSIGN_${second}`]: '/run/secrets/x' }
      expect(problemsOf(env)).toEqual([
        `COUNTERSIGN_${first} and COUNTERSIGN_${second} are both set. Give only one of them.`,
      ])
    })
})

describe('every setting', () => {
  it('has a variable of its own, a description, and a default that it would take itself', () => {
    const settings = Object.values(SETTINGS)
    expect(new Set(settings.map(({ variable }) => variable)).size).toBe(settings.length)
    for (const { variable, fallback, description, parse } of settings) {
      expect(variable).toMatch(/^(?:COUNTERSIGN|OTEL)_[A-Z][A-Z_]*[A-Z]$/)
      expect(description).toMatch(/\.$/)
      if (fallback !== undefined) expect(() => parse(fallback, variable)).not.toThrow()
    }
  })

  it('can be given by a file if it is a secret', () => {
    const variables = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
    const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret)
    expect(secrets.length).toBeGreaterThan(0)
    for (const { variable } of secrets) expect(variables).toContain(`${variable}_FILE`)
  })
})

describe('a deprecated setting', () => {
  const deprecated = { queueLimit: { since: '1.2.0', instead: 'Set COUNTERSIGN_WORKERS instead.' } }

  it('gets a warning with the version and what to do, and goes on working', () => {
    const { config, problems, warnings } = resolveConfig({ COUNTERSIGN_QUEUE_LIMIT: '7' }, [], deprecated)
    expect(warnings).toEqual([
      'COUNTERSIGN_QUEUE_LIMIT is deprecated since 1.2.0 and will be removed in a later major version. Set COUNTERSIGN_WORKERS instead.',
    ])
    expect({ problems, queueLimit: config.queueLimit }).toEqual({ problems: [], queueLimit: 7 })
  })

  it('gets the warning from a file too, and none where nobody sets it', () => {
    const file = join(dir, 'deprecated.env')
    writeFileSync(file, 'COUNTERSIGN_QUEUE_LIMIT=7\n')
    expect(resolveConfig({ COUNTERSIGN_CONFIG: file }, [], deprecated).warnings).toHaveLength(1)
    expect(resolveConfig({ COUNTERSIGN_WORKERS: '7' }, [], deprecated).warnings).toEqual([])
  })

  it('says so in its description', () => {
    for (const name of Object.keys(DEPRECATED_SETTINGS) as Array<keyof typeof SETTINGS>)
      expect(SETTINGS[name].description).toMatch(/^Deprecated since \d/)
  })
})
