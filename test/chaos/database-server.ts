/** A PostgreSQL server of the campaign, which can be killed, stopped, and started again on the same data. */
import { type ChildProcess, execFile, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { OtherUser } from '../support/postgres-server.js'
import { childrenOf, isAlive, signal } from '../support/process-tree.js'

const READY = /database system is ready to accept (?:read-only )?connections/
const PATIENCE_MS = 1000
const DATABASE = 'countersign'
export const SUPERUSER = 'postgres'

export class DatabaseServer {
  private postmaster: ChildProcess | null = null
  private stopped: number[] = []

  constructor(
    readonly name: string,
    /** Folder of the data. */
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

  /** Runs a statement over a new connection. @throws Error, also when there is no answer in time */
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
      connectionTimeoutMillis: timeoutMs,
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

  /** Runs one of PostgreSQL's programs as the user of the server. @throws Error with the program's output */
  async run(program: string, ...args: string[]): Promise<void> {
    await promisify(execFile)(join(this.host.programs, program), args, {
      ...this.host.user,
      cwd: '/',
      env: { PATH: process.env.PATH, PGPASSWORD: this.host.password },
    })
  }

  /** Resolves when the server accepts connections. @throws Error when it ends before that */
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

  /** Kills all processes of the server, as a power cut does; the kernel keeps what was written. */
  async kill(): Promise<void> {
    const { postmaster } = this
    if (!postmaster) return
    const all = this.processes()
    for (const pid of all) signal(pid, 'SIGKILL')
    if (postmaster.exitCode === null && postmaster.signalCode === null) await once(postmaster, 'exit')
    this.postmaster = null
    // A child that lives on holds the shared memory, so that a new server would refuse to start.
    while (all.some(isAlive)) await sleep(10)
  }

  /** Kills a process that serves a connection, after which the server ends all others and recovers. */
  killBackend(choose: <T>(among: readonly T[]) => T): void {
    const backends = this.processes().filter((pid) => titleOf(pid).includes(` ${DATABASE} 127.0.0.1`))
    if (backends.length > 0) signal(choose(backends), 'SIGKILL')
  }

  /** Stops all processes with SIGSTOP; connections stay open. */
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

/** The server ends when this process ends in any way, so that a killed campaign leaves none behind. */
function asUser([program, ...args]: string[], user: OtherUser | undefined): ChildProcess {
  // A process group of its own, because Ctrl-C must end the campaign, which then ends the server.
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

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
