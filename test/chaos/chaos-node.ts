/** A Countersign process of the campaign, with its proxies to the database. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'
import { type ApiClient, apiClient } from '../support/client.js'
import { leash } from '../support/leash.js'
import { freePort } from '../support/postgres-server.js'
import { childrenOf, signal } from '../support/process-tree.js'
import type { TcpProxy } from './tcp-proxy.js'

const MAIN = packageFile('test', 'chaos', 'node.mjs')
const READY = /^ *Dashboard +http/m
/** A connection of a client's pool may break slightly later than the process that it led to. */
const GRACE_MS = 500

export interface NodeParts {
  name: string
  env: NodeJS.ProcessEnv
  /** One proxy for each server of the database. */
  proxies: TcpProxy[]
  logFile: string
}

/** A time in which the process was killed or stopped; `toMs` is infinite while it lasts. On the axis of `performance.now()`. */
interface Absence {
  fromMs: number
  toMs: number
}

export class ChaosNode {
  readonly proxies: readonly TcpProxy[]
  private child: ChildProcess | null = null
  private readonly absences: Absence[] = []

  private constructor(
    private readonly parts: NodeParts,
    private readonly ports: Record<'production' | 'sandbox' | 'admin', number>,
  ) {
    this.proxies = parts.proxies
  }

  /** Makes a node whose addresses stay the same when it is restarted. */
  static async make(parts: NodeParts): Promise<ChaosNode> {
    const [production, sandbox, admin] = [await freePort(), await freePort(), await freePort()]
    return new ChaosNode(parts, { production, sandbox, admin })
  }

  get name(): string {
    return this.parts.name
  }

  client(environment: 'production' | 'sandbox', key: string): ApiClient {
    return apiClient(`http://127.0.0.1:${this.ports[environment]}/v1`, key)
  }

  /** Whether the process was killed or stopped at some time since: then a call may have got no answer. */
  wasAway(sinceMs: number): boolean {
    return this.absences.some(({ toMs }) => toMs + GRACE_MS > sinceMs)
  }

  get isAway(): boolean {
    return this.absences.at(-1)?.toMs === Number.POSITIVE_INFINITY
  }

  /** Resolves when the node serves. @throws Error when the process ends before that */
  async start(): Promise<void> {
    const { env, logFile } = this.parts
    const address = (port: number) => `127.0.0.1:${port}`
    const log = openSync(logFile, 'a')
    const child = spawn(process.execPath, [...leash(), MAIN], {
      env: {
        ...env,
        COUNTERSIGN_PRODUCTION_LISTEN: address(this.ports.production),
        COUNTERSIGN_SANDBOX_LISTEN: address(this.ports.sandbox),
        COUNTERSIGN_ADMIN_LISTEN: address(this.ports.admin),
      },
      stdio: ['ignore', log, 'pipe', 'ipc'],
      // Ctrl-C must end the campaign, which then ends its nodes.
      detached: true,
    })
    closeSync(log)
    this.child = child
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-5000)
        if (READY.test(said)) resolve()
      })
      child.once('exit', () => reject(new Error(`the node ${this.name} ended before it served:\n${said}`)))
    })
    const absence = this.absences.at(-1)
    if (absence) absence.toMs = performance.now()
  }

  async kill(): Promise<void> {
    this.leave()
    await this.end('SIGKILL')
  }

  halt(): void {
    this.leave()
    this.child!.kill('SIGSTOP')
  }

  goOn(): void {
    this.child!.kill('SIGCONT')
    this.absences.at(-1)!.toMs = performance.now()
  }

  /** Sets how far the clock of the process is ahead of this one's, in milliseconds. */
  skew(ms: number): void {
    this.child!.send({ skewMs: ms })
  }

  /** Sends SIGTERM. @returns the exit code */
  async stop(): Promise<number | null> {
    this.leave()
    return this.end('SIGTERM')
  }

  /** Kills the process in any state. */
  async dispose(): Promise<void> {
    await this.end('SIGKILL')
    for (const proxy of this.proxies) await proxy.close()
  }

  private leave(): void {
    this.absences.push({ fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY })
  }

  private async end(name: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this
    if (!child) return null
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const engines = childrenOf(child.pid!)
    const exited = once(child, 'exit')
    child.kill(name)
    const [code] = await exited
    // An engine without its service ends a little later; the campaign needs its cores now.
    if (name === 'SIGKILL') for (const pid of engines) signal(pid, 'SIGKILL')
    return code
  }
}
