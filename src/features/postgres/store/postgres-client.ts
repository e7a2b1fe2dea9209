/** Connections to the database's hosts: where they lead, with which credentials, and how they are closed. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import { ConfigError } from '../../../config/config-error.js'
import type { PostgresTarget } from '../postgres-url.js'
import type { Host, Hosts } from './postgres-hosts.js'

/** Location of the server, and the credentials. */
export interface PostgresAccess {
  target: PostgresTarget
  hosts: Hosts
  /** File of the password. Read for every connection, because it may be replaced while the service runs. */
  passwordFile: string | undefined
}

/** How pg reads columns: times are milliseconds, far below 2^53, so that a bigint becomes a number and not a string. */
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** A connection of pg whose socket the store can close at once, without waiting for a server that may be gone. */
export class PostgresClient extends pg.Client {
  private readonly socket: Socket
  private isCorked = false

  constructor(config: pg.ClientConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.socket = socket
    // The next statement reports that the connection is broken. Without a listener the event would end the process.
    this.on('error', () => {})
  }

  /** Closes the connection without a goodbye; statements under way are rejected. */
  abandon(): void {
    this.socket.destroy()
  }

  /** Sends the statements of one turn of the event loop in one write: otherwise each costs a system call here and wakes the server. */
  corkUntilNextTick(): void {
    if (this.isCorked) return
    this.socket.cork()
    this.isCorked = true
    process.nextTick(() => {
      this.isCorked = false
      this.socket.uncork()
    })
  }

  /** Closes the connection when the login fails; pg would leave it open. */
  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (!callback)
      return super.connect().catch((error) => {
        this.abandon()
        throw error
      })
    super.connect((error: Error) => {
      if (error) this.abandon()
      callback(error)
    })
    return undefined
  }
}

/** Makes the options of a connection to a host, the current one by default. */
export type OptionsOf = (host?: Host) => pg.ClientConfig

/** @throws ConfigError when a file of the TLS options cannot be read */
export function clientOptions({ target, hosts, passwordFile }: PostgresAccess): OptionsOf {
  let ssl = tlsOptions(target)
  /** Certificates may be replaced while the service runs. While the files cannot be read, the last ones stay in use. */
  const readTls = () => {
    try {
      ssl = tlsOptions(target)
    } catch {
      // Connecting fails once the last certificate has expired.
    }
    return ssl
  }
  // Never undefined, because pg would then look for a password in the environment and in home folders.
  const password = passwordFile
    ? async () => (await readFile(passwordFile, 'utf8')).trimEnd()
    : (target.password ?? '')
  return (at = hosts.current) => ({
    ...at,
    user: target.user,
    database: target.database,
    ...(target.options === undefined ? {} : { options: target.options }),
    application_name: 'countersign',
    password,
    types,
    ssl: at.host.startsWith('/') ? false : readTls(),
  })
}

function tlsOptions({ tls, rootCertFile, certFile, keyFile }: PostgresTarget): false | ConnectionOptions {
  if (tls === 'disable') return false
  const ca = rootCertFile === undefined ? undefined : readPem(rootCertFile)
  return {
    // Certificates are verified when authorities are named, as in libpq.
    rejectUnauthorized: tls !== 'require' || ca !== undefined,
    ...(ca === undefined ? {} : { ca }),
    ...(certFile && keyFile ? { cert: readPem(certFile), key: readPem(keyFile) } : {}),
    ...(tls === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(`COUNTERSIGN_DATABASE cannot be used: ${(cause as Error).message}.`)
  }
}
