/** An installation of the built service in a separate folder: commands, and a server that can be killed and started again. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../src/lib/package-root.js'
import { leash } from '../support/leash.js'
import { ON_BASELINE } from '../support/prepare-baseline.js'
import { childrenOf } from '../support/process-tree.js'

const MAIN = packageFile('dist', 'src', 'cli', 'main.js')

export interface RunningServer {
  /** Base URLs without /v1. */
  production: string
  sandbox: string
  admin: string
  pid: number
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Crashes the process of the engine, as a fault in native code would. */
  crashEngine(): void
  /** Sends a signal as a terminal does: to the service and every process that it has started. */
  signalAll(name: NodeJS.Signals): void
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Resolves when the process is gone, with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>
  /** The address that it says when it starts. @param name such as `OpenID` */
  address(name: string): string | undefined
}

export interface InstallationOptions {
  /** Data folder; when left out, a new one is made and removed at the end. */
  dataDir?: string
  /** Additional settings; undefined for the service's own choice. */
  env?: Record<string, string | undefined>
}

export interface ServeOptions {
  /** File descriptor for the log, or a function that receives its text; without it, the log is dropped. */
  log?: number | ((text: string) => void)
  env?: Record<string, string>
}

export class Installation {
  private readonly children = new Set<ChildProcess>()

  private constructor(
    readonly dataDir: string,
    private readonly isOwn: boolean,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async create({ dataDir: given, env }: InstallationOptions = {}): Promise<Installation> {
    const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'countersign-faults-')))
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'))
    return new Installation(dataDir, given === undefined, {
      ...Object.fromEntries(inherited),
      COUNTERSIGN_DATA_DIR: dataDir,
      ...ON_BASELINE,
      COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_REPLAY_POLICY: 'report',
      COUNTERSIGN_LOG_LEVEL: 'error',
      // The number of callers limits the load; a rate limit would only slow the campaign down.
      COUNTERSIGN_RATE_LIMIT: '100000',
      ...env,
    })
  }

  /** Starts a server in a new installation, and removes everything when `work` is done. */
  static async serving<T>(
    env: Record<string, string>,
    work: (server: RunningServer, installation: Installation) => Promise<T>,
  ): Promise<T> {
    const installation = await Installation.create({ env })
    try {
      return await work(await installation.serve(), installation)
    } finally {
      await installation.dispose()
    }
  }

  get databaseFile(): string {
    return join(this.dataDir, 'countersign.db')
  }

  /** Runs a command. @returns its standard output @throws Error when the exit code is not 0 */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], { env: this.env })
    return stdout
  }

  async serve({ log, env }: ServeOptions = {}): Promise<RunningServer> {
    const child = spawn(process.execPath, [...leash(), MAIN, 'serve'], {
      env: { ...this.env, ...env },
      stdio: ['ignore', typeof log === 'function' ? 'pipe' : (log ?? 'ignore'), 'pipe'],
    })
    if (typeof log === 'function') child.stdout!.setEncoding('utf8').on('data', log)
    this.children.add(child)
    const closed = once(child, 'close').finally(() => this.children.delete(child))
    const exited = closed.then(([code]) => code as number | null)
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (/Dashboard +http\S+\n/.test(said)) resolve()
      })
      closed.then(() => reject(new Error(`serve ended before it was ready:\n${said}`)), reject)
    })
    const address = (name: string) => new RegExp(`${name} +(http\\S+?)(?:/v1)?/?\\s`).exec(said)?.[1]
    const end = (signal: NodeJS.Signals) => {
      child.kill(signal)
      return exited
    }
    return {
      production: address('Production')!,
      sandbox: address('Sandbox')!,
      admin: address('Dashboard')!,
      address,
      pid: child.pid!,
      kill: async () => void (await end('SIGKILL')),
      crashEngine: () => {
        for (const engine of childrenOf(child.pid!)) process.kill(engine, 'SIGSEGV')
      },
      signalAll: (name) => {
        for (const pid of [...childrenOf(child.pid!), child.pid!]) process.kill(pid, name)
      },
      stop: () => end('SIGTERM'),
      exited,
    }
  }

  /** Ends every process that is left, and removes the folder that it made. */
  async dispose(): Promise<void> {
    await Promise.all(
      [...this.children].map(async (child) => {
        const closed = once(child, 'close')
        child.kill('SIGKILL')
        await closed
      }),
    )
    if (this.isOwn) await rm(this.dataDir, { recursive: true, force: true })
  }
}
