/** Runs the `countersign` command in a data folder of its own: inside this process, or as real processes of the build. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, inject, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import { runProgram } from '../../src/cli/program.js'
import { packageFile } from '../../src/lib/package-root.js'
import { leash } from './leash.js'
import { OPERATOR_HASH } from './operator.js'
import { withSharedEngine } from './shared-engine.js'

/**
 * An option of Node for processes that live for seconds: V8 optimises only what runs fifteen times longer than usual, which otherwise takes a
 * quarter of the time of a core that the start of a service needs.
 */
const SHORT_LIVED = '--interrupt-budget=2000000'

const SILENT = pino({ level: 'silent' })

const MAIN = packageFile('dist', 'src', 'cli', 'main.js')
/** The program that `spawnAll` starts, and the mark behind each command's exit code there. */
const SEVERAL = packageFile('test', 'support', 'several-commands.mjs')
const END_OF_COMMAND = '\u001e'

export class CommandResult {
  constructor(
    readonly code: number | null,
    readonly stdout: string,
    readonly stderr: string,
  ) {}

  /** Stdout, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into output freely
  get json(): any {
    return JSON.parse(this.stdout)
  }

  /** The failure that `--json` prints on stderr. */
  get error(): { code: string; message: string } {
    return JSON.parse(this.stderr).error
  }
}

/** Base URLs of a service, without /v1. */
export interface ServedUrls {
  production: string
  sandbox: string
  admin: string
}

/** A service in the test's own process. */
export interface HostedService extends ServedUrls {
  stop(): Promise<void>
}

export interface ServerProcess extends ServedUrls {
  pid: number
  /** Everything printed so far. */
  stdout(): string
  stderr(): string
  /** Resolves when stderr holds the text. */
  told(text: string | RegExp): Promise<void>
  /** Resolves when the log on stdout has a line with this message. */
  logged(message: string): Promise<void>
  /** Sends the signal. */
  signal(name: NodeJS.Signals): void
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface Workplace {
  dataDir: string
  /** A path inside the data folder. */
  path(...segments: string[]): string
  /** Runs a command in this process, from the code in src, and returns what it printed. One command at a time. */
  run(args: string[], env?: Record<string, string>): Promise<CommandResult>
  /** Runs the command of this line, whose words hold no space, with `--json`, as `run` does. */
  ask(line: string, env?: Record<string, string>): Promise<CommandResult>
  /** The built command as a process. @param input what is piped into it */
  spawn(args: string[], env?: Record<string, string>, input?: string): Promise<CommandResult>
  /** The built command for one command line after the other, in one process of their own. */
  spawnAll(lines: string[][], env?: Record<string, string>): Promise<CommandResult[]>
  /** The built command as a process that is killed after a time, if it has not ended before. */
  abort(args: string[], env: Record<string, string>, afterMs: number): Promise<CommandResult>
  /** The built command as a process that has only just been started. */
  begin(
    args: string[],
    env?: Record<string, string>,
  ): Pick<ServerProcess, 'pid' | 'signal' | 'exited' | 'stdout'>
  /**
   * The service over the data folder, inside this process, on free ports and with this worker's engine. It serves tests about
   * what commands do to a running service: a process costs seconds more.
   */
  host(env?: Record<string, string>): Promise<HostedService>
  /** A `serve` inside this process, for tests about what it prints until it is ready; it logs nothing. Rejects with that where it fails. */
  announce(args?: string[], env?: Record<string, string>): Promise<HostedService & { stderr: string }>
  /**
   * A running `serve` on free ports; rejects with what it printed when it ends before it is ready. Its operator's password is
   * that of the tests; an empty variable leaves it to the installation.
   */
  serve(args?: string[], env?: Record<string, string>): Promise<ServerProcess>
  /** Ends every process that is left and removes the folder. */
  dispose(): Promise<void>
}

/** @param main the built command: of this checkout, where nothing else is said */
export async function workplace(env: Record<string, string> = {}, main = MAIN): Promise<Workplace> {
  if (!existsSync(main)) throw new Error(`${main} is missing; build first: npm run build`)
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-cli-'))
  const children = new Set<ChildProcessWithoutNullStreams>()
  const hosted: Service[] = []
  const base = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COUNTERSIGN_|NO_COLOR$|FORCE_COLOR$)/.test(name)),
  )

  const host = (service: Service): HostedService => {
    hosted.push(service)
    const base = (url: string) => url.replace(/\/v1$/, '')
    return {
      production: base(service.url('production')),
      sandbox: base(service.url('sandbox')),
      admin: service.adminUrl,
      stop: () => service.stop(),
    }
  }

  const environment = (extra: Record<string, string>) => ({
    ...base,
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
    COUNTERSIGN_ACCEPT_PACK: 'baseline',
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_WORKERS: '1',
    COUNTERSIGN_REPLAY_POLICY: 'report',
    ...env,
    ...extra,
  })

  function start(args: string[], extra: Record<string, string>, input = '', program = main) {
    const child = spawn(process.execPath, [SHORT_LIVED, ...leash(), program, ...args], {
      env: environment(extra),
    })
    children.add(child)
    child.stdin.end(input)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    const exited = once(child, 'close').then(([code, signal]) => {
      children.delete(child)
      return { code: code as number | null, signal: signal as NodeJS.Signals | null }
    })
    return { child, output, exited }
  }

  return {
    dataDir,
    path: (...segments) => join(dataDir, ...segments),
    run: (args, extra = {}) => runHere(args, environment(extra)),
    ask: (line, extra = {}) => runHere([...line.split(' '), '--json'], environment(extra)),
    async spawn(args, extra = {}, input = '') {
      const { output, exited } = start(args, extra, input)
      const { code } = await exited
      return new CommandResult(code, output.stdout, output.stderr)
    },
    async spawnAll(lines, extra = {}) {
      const { output, exited } = start([main, JSON.stringify(lines)], extra, '', SEVERAL)
      const { code } = await exited
      if (code !== 0) throw new Error(`The process ended with ${code}:\n${output.stdout}${output.stderr}`)
      const [stdout, stderr] = [output.stdout, output.stderr].map((text) => text.split(END_OF_COMMAND))
      return lines.map((_, at) => {
        const [, told, exitCode] = /^([\s\S]*?)(\d+)$/.exec(stdout![at]!)!
        return new CommandResult(Number(exitCode), told!, stderr![at]!.slice(0, -exitCode!.length))
      })
    },
    async abort(args, extra, afterMs) {
      const { child, output, exited } = start(args, extra)
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
      const { code } = await exited
      clearTimeout(timer)
      return new CommandResult(code, output.stdout, output.stderr)
    },
    begin(args, extra = {}) {
      const { child, output, exited } = start(args, extra)
      return { pid: child.pid!, signal: (name) => void child.kill(name), exited, stdout: () => output.stdout }
    },
    async host(extra = {}) {
      const config = loadConfig(environment({ COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH, ...extra }))
      // `serve` sets this too: its files are for their owner only.
      const umask = process.umask(0o077)
      return host(
        await withSharedEngine(() => Service.start(config, { log: SILENT })).finally(() =>
          process.umask(umask),
        ),
      )
    },
    async announce(args = [], extra = {}) {
      const { start } = Service
      let service: HostedService | undefined
      Service.start = async (config, options) => {
        const started = await start(config, { ...options, log: SILENT })
        service = host(started)
        return started
      }
      try {
        const env = { COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH, ...extra }
        const { code, stderr } = await runHere(['serve', ...args], environment(env))
        if (code !== 0 || !service) throw new Error(stderr)
        return { ...service, stderr }
      } finally {
        Service.start = start
      }
    },
    async serve(args = [], extra = {}) {
      const { child, output, exited } = start(['serve', ...args], {
        COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH,
        ...extra,
      })
      let ended = false
      void exited.then(() => {
        ended = true
      })
      const waitFor = async (stream: 'stdout' | 'stderr', isThere: (text: string) => boolean) => {
        while (!isThere(output[stream])) {
          if (ended)
            throw new Error(`serve ended before it said what was expected:\n${output.stdout}${output.stderr}`)
          await Promise.race([once(child[stream], 'data'), exited])
        }
      }
      const told = (text: string | RegExp) =>
        waitFor('stderr', (said) => (typeof text === 'string' ? said.includes(text) : text.test(said)))
      const isJson = args.includes('--json')
      await told(isJson ? /"admin":"http.*\n/ : /Dashboard +http\S+\n/)
      const address = (name: string) =>
        isJson
          ? JSON.parse(output.stderr)[name].replace(/\/v1$/, '')
          : new RegExp(`${name} +(https?://\\S+?)(?:/v1)?/?\\n`, 'i').exec(output.stderr)![1]!
      return {
        pid: child.pid!,
        production: address('production'),
        sandbox: address('sandbox'),
        admin: address(isJson ? 'admin' : 'dashboard'),
        stdout: () => output.stdout,
        stderr: () => output.stderr,
        told,
        logged: (message) => waitFor('stdout', (log) => log.includes(`"msg":"${message}"`)),
        signal: (name) => void child.kill(name),
        exited,
      }
    },
    async dispose() {
      for (const service of hosted) await service.stop()
      await Promise.all(
        [...children].map(async (child) => {
          child.kill('SIGKILL')
          if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
        }),
      )
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A workplace for all tests of the surrounding suite, which is made before them and disposed of after them. */
export function workplaceForAll(env: Record<string, string> = {}): Workplace {
  let place: Workplace
  beforeAll(async () => {
    place = await workplace(env)
  })
  afterAll(() => place?.dispose())
  return later(() => place)
}

/** A workplace of its own for each test of the surrounding suite. */
export function workplaceForEach(env: Record<string, string> = {}): Workplace {
  let place: Workplace
  beforeEach(async () => {
    place = await workplace(env)
  })
  afterEach(() => place?.dispose())
  return later(() => place)
}

/** A workplace for the rest of a test, which is over when the test is. */
export async function workplaceOfTest(env?: Record<string, string>): Promise<Workplace> {
  const place = await workplace(env)
  onTestFinished(() => place.dispose())
  return place
}

/** A workplace that a hook makes only when the tests have begun. */
const later = (made: () => Workplace): Workplace =>
  new Proxy({} as Workplace, { get: (_, name) => Reflect.get(made(), name) })

let isRunning = false

/** Events that commands listen to as long as their process lives. */
const LISTENED: ReadonlyArray<[NodeJS.EventEmitter, string]> = [
  [process, 'SIGTERM'],
  [process, 'SIGINT'],
  [process, 'SIGHUP'],
  [process.stderr, 'error'],
]

/** Everything that a process has of its own and a command uses is exchanged while it runs. */
async function runHere(args: string[], env: Record<string, string | undefined>): Promise<CommandResult> {
  if (isRunning) throw new TypeError('Commands that run at once need processes of their own: spawn().')
  isRunning = true
  const before = { env: { ...process.env }, exitCode: process.exitCode, umask: process.umask() }
  const heard = LISTENED.map(([emitter, event]) => emitter.listeners(event))
  const output = { stdout: '', stderr: '' }
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name]
    process[name].write = (chunk: string | Uint8Array) => {
      output[name] += chunk.toString()
      return true
    }
    return () => {
      process[name].write = write
    }
  })
  exchangeEnvironment(env)
  process.exitCode = undefined
  try {
    await withSharedEngine(() => runProgram(args))
    return new CommandResult(Number(process.exitCode ?? 0), output.stdout, output.stderr)
  } finally {
    for (const undo of restore) undo()
    LISTENED.forEach(([emitter, event], i) => {
      for (const listener of emitter.listeners(event) as Array<() => void>)
        if (!heard[i]!.includes(listener)) emitter.off(event, listener)
    })
    exchangeEnvironment(before.env)
    process.umask(before.umask)
    process.exitCode = before.exitCode
    process.umask(before.umask)
    isRunning = false
  }
}

/** Changes the variables themselves: native addons read them past `process.env`, once, when they load. */
function exchangeEnvironment(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
}

/**
 * Asks again until `isSo`; the test's own time limit ends it.
 * @param everyMs pause between two askings, longer where asking is work
 */
export async function poll<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, everyMs = 20): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isSo(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

/** Waits until it is so. */
export async function until(isSo: () => unknown): Promise<void> {
  await poll(async () => isSo(), Boolean)
}
