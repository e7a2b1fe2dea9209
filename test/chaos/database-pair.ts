/** The database of the campaign: a primary and, when PostgreSQL's tools are installed, a standby that confirms every commit. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findPostgres, freePort, otherUser, runnable } from '../support/postgres-server.js'
import { DatabaseServer, SUPERUSER } from './database-server.js'
import { Room } from './room.js'

const ASK_EVERY_MS = 50
/** Name of the standby in `synchronous_standby_names`. */
const STANDBY = 'chaos'
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 32MB
wal_level = replica
# Small files and few of them, so that a disk of a moderate size does for hours.
min_wal_size = 8MB
max_wal_size = 64MB
wal_keep_size = 64MB
# A standby that was away comes back at once.
wal_retrieve_retry_interval = 200ms
wal_sender_timeout = 2s
wal_receiver_timeout = 2s
log_min_messages = log
`

export class DatabasePair {
  private constructor(
    private readonly folder: string,
    private readonly rooms: Room[],
    private readonly password: string,
    /** Both servers, in any role; one when there is no standby. */
    readonly servers: readonly DatabaseServer[],
    public primary: DatabaseServer,
  ) {}

  static async start(isAlone = false): Promise<DatabasePair> {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-chaos-'))
    const rooms: Room[] = []
    let pair: DatabasePair | undefined
    try {
      const user = otherUser()
      const withTools = isAlone ? undefined : findPostgres('pg_basebackup')
      const programs = withTools ?? (await runnable(findPostgres()!, folder))
      const password = randomBytes(16).toString('hex')
      const passwordFile = join(folder, 'password')
      await writeFile(passwordFile, password)
      if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
      const servers: DatabaseServer[] = []
      for (const name of withTools ? ['one', 'two'] : ['one']) {
        const room = await Room.make(join(folder, name), user)
        rooms.push(room)
        const data = join(room.folder, 'data')
        servers.push(new DatabaseServer(name, data, await freePort(), { programs, password, user }))
      }
      const primary = servers[0]!
      pair = new DatabasePair(folder, rooms, password, servers, primary)
      await primary.run(
        'initdb',
        ...['--pgdata', primary.data, '--username', SUPERUSER, '--pwfile', passwordFile],
        ...['--auth-local', 'trust', '--auth-host', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
        // pg_rewind needs checksums.
        ...['--wal-segsize', '1', '--data-checksums', '--no-sync'],
      )
      await appendFile(join(primary.data, 'postgresql.conf'), SETTINGS)
      await primary.start()
      await primary.createDatabase()
      if (pair.standby) await pair.beSynchronous(pair.standby)
      return pair
    } catch (error) {
      if (pair) await pair.dispose()
      else {
        for (const room of rooms) room.dispose()
        await rm(folder, { recursive: true, force: true })
      }
      throw error
    }
  }

  /** Null when there is no standby. */
  get standby(): DatabaseServer | null {
    return this.servers.find((server) => server !== this.primary) ?? null
  }

  /** The file system of the primary's data; null when it has no limited one. */
  get room(): Room | null {
    const room = this.rooms[this.servers.indexOf(this.primary)]!
    return room.isBounded ? room : null
  }

  /** URL that leads through these ports. */
  url(ports: readonly number[]): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
    return `postgres://${SUPERUSER}:${this.password}@${hosts}/countersign`
  }

  /** URL for this process, which passes no proxy. */
  get directUrl(): string {
    return this.url(this.servers.map(({ port }) => port))
  }

  /** Waits until the primary confirms a commit. @returns the time on the axis of `performance.now()` */
  reachable(): Promise<number> {
    return new Promise((resolve) => {
      // Each attempt uses a connection of its own, because an answer that never comes must not block the next attempt.
      const ask = () =>
        this.primary.query("SELECT pg_logical_emit_message(true, 'chaos', '')").then(
          () => {
            clearInterval(timer)
            resolve(performance.now())
          },
          () => {},
        )
      const timer = setInterval(ask, ASK_EVERY_MS)
      void ask()
    })
  }

  /** Promotes the standby after the primary is gone. It confirms no commit until the other server follows it. */
  async failOver(): Promise<void> {
    const next = this.standby!
    await this.primary.kill()
    await next.query('SELECT pg_promote()', { timeoutMs: 20_000 })
    this.primary = next
    // pg_rewind reads the new timeline from the last checkpoint.
    await next.query('CHECKPOINT', { timeoutMs: 20_000 })
    await this.follow(this.standby!)
    await this.inStep()
  }

  /** Makes this server a standby of the primary, from the data that it has or from a copy. */
  private async follow(standby: DatabaseServer): Promise<void> {
    const { primary } = this
    const source = `host=127.0.0.1 port=${primary.port} user=${SUPERUSER} password=${this.password} application_name=${STANDBY}`
    const isRewound = await standby
      .run(
        'pg_rewind',
        ...['--target-pgdata', standby.data, '--source-server', `${source} dbname=postgres`],
        ...['--write-recovery-conf', '--no-sync'],
      )
      .then(
        () => true,
        () => false,
      )
    if (!isRewound) {
      await rm(standby.data, { recursive: true, force: true })
      await standby.run(
        'pg_basebackup',
        ...['--pgdata', standby.data, '--dbname', source, '--wal-method', 'stream'],
        ...['--checkpoint', 'fast', '--write-recovery-conf', '--no-sync'],
      )
    }
    await standby.start()
  }

  /** Waits until the standby has received everything that the primary has confirmed, and confirms commits. */
  async inStep(): Promise<void> {
    if (!this.standby) return
    for (;;) {
      const [row] = await this.primary
        .query("SELECT sync_state, state FROM pg_stat_replication WHERE sync_state = 'sync'")
        .catch(() => [])
      if (row?.state === 'streaming') return
      await sleep(ASK_EVERY_MS)
    }
  }

  /**
   * Makes commits synchronous when both servers start, and leaves them so. After a change at runtime, PostgreSQL's checkpointer decides
   * when it takes effect, which is later than `pg_stat_replication` reports.
   */
  private async beSynchronous(standby: DatabaseServer): Promise<void> {
    const { primary } = this
    const setting = `synchronous_standby_names = '${STANDBY}'\n`
    await appendFile(join(primary.data, 'postgresql.conf'), setting)
    await this.follow(standby)
    await primary.kill()
    await primary.start()
    await this.inStep()
  }

  async dispose(): Promise<void> {
    for (const server of this.servers) await server.kill()
    for (const room of this.rooms) room.dispose()
    await rm(this.folder, { recursive: true, force: true })
  }
}
