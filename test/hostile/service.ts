/** The service under attack: a process of its own, with a tenant that holds a production key. */
import type { TransportName } from '../../src/http/listeners/transport.js'
import { SECOND_MS } from '../../src/lib/clock.js'
import { createTenant } from '../faults/crowd.js'
import { Installation } from '../faults/installation.js'
import { plain } from '../support/images.js'
import { residentMib } from '../support/process-tree.js'

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
  const installation = await Installation.create({
    env: {
      COUNTERSIGN_MODELS_DIR: modelsDir,
      COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '100000/s',
      COUNTERSIGN_LOG_LEVEL: 'warn',
      COUNTERSIGN_WORKERS: undefined,
      ...(transport ? { COUNTERSIGN_HTTP: transport } : {}),
      ...settings,
    },
  })
  let crashes = 0
  let stopping = false
  const server = await installation.serve({
    log(text) {
      crashes += text.split('"msg":"engine incident"').length - 1
    },
  })
  void server.exited.then((code) => {
    if (!stopping || code !== 0) crashes++
  })
  const tenant = await createTenant(
    installation,
    server.sandbox,
    'hostile',
    (await plain()).toString('base64'),
  )

  const metrics = async () => {
    const page = await (await fetch(`${server.admin}/metrics`)).text()
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
    peakMib = Math.max(peakMib, residentMib(server.pid))
    const value = await metrics()
    stallMs = Math.max(stallMs, value('nodejs_eventloop_lag_max_seconds') * SECOND_MS - LAG_TIMER_MS)
    return value
  }
  const watch = setInterval(() => void look().catch(() => {}), 500)
  return {
    pid: server.pid,
    url: `${server.production}/v1`,
    key: tenant.key,
    sandboxUrl: `${server.sandbox}/v1`,
    sandboxKey: tenant.sandboxKey,
    dashboardUrl: server.admin,
    openidUrl: server.address('OpenID'),
    cli: async (...args) => JSON.parse(await installation.run(...args, '--json')),
    secrets: new Map(Object.entries(tenant.secrets)),
    peakMib: () => peakMib,
    longestStallMs: () => Math.round(stallMs),
    peakUnansweredBodyBytes: async () => (await look())('countersign_request_body_memory_peak_bytes'),
    crashes: () => crashes,
    async stop() {
      clearInterval(watch)
      stopping = true
      await server.stop()
      await installation.dispose()
    },
  }
}
