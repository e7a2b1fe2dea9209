/** Several service processes of one machine at one address, as `countersign serve` runs them. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { poll, type ServerProcess, until, type Workplace, workplace } from '../support/command.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'

const PROCESSES = 2
const CONNECTIONS = 600

/** One call over a connection that `agent` keeps, or over one of its own. */
async function call(url: string, key: string, agent: Agent | false = false): Promise<number> {
  const sent = request(url, { agent, headers: { Authorization: `Bearer ${key}` } }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

overPostgres(() => {
  let database: TestDatabase
  let place: Workplace
  let server: ServerProcess
  let key: string
  let health: string
  const settings = () => place.path('countersign.env')

  beforeAll(async () => {
    database = await createDatabase()
    place = await workplace({
      COUNTERSIGN_DATABASE: database.url,
      COUNTERSIGN_PROCESSES: String(PROCESSES),
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '100000/s',
    })
    await writeFile(settings(), 'COUNTERSIGN_LOG_LEVEL=info\n', { mode: 0o600 })
    server = await place.serve(['--config', settings()], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    key = (await place.run(['tenant', 'create', 'acme', '--json'])).json.sandbox_key
    health = `${server.sandbox}/v1/health`
  })
  afterAll(async () => {
    await place?.dispose()
    await database?.drop()
  })

  const lines = () =>
    server
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const logged = (msg: string) => lines().filter((line) => line.msg === msg)
  /** Process ids of the service's processes, as the supervisor last logged them. */
  const pids = () =>
    logged('all processes are ready').concat(logged('rolling restart done')).at(-1)!.processes as number[]
  const metrics = async () => (await fetch(`${server.admin}/metrics`)).text()
  /** Number of connections, by process. */
  const healthCalls = async () => {
    const counts = new Map<string, number>()
    for (const [, labels, value] of (await metrics()).matchAll(
      /^countersign_requests_total\{(.*)\} (\d+)$/gm,
    ))
      if (labels!.includes('endpoint="health"'))
        counts.set(/process="(.*?)"/.exec(labels!)![1]!, Number(value))
    return counts
  }

  it('several processes announce themselves once, with one operator password', async () => {
    await server.logged('all processes are ready')
    expect(server.stderr().match(/is ready/g)).toHaveLength(1)
    expect(server.stderr()).toContain(`\n  Processes   ${PROCESSES}\n`)
    expect(server.stderr().match(/shown only now/g)).toHaveLength(1)
    expect(new Set(pids()).size).toBe(PROCESSES)
  })

  it('several processes share new connections evenly', async () => {
    for (let i = 0; i < CONNECTIONS; i++) expect(await call(health, key)).toBe(200)
    const counts = [...(await healthCalls()).values()]
    expect(counts).toHaveLength(PROCESSES)
    const expected = CONNECTIONS / PROCESSES
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // Chi-squared bound for one degree of freedom: an even distribution exceeds it once in a million times.
    expect(chiSquare).toBeLessThan(23.9)
  })

  it('every process serves the metrics of all processes, labeled by process', async () => {
    const text = await metrics()
    const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    expect(new Set(types).size).toBe(types.length)
    const processes = [...text.matchAll(/^process_start_time_seconds\{process="(.*)"\}/gm)].map(
      ([, name]) => name,
    )
    expect(processes.sort()).toEqual(['process-1', 'process-2'])
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(samples.filter((line) => !/process="process-\d"/.test(line))).toEqual([])
  })

  it('all processes reload the configuration on SIGHUP', async () => {
    await writeFile(settings(), 'COUNTERSIGN_LOG_LEVEL=debug\n')
    server.signal('SIGHUP')
    await until(() => logged('configuration reloaded').length === PROCESSES)
    expect(new Set(logged('configuration reloaded').map((line) => line.process)).size).toBe(PROCESSES)
  })

  it('a process that is killed is restarted while the others serve', async () => {
    const [killed] = pids()
    process.kill(killed!, 'SIGKILL')
    await server.logged('a process ended and is started again')
    for (let i = 0; i < 20; i++) expect(await call(health, key)).toBe(200)
    await server.logged('the process is ready again')
    const told = logged('a process ended and is started again')
    expect(told).toMatchObject([{ process: 'supervisor', slot: 'process-1', pid: killed, signal: 'SIGKILL' }])
    expect([...(await healthCalls()).keys()].length).toBeGreaterThan(0)
  })

  it('a process that hangs is killed and restarted', async () => {
    const stopped = pids().at(-1)!
    process.kill(stopped, 'SIGSTOP')
    await server.logged('a process gives no sign of life and is killed')
    expect(logged('a process gives no sign of life and is killed')).toMatchObject([{ pid: stopped }])
    await until(() => logged('the process is ready again').length === 2)
  })

  it('a rolling restart on SIGUSR2 fails no call, on kept and new connections', async () => {
    const before = new Set(pids())
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    let isOver = false
    let calls = 0
    const failures: Record<'kept' | 'new', unknown[]> = { kept: [], new: [] }
    const keepCalling = async (kept: Agent | false) => {
      while (!isOver) {
        const status = await call(health, key, kept).catch((error: Error) => error.message)
        calls++
        if (status !== 200) failures[kept ? 'kept' : 'new'].push(status)
      }
    }
    const callers = [agent, agent, agent, agent, false, false].map((kept) =>
      keepCalling(kept as Agent | false),
    )
    server.signal('SIGUSR2')
    await server.logged('rolling restart done')
    isOver = true
    await Promise.all(callers)
    agent.destroy()
    expect(pids().filter((pid) => before.has(pid))).toEqual([])
    expect(calls).toBeGreaterThan(100)
    expect(failures.kept).toEqual([])
    // The kernel resets connections that it accepted in the moment in which a listener closes, unless net.ipv4.tcp_migrate_req is set.
    expect(failures.new.length).toBeLessThanOrEqual(1)
  })

  it('a rolling restart with an invalid configuration keeps the running processes', async () => {
    await writeFile(settings(), 'COUNTERSIGN_LOG_LEVEL=nonsense\n')
    server.signal('SIGUSR2')
    await server.logged('rolling restart aborted: the remaining processes go on serving')
    expect(await call(health, key)).toBe(200)
  })

  it('all processes end with 0 on SIGTERM and leave nothing behind', async () => {
    const all = pids()
    server.signal('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(
      all.filter((pid) =>
        execFileSync('ps', ['-o', 'pid=', '-p', `${pid},${process.pid}`]).includes(`${pid}\n`),
      ),
    ).toEqual([])
    expect(logged('stopped').length).toBeGreaterThanOrEqual(PROCESSES)
  })

  it('the processes end when their supervisor is killed', async () => {
    await writeFile(settings(), 'COUNTERSIGN_LOG_LEVEL=info\n')
    const orphaned = await place.serve(['--config', settings()])
    await orphaned.logged('all processes are ready')
    orphaned.signal('SIGKILL')
    await poll(
      () =>
        fetch(`${orphaned.admin}/readyz`).then(
          () => 'served',
          ({ cause }) => cause.code,
        ),
      (outcome) => outcome === 'ECONNREFUSED',
    )
  })
})
