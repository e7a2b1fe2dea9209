/** One PostgreSQL of the campaign: killed, stopped, and started again on the same data. */
import { type ChildProcess, execFile, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { OtherUser } from '../support/postgres-server.js'
import { childrenOf } from '../support/process-tree.js'

const READY = /database system is ready to accept (?:read-only )?connections/
const PATIENCE_MS = 1000
const DATABASE = 'countersign'
export const SUPERUSER = 'postgres'

export class DatabaseServer {
  private postmaster: ChildProcess | null = null
  private stopped: number[] = []

  constructor(
    readonly name: string,
    /** Where its data are. */
    readonly data: string,
    readonly port: number,
    private readonly host: { programs: string; password: string; user: OtherUser | undefined },
  ) {}

  get isRunning(): boolean {
    return this.postmaster !== null
  }

  async createDatabase(): Promise<void> {
    await this.query(`CREATE DATABASE ${DATABASE}`, { database: 'postgres', timeoutMs: 20_000 })
  }

  /** Through a connection of its own. @throws Error also where nothing is heard for too long */
  async query(
    sql: string,
    { database = DATABASE, timeoutMs = PATIENCE_MS } = {},
  ): Promise<Array<Record<string, unknown>>> {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: this.port,
      user: SUPERUSER,
      password: this.host.password,
      database,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: timeoutMs,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(sql)).rows
    } finally {
      client.end().catch(() => {})
    }
  }

  /** One of PostgreSQL's programs, as the user that the server runs as. @throws Error with what it said */
  async run(program: string, ...args: string[]): Promise<void> {
    await promisify(execFile)(join(this.host.programs, program), args, {
      ...this.host.user,
      cwd: '/',
      env: { PATH: process.env.PATH, PGPASSWORD: this.host.password },
    })
  }

  /** Resolves when it takes connections. @throws Error when it ends before that */
  async start(): Promise<void> {
    const command = [join(this.host.programs, 'postgres'), '-D', this.data, '-p', `${this.port}`]
    const postmaster = asUser(command, this.host.user)
    let said = ''
    const exited = once(postmaster, 'exit')
    try {
      await new Promise<void>((resolve, reject) => {
        postmaster.stderr!.setEncoding('utf8').on('data', (text: string) => {
          said = (said + text).slice(-5000)
          if (READY.test(said)) resolve()
        })
        exited.then(() => reject(new Error(`the server ${this.name} ended:\n${said}`)), reject)
      })
    } catch (error) {
      postmaster.kill('SIGKILL')
      throw error
    }
    this.postmaster = postmaster
    void exited.then(() => {
      if (this.postmaster === postmaster) this.postmaster = null
    })
  }

  /** As a machine that loses its power, but for what the kernel keeps: nothing of it runs on. */
  async kill(): Promise<void> {
    const { postmaster } = this
    if (!postmaster) return
    const all = this.processes()
    for (const pid of all) signal(pid, 'SIGKILL')
    if (postmaster.exitCode === null && postmaster.signalCode === null) await once(postmaster, 'exit')
    this.postmaster = null
    // Children that live on hold the shared memory, and a new server would refuse to start.
    while (all.some(isAlive)) await sleep(10)
  }

  /** One of those that serve connections, which makes the server end all others and recover. */
  killBackend(choose: <T>(among: readonly T[]) => T): void {
    const backends = this.processes().filter((pid) => titleOf(pid).includes(` ${DATABASE} 127.0.0.1`))
    if (backends.length > 0) signal(choose(backends), 'SIGKILL')
  }

  /** Stands still, connections and all. */
  halt(): void {
    this.stopped = this.processes()
    for (const pid of this.stopped) signal(pid, 'SIGSTOP')
  }

  goOn(): void {
    for (const pid of this.stopped.splice(0)) signal(pid, 'SIGCONT')
  }

  private processes(): number[] {
    const pid = this.postmaster?.pid
    return pid === undefined ? [] : [pid, ...childrenOf(pid)]
  }
}

/** Dies with us, however we end: a campaign that is killed leaves no server behind. */
function asUser([program, ...args]: string[], user: OtherUser | undefined): ChildProcess {
  // A group of its own: Ctrl-C is for the campaign, which ends it.
  const options: SpawnOptions = { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true }
  if (!hasSetpriv()) return spawn(program!, args, { ...user, ...options })
  const identity = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : []
  return spawn('setpriv', [...identity, '--pdeathsig=KILL', program!, ...args], options)
}

let setpriv: boolean | null = null

function hasSetpriv(): boolean {
  setpriv ??= spawnSync('setpriv', ['--pdeathsig=KILL', 'true']).status === 0
  return setpriv
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** A zombie, which nobody may ever bury, is not. */
function isAlive(pid: number): boolean {
  try {
    return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
