/** Tests of SIGTERM under load: calls under way are answered completely and signed, no new ones begin, and nothing acknowledged is lost. */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/command.js'
import { openSocket, type RawConnection, rawRequest } from '../support/raw-socket.js'
import { validSignatures } from '../support/trust.js'
import { Crowd } from './crowd.js'
import { Installation, type RunningServer } from './installation.js'

let installation: Installation

beforeEach(async () => {
  installation = await Installation.create()
})
afterEach(() => installation?.dispose())

const BODY = JSON.stringify({ force: true })

/** Sends the head of a rotation, and waits until the service has read it and waits for the body. */
async function beginRotation(server: RunningServer, key: string): Promise<RawConnection> {
  const head = [
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
  ]
  const connection = await openSocket(server.production)
  connection.send(rawRequest('GET /v1/health', head.slice(0, 1)))
  expect(await connection.response()).toMatchObject({ status: 200 })
  connection.send(rawRequest('POST /v1/keys/rotate-signing', head))
  // One thread serves all connections in the order of arrival, so this answer means that it has read the head there.
  await fetch(`${server.admin}/livez`)
  return connection
}

interface LoggedRequest {
  request_id: string
  endpoint: string
}

/** The requests of production that are in the log. */
async function requestsIn(file: string): Promise<LoggedRequest[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ msg, environment }) => msg === 'request' && environment === 'production')
}

const readiness = async (server: RunningServer) => (await fetch(`${server.admin}/readyz`)).status

describe('SIGTERM under load', () => {
  for (const further of [[], ['SIGTERM', 'SIGINT']] as NodeJS.Signals[][])
    it(`drains and exits 0${further.length > 0 ? ', even when more signals follow' : ''}`, async () => {
      const logFile = join(installation.dataDir, 'requests.log')
      const log = await open(logFile, 'w')
      const server = await installation.serve({ log: log.fd, env: { COUNTERSIGN_LOG_LEVEL: 'info' } })
      await log.close()
      const crowd = await Crowd.gather(installation, server, { seed: 5, excused: ['shutting_down'] })
      const [tenant] = crowd.tenants
      const working = crowd.work(server.production)
      await until(() => crowd.findings.acknowledged > 20)
      const held = await beginRotation(server, tenant!.key)
      expect(await readiness(server)).toBe(200)

      server.signalAll('SIGTERM')
      await until(async () => (await readiness(server)) === 503)
      await expect(openSocket(server.production)).rejects.toThrow('ECONNREFUSED')
      for (const signal of further) server.signalAll(signal)
      // The crowd ends when its connections are refused; then only the open call keeps the service running.
      await working
      expect(await readiness(server)).toBe(503)
      held.send(BODY)
      const response = (await held.response())!
      expect(response.status).toBe(200)
      const request = { method: 'POST', target: '/v1/keys/rotate-signing' }
      expect(
        validSignatures({ ...response, headers: new Headers(response.headers), request }, tenant!.secrets),
      ).not.toEqual([])
      expect(await server.exited).toBe(0)
      // The kernel may have accepted a connection that the service never saw, and reset it. The service has answered what it received.
      const ours = new Set([...crowd.findings.answered, response.headers['x-request-id']])
      const taken = (await requestsIn(logFile)).filter(({ endpoint }) => endpoint !== 'health')
      expect(taken.length).toBeGreaterThan(20)
      expect(taken.filter(({ request_id }) => !ours.has(request_id))).toEqual([])

      // The crowd does not know this rotation. It was acknowledged, so its secret must be in force.
      const { id, secret } = response.body.signing_secret
      tenant!.secrets[id] = secret
      crowd.findings.recovered.push({ tenantId: tenant!.id, event: 'rotate_signing' })
      const again = await installation.serve()
      await crowd.resolveUncertain(again.production)
      crowd.checkDatabase(installation.databaseFile)
      expect(crowd.problems).toEqual([])
      await installation.run('audit', 'verify')
    })

  it('serves new callers for the lame-duck time, while /readyz already sends them elsewhere', async () => {
    const server = await installation.serve({ env: { COUNTERSIGN_LAME_DUCK_MS: '8000' } })
    const crowd = await Crowd.gather(installation, server, { seed: 7 })
    server.signalAll('SIGTERM')
    await until(async () => (await readiness(server)) === 503)
    const headers = { Authorization: `Bearer ${crowd.tenants[0]!.key}` }
    expect((await fetch(`${server.production}/v1/health`, { headers })).status).toBe(200)
    expect(await server.exited).toBe(0)
  })

  it('ends at the deadline although a caller never completes its request', async () => {
    const server = await installation.serve({ env: { COUNTERSIGN_DEADLINE_MS: '1000' } })
    const crowd = await Crowd.gather(installation, server, { seed: 6 })
    const held = await beginRotation(server, crowd.tenants[0]!.key)
    server.signalAll('SIGTERM')
    expect(await held.response()).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } })
    expect(await server.exited).toBe(0)
  })
})
