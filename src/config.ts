/** Configuration: the environment becomes one typed, validated, frozen object; every variable is documented where it is read. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface ListenAddress {
  host: string
  /** 0 lets the system choose. */
  port: number
}

type Env = Record<string, string | undefined>

interface Setting<T> {
  variable: string
  /** As it would stand in the environment; undefined where the default is computed or absent. */
  fallback: string | undefined
  description: string
  parse(text: string, variable: string): T
}

function fail(variable: string, text: string, expected: string): never {
  throw new ConfigError(`${variable} is ${JSON.stringify(text)}; expected ${expected}.`)
}

function integer(minimum: number, maximum: number) {
  return (text: string, variable: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum)
      fail(variable, text, `a whole number from ${minimum} to ${maximum}`)
    return value
  }
}

function oneOf<const T extends string>(...values: T[]) {
  return (text: string, variable: string): T =>
    values.find((value) => value === text) ?? fail(variable, text, `one of ${values.join(', ')}`)
}

function boolean(text: string, variable: string): boolean {
  return oneOf('true', 'false')(text, variable) === 'true'
}

function listenAddress(text: string, variable: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65535) fail(variable, text, 'host:port, such as 127.0.0.1:8080 or [::1]:8080')
  return { host: (match[1] ?? match[2])!, port }
}

function falseMatchRate(text: string, variable: string): number {
  const value = Number(text)
  if (!(value > 0 && value < 1)) fail(variable, text, 'a rate between 0 and 1, such as 1e-4')
  return value
}

/** `50`, `50/s` or `0.5/s`, in requests per second. */
export function parseRate(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text.trim())
  const value = Number(match?.[1])
  if (!match || !(value > 0) || value > 1_000_000) fail(name, text, 'requests per second, such as 50/s')
  return value
}

function baseUrl(text: string, variable: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    fail(variable, text, 'an absolute http(s) URL')
  }
  if (!/^https?:$/.test(url.protocol)) fail(variable, text, 'an absolute http(s) URL')
  return text.replace(/\/+$/, '')
}

function setting<T>(
  variable: string,
  fallback: string | undefined,
  description: string,
  parse: (text: string, variable: string) => T,
): Setting<T> {
  return { variable: `COUNTERSIGN_${variable}`, fallback, description, parse }
}

const text = (value: string) => value

/** Every variable, in the order in which the documentation lists them. */
export const SETTINGS = {
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
  masterKey: setting(
    'MASTER_KEY',
    undefined,
    '32 bytes in base64 that wrap every other key. Default: MASTER_KEY_COMMAND, else MASTER_KEY_FILE.',
    text,
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
  operatorPassword: setting(
    'OPERATOR_PASSWORD',
    undefined,
    'Password of the operator at the dashboard. Default: OPERATOR_PASSWORD_FILE.',
    text,
  ),
  operatorPasswordFile: setting(
    'OPERATOR_PASSWORD_FILE',
    undefined,
    'File with the scrypt hash of the operator password; made with mode 0600 at first start, when the password is printed once. Default: <data dir>/operator.password.',
    text,
  ),
  modelsDir: setting('MODELS_DIR', undefined, 'Folder with model packs. Default: <data dir>/models.', text),
  modelPack: setting(
    'MODEL_PACK',
    'baseline',
    'Name of a pack in the models folder, or a path to a pack.',
    text,
  ),
  executionProviders: setting(
    'EXECUTION_PROVIDERS',
    'cpu',
    'ONNX Runtime providers in order of preference (cuda, tensorrt, webgpu, dml, coreml, cpu); cpu is always the last resort.',
    (value) =>
      value
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter(Boolean),
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
    parse: baseUrl,
  },
  otelServiceName: {
    variable: 'OTEL_SERVICE_NAME',
    fallback: 'countersign',
    description: 'Name of the service in traces.',
    parse: text,
  },
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'trace, debug, info, warn, error, fatal or silent.',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
} as const

type Parsed = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> }
type Optional =
  | 'productionUrl'
  | 'sandboxUrl'
  | 'adminUrl'
  | 'tlsCert'
  | 'tlsKey'
  | 'masterKey'
  | 'masterKeyCommand'
  | 'operatorPassword'
  | 'lockoutAttempts'
  | 'otlpEndpoint'

export type Config = Readonly<Omit<Parsed, Optional> & { [K in Optional]: Parsed[K] | undefined }>

/**
 * Reads the environment.
 * @throws ConfigError naming the variable, its value and what was expected.
 */
export function loadConfig(env: Env = process.env): Config {
  const read = <K extends keyof typeof SETTINGS>(key: K): Parsed[K] | undefined => {
    const { variable, fallback, parse } = SETTINGS[key] as Setting<Parsed[K]>
    const value = env[variable]?.trim() || fallback
    return value === undefined ? undefined : parse(value, variable)
  }
  const values = Object.fromEntries(
    (Object.keys(SETTINGS) as Array<keyof typeof SETTINGS>).map((key) => [key, read(key)]),
  ) as { [K in keyof Parsed]: Parsed[K] | undefined }
  const dataDir = resolve(values.dataDir!)
  const inDataDir = (path: string | undefined, name: string) => (path ? resolve(path) : join(dataDir, name))
  const workers = values.workers ?? availableParallelism()
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined))
    throw new ConfigError('COUNTERSIGN_TLS_CERT and COUNTERSIGN_TLS_KEY must be given together.')
  for (const file of [values.tlsCert, values.tlsKey]) if (file) assertReadable(file)
  return Object.freeze({
    ...(values as Parsed),
    dataDir,
    workers,
    database: values.database ?? `sqlite:${join(dataDir, 'countersign.db')}`,
    masterKeyFile: inDataDir(values.masterKeyFile, 'master.key'),
    operatorPasswordFile: inDataDir(values.operatorPasswordFile, 'operator.password'),
    modelsDir: inDataDir(values.modelsDir, 'models'),
    queueLimit: values.queueLimit ?? workers * 32,
    executionProviders: values.executionProviders!,
  })
}

/** Variables that look like ours and are not: most likely misspelt, so worth a warning. */
export function unknownVariables(env: Env = process.env): string[] {
  const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
  return Object.keys(env).filter((name) => name.startsWith('COUNTERSIGN_') && !known.has(name))
}

function assertReadable(file: string): void {
  try {
    readFileSync(file)
  } catch (cause) {
    throw new ConfigError(`Cannot read ${file}: ${(cause as Error).message}`)
  }
}

/** The folder of the configured pack: a path as it is, a name inside the models folder. */
export function modelPackDir(config: Config): string {
  const { modelPack, modelsDir } = config
  return isAbsolute(modelPack) || modelPack.includes('/') ? resolve(modelPack) : join(modelsDir, modelPack)
}

/** The file behind `sqlite:<path>`. */
export function sqliteFile(config: Config): string {
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
