/** Parses `postgres://user:password@host:port,host:port/database?sslmode=…` as libpq does, for the parameters listed here (PostgreSQL manual, 34.1.1.2). */
import { isIP } from 'node:net'
import { ConfigError } from '../../config/config-error.js'

/** How the server must prove its identity. `prefer` is missing: it falls back to plain text when anyone on the way asks for it. */
type TlsMode = 'disable' | 'require' | 'verify-ca' | 'verify-full'
const TLS_MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full'] satisfies TlsMode[]

export interface PostgresTarget {
  /** Hosts, tried in order until one is found that can be written. A path is the folder of a Unix socket. */
  hosts: Array<{ host: string; port: number }>
  user: string
  /** Undefined where the URL has none. */
  password: string | undefined
  database: string
  tls: TlsMode
  /** PEM files: authorities for the server's certificate, and the client's own certificate and key. */
  rootCertFile: string | undefined
  certFile: string | undefined
  keyFile: string | undefined
  connectTimeoutMs: number
  /** Options for the server's command line, such as `-c search_path=countersign`. */
  options: string | undefined
}

const PORT = 5432
const CONNECT_TIMEOUT_SECONDS = 3
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<parameters>[^#]*))?$/
const HOST = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/
const PARAMETERS = [
  'host',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'connect_timeout',
  'options',
  'target_session_attrs',
]

/** @throws ConfigError that never repeats the URL: it may hold a password */
export function parsePostgresUrl(url: string): PostgresTarget {
  const parts = URL_PARTS.exec(url)?.groups
  if (!parts) throw problem('expected postgres://user@host:5432/database?sslmode=verify-full')
  const parameters = readParameters(parts.parameters ?? '')
  const hosts = readHosts(parameters.get('host') ?? decode(parts.hosts ?? ''))
  const user = decode(parts.user ?? '')
  if (user === '') throw problem('it contains no user name')
  const session = parameters.get('target_session_attrs') ?? 'read-write'
  if (session !== 'read-write') throw problem('target_session_attrs can only be read-write')
  const tls = parameters.get('sslmode') ?? (hosts.every(isLocal) ? 'disable' : 'verify-full')
  if (!isTlsMode(tls)) throw problem(`sslmode is ${tls}; expected one of ${TLS_MODES.join(', ')}`)
  if (parameters.has('sslcert') !== parameters.has('sslkey'))
    throw problem('sslcert and sslkey must be given together')
  const seconds = Number(parameters.get('connect_timeout') ?? CONNECT_TIMEOUT_SECONDS)
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > 60)
    throw problem('connect_timeout must be a whole number of seconds from 1 to 60')
  return {
    hosts,
    user,
    password: parts.password === undefined ? undefined : decode(parts.password),
    database: decode(parts.database ?? '') || user,
    tls,
    rootCertFile: parameters.get('sslrootcert'),
    certFile: parameters.get('sslcert'),
    keyFile: parameters.get('sslkey'),
    connectTimeoutMs: seconds * 1000,
    options: parameters.get('options'),
  }
}

/** The URL for messages: without user, password and parameters. */
export function describePostgres({ hosts, database }: Pick<PostgresTarget, 'hosts' | 'database'>): string {
  const places = hosts.map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`))
  return `PostgreSQL database ${database} on ${places.join(', ')}`
}

function readParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const pair of text.split('&').filter(Boolean)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode)
    if (!PARAMETERS.includes(name))
      throw problem(`${name} is not a known parameter; known parameters are ${PARAMETERS.join(', ')}`)
    parameters.set(name, value)
  }
  return parameters
}

function readHosts(text: string): PostgresTarget['hosts'] {
  if (text.includes('@')) throw problem('write an @ in user or password as %40')
  return text.split(',').map((one) => {
    if (one.startsWith('/')) return { host: one, port: PORT }
    const parts = HOST.exec(one)?.groups
    const port = Number(parts?.port ?? PORT)
    if (!parts || port < 1 || port > 65535) throw problem('expected host:port, several separated by commas')
    return { host: (parts.v6 ?? parts.name)!, port }
  })
}

/** Addresses of this machine, whose traffic never leaves it. */
function isLocal({ host }: { host: string }): boolean {
  return (
    host.startsWith('/') ||
    host === 'localhost' ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  )
}

function isTlsMode(text: string): text is TlsMode {
  return TLS_MODES.includes(text)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw problem('it contains a % that does not begin an escape')
  }
}

function problem(why: string): ConfigError {
  return new ConfigError(`COUNTERSIGN_DATABASE cannot be used: ${why}.`)
}
