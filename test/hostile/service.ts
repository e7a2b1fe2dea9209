/** The service under attack: a process of its own, with a tenant that holds a production key. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TransportName } from '../../src/http/listeners/transport.js'
import { SECOND_MS } from '../../src/lib/clock.js'
import { packageFile } from '../../src/lib/package-root.js'
import { plain } from '../support/images.js'
import { leash } from '../support/leash.js'
import { residentMib } from '../support/process-tree.js'

const MAIN = packageFile('dist', 'src', 'cli', 'main.js')

/** The metric is the time between two ticks of a timer, which are this far apart where nothing holds it up. */
const LAG_TIMER_MS = 10

export interface Victim {
  /** Id of the process, which is that of its main thread. */
  pid: number
  /** Base URL of the production API. */
  url: string
  key: string
  /** Base URL of the sandbox API. */
  sandboxUrl: string
  /** A key of the other environment, which authenticates nothing here. */
  sandboxKey: string
  /** Base URLs of the dashboard and, where a listener was asked for, of the OpenID provider. */
  dashboardUrl: string
  openidUrl: string | undefined
  /** Runs a command of the service's command line for its data. @returns what it prints as JSON */
  // biome-ignore lint/suspicious/noExplicitAny: each command prints its own
  cli(...args: string[]): Promise<any>
  /** The secrets that may sign, by `kid`. */
  secrets: Map<string, string>
  /** Resident memory of the process and its children, in MiB: the highest since the start. */
  peakMib(): number
  /** The longest that the service's event loop stood still, in milliseconds. */
  longestStallMs(): number
  /** The most that bodies of requests without an answer have held of memory. */
  peakUnansweredBodyBytes(): Promise<number>
  /** Crashes so far: of the process, or of the engine inside it. */
  crashes(): number
  /** Drains and ends it; a bad exit is one more crash. */
  stop(): Promise<void>
}

/**
 * @param transport the HTTP server; by default what the service chooses itself
 * @param settings more of the environment
 */
export async function startVictim(
  modelsDir: string,
  transport?: TransportName,
  settings: Record<string, string> = {},
): Promise<Victim> {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-hostile-'))
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'))),
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_MODELS_DIR: modelsDir,
    COUNTERSIGN_MODEL_PACK: 'baseline',
    COUNTERSIGN_ACCEPT_PACK: 'baseline',
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
    COUNTERSIGN_REPLAY_POLICY: 'report',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '100000/s',
    COUNTERSIGN_LOG_LEVEL: 'warn',
    ...(transport ? { COUNTERSIGN_HTTP: transport } : {}),
    ...settings,
  }
  // A service that outlives its campaign would go on listening: it ends with us.
  const child = spawn(process.execPath, [...leash(), MAIN, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  process.once('exit', () => child.kill('SIGTERM'))
  let told = ''
  let crashes = 0
  let stopping = false
  void exited.then(([code]) => {
    if (!stopping || code !== 0) crashes++
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    crashes += text.split('"msg":"engine incident"').length - 1
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const address = (name: string) => new RegExp(`${name} +(http\\S+)/v1\\n`).exec(told)?.[1]
  while (!/Dashboard +http\S+\n/.test(told)) {
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${told}`)
    await Promise.race([once(child.stderr, 'data'), exited])
  }

  const cli = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args, '--json'], { env })
    return JSON.parse(stdout)
  }
  const created = await cli('tenant', 'create', 'hostile', '--rate-limit', '100000/s')
  const cleared = await fetch(`${address('Sandbox')}/v1/verify`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${created.sandbox_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_id: 'a+match', action: 'issue', image: (await plain()).toString('base64') }),
  })
  if (!cleared.ok) throw new Error(`the sandbox verify answered ${cleared.status}: ${await cleared.text()}`)
  const { production_key: key } = await cli('tenant', 'production-key', 'hostile')
  const instance = await cli('keys', 'instance-secret')

  const metrics = async () => {
    const page = await (await fetch(new URL('/metrics', /Dashboard +(http\S+)\n/.exec(told)![1]))).text()
    return (name: string) => {
      const value = Number(new RegExp(`^${name} (.+)$`, 'm').exec(page)?.[1])
      if (!Number.isFinite(value)) throw new Error(`the service's metrics lack ${name}`)
      return value
    }
  }
  // Reading resets the figure, so that it covers only the time of the campaign.
  await metrics()
  let peakMib = 0
  let stallMs = 0
  const look = async () => {
    peakMib = Math.max(peakMib, residentMib(child.pid!))
    const value = await metrics()
    stallMs = Math.max(stallMs, value('nodejs_eventloop_lag_max_seconds') * SECOND_MS - LAG_TIMER_MS)
    return value
  }
  const watch = setInterval(() => void look().catch(() => {}), 500)
  return {
    pid: child.pid!,
    url: `${address('Production')}/v1`,
    key,
    sandboxUrl: `${address('Sandbox')}/v1`,
    sandboxKey: created.sandbox_key,
    dashboardUrl: /Dashboard +(http\S+?)\/?\n/.exec(told)![1]!,
    openidUrl: /OpenID +(http\S+)/.exec(told)?.[1],
    cli,
    secrets: new Map<string, string>([
      [created.signing_secret.id, created.signing_secret.secret],
      ['instance', instance.secret],
    ]),
    peakMib: () => peakMib,
    longestStallMs: () => Math.round(stallMs),
    peakUnansweredBodyBytes: async () => (await look())('countersign_request_body_memory_peak_bytes'),
    crashes: () => crashes,
    async stop() {
      clearInterval(watch)
      stopping = true
      child.kill('SIGTERM')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
