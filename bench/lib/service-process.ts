/**
 * Runs the real service as its own process: started by its own command line, on free ports, with a temporary data
 * folder.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { TransportName } from '../../src/http/listeners/transport.js'
import { packageFile } from '../../src/lib/package-root.js'
import { onCleanUp } from './clean-up.js'
import { type CpuTimes, readCpuTimes } from './cpu-times.js'
import { temporaryDir } from './temporary-dir.js'

const MAIN = packageFile('dist', 'src', 'cli', 'main.js')
export const BENCH_TENANT = 'bench'
/** Rate limit far beyond what a machine can do: the rate limiter runs and never refuses. */
const RATE_LIMIT = '100000/s'

export interface ServiceOptions {
  pack: ModelPack
  /** Writes a V8 CPU profile of every thread into this folder when the service ends. */
  cpuProfileDir?: string | undefined
  /** Further arguments of Node. Default: none. */
  nodeArguments?: string[]
  /** A module that is preloaded into each of the service's processes and threads, and its environment. */
  probe?: { module: URL; env: Record<string, string> }
  /** Further settings, by the name of their variable. Default: none. */
  settings?: Record<string, string>
  /** The HTTP server; by default the service's own choice. */
  transport?: TransportName
  /** An earlier, stopped service: its data folder and its key are used again. */
  successorOf?: Pick<RunningService, 'dataDir' | 'key' | 'sandboxKey' | 'signingSecret'>
}

export interface TenantCredentials {
  /** A production key, issued as every customer's is. */
  key: string
  sandboxKey: string
  signingSecret: { id: string; secret: string }
}

/** Figures that the service reports at /metrics. */
export interface Vitals {
  /** Resident memory of the service and its engine process, in MiB. */
  residentMib: number
  /** 99th percentile, since the last request, of the delay with which the event loop ran a timer. */
  eventLoopDelayP99Ms: number
}

export interface RunningService extends TenantCredentials {
  pid: number
  /** Milliseconds from the start of the process until it served. */
  startUpMs: number
  /** Origin of the production API, without /v1. */
  production: string
  sandbox: string
  admin: string
  /** Worker threads, as /v1/health reports them. */
  workers: number
  /** Number of verifies that may wait for a worker. */
  queueLimit: number
  dataDir: string
  vitals(): Promise<Vitals>
  /** Null where the system does not report it (anything but Linux). */
  cpuTimes(): CpuTimes | null
  /** Runs a command of the service on its data. @returns what it printed on stdout */
  command(...args: string[]): Promise<string>
  /** Sends SIGTERM and waits for the drain; rejects when the service ends otherwise than with exit code 0. */
  stop(): Promise<void>
}

/** @param image any usable JPEG: the sandbox verify that issues the production key needs one */
export async function startService(
  { pack, cpuProfileDir, nodeArguments = [], probe, settings, transport, successorOf }: ServiceOptions,
  image: Buffer,
): Promise<RunningService> {
  const dataDir = successorOf?.dataDir ?? (await temporaryDir())
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'))),
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_MODEL_PACK: pack.dir,
    COUNTERSIGN_ACCEPT_PACK: pack.manifest.id,
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    ...(transport ? { COUNTERSIGN_HTTP: transport } : {}),
    // The load sends one photo many times.
    COUNTERSIGN_REPLAY_POLICY: 'report',
    ...settings,
    ...probe?.env,
  }
  if (cpuProfileDir) mkdirSync(cpuProfileDir, { recursive: true })
  const nodeOptions = [
    ...nodeArguments,
    ...(cpuProfileDir ? ['--cpu-prof', `--cpu-prof-dir=${cpuProfileDir}`] : []),
    ...(probe ? ['--import', probe.module.href] : []),
  ]
  // The log goes to a file instead of a pipe: it costs what it costs in operation, and nobody has to read it.
  const log = openSync(join(dataDir, 'service.log'), 'a')
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...nodeOptions, MAIN, 'serve'], {
    env,
    stdio: ['ignore', log, 'pipe'],
  })
  closeSync(log)
  let ready = false
  const stop = async () => {
    const { code, signal } = await terminate(child)
    // Before it is ready the service has nothing to drain, and ends as any process does.
    if (ready && code !== 0) throw new Error(`the service did not stop cleanly (${signal ?? code})`)
  }
  onCleanUp(stop)
  const { production, sandbox, admin } = await untilReady(child)
  const startUpMs = performance.now() - startedMs
  ready = true

  const command = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [MAIN, ...args], { env })).stdout
  const { key, sandboxKey, signingSecret } = successorOf ?? (await becomeTenant(command, sandbox, image))
  const health = (await getJson(`${production}/v1/health`, key)) as {
    checks: { engine: { workers: { configured: number }; queue: { limit: number } } }
  }
  const { workers, queue } = health.checks.engine
  return {
    pid: child.pid!,
    startUpMs,
    production,
    sandbox,
    admin,
    key,
    sandboxKey,
    signingSecret,
    workers: workers.configured,
    queueLimit: queue.limit,
    dataDir,
    vitals: () => readVitals(`${admin}/metrics`),
    cpuTimes: () => readCpuTimes(child.pid!),
    command,
    stop,
  }
}

/** Creates a tenant, whose production key is obtained as a customer does. */
async function becomeTenant(
  command: RunningService['command'],
  sandbox: string,
  image: Buffer,
): Promise<TenantCredentials> {
  const cli = async <Answer>(...args: string[]) =>
    JSON.parse(await command('tenant', ...args, '--json')) as Answer
  const created = await cli<{ sandbox_key: string; signing_secret: { id: string; secret: string } }>(
    'create',
    BENCH_TENANT,
    '--rate-limit',
    RATE_LIMIT,
  )
  const { sandbox_key: sandboxKey, signing_secret: signingSecret } = created
  await getJson(`${sandbox}/v1/verify`, sandboxKey, {
    user_id: 'bench+match',
    action: 'benchmark',
    image: image.toString('base64'),
  })
  const { production_key: key } = await cli<{ production_key: string }>('production-key', BENCH_TENANT)
  return { key, sandboxKey, signingSecret }
}

interface Addresses {
  production: string
  sandbox: string
  admin: string
}

async function untilReady(child: ChildProcess): Promise<Addresses> {
  let told = ''
  child.stderr!.setEncoding('utf8')
  for await (const text of child.stderr!.iterator({ destroyOnReturn: false })) {
    told += text
    const [, production] = /Production +(http\S+)\/v1\n/.exec(told) ?? []
    const [, sandbox] = /Sandbox +(http\S+)\/v1\n/.exec(told) ?? []
    const [, admin] = /Dashboard +(http\S+)\/\n/.exec(told) ?? []
    if (production && sandbox && admin) {
      // The rest is discarded: a full pipe would stall the service.
      child.stderr!.resume()
      return { production, sandbox, admin }
    }
  }
  throw new Error(`the service did not start:\n${told}`)
}

async function terminate(
  child: ChildProcess,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return { code: child.exitCode, signal: child.signalCode }
}

async function getJson(url: string, key: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${key}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

/**
 * prom-client watches the event loop with a timer of this period in milliseconds, and reports the period with the
 * delay.
 */
const EVENT_LOOP_BEAT_MS = 10

async function readVitals(url: string): Promise<Vitals> {
  const text = await (await fetch(url)).text()
  const read = (name: string) => {
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${url} does not tell ${name}`)
    return Number(value)
  }
  return {
    residentMib:
      (read('process_resident_memory_bytes') + read('countersign_engine_resident_memory_bytes')) / 2 ** 20,
    eventLoopDelayP99Ms: Math.max(0, read('nodejs_eventloop_lag_p99_seconds') * 1000 - EVENT_LOOP_BEAT_MS),
  }
}
