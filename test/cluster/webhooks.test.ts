/** Webhooks of several services over one database: each event is sent by one of them, in order, and a dead one is followed. */

import { type ChildProcess, spawn } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { poll, until } from '../support/command.js'
import { overPostgres } from '../support/postgres.js'
import { receiverOfFile, webhooksOf } from '../support/webhooks.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const SENDER = fileURLToPath(new URL('sender.mjs', import.meta.url))

/** Ids of events as they came, and how many were under way at once. */
let received: string[]
let underWay = 0
let maxInFlight = 0
let answer: (response: ServerResponse) => void
const receiver = await receiverOfFile(({ headers }, response) => {
  received.push(headers['x-svc-webhook-id'] as string)
  maxInFlight = Math.max(maxInFlight, ++underWay)
  response.on('close', () => underWay--)
  answer(response)
})

overPostgres(() => {
  let cluster: Cluster
  let tenant: ClusterTenant
  const children: ChildProcess[] = []

  beforeEach(async () => {
    received = []
    maxInFlight = 0
    answer = (response) => void setTimeout(() => response.writeHead(204).end(), 20)
    cluster = await startCluster(0)
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    receiver.cut()
    await cluster?.stop()
  })

  const webhooks = (node: number) => webhooksOf(cluster.nodes[node]!)
  const record = () => cluster.nodes[0]!.core.tenancy.find(tenant.id)
  async function prepare(): Promise<string> {
    tenant = await makeTenant(cluster)
    const webhook = { url: `${receiver.url}/`, environment: 'production', events: [] } as const
    return (await webhooks(0).add(await record(), COMMAND_LINE, webhook)).id
  }
  /** In the order in which they were stored. */
  const deliveries = async () =>
    (
      await cluster.nodes[0]!.core.store.read.statements(webhookReader).deliveriesOf(tenant.id, 1000)
    ).reverse()
  const settled = () => poll(deliveries, (all) => all.every(({ status }) => status !== 'pending'))

  /** Starts another service's sender, which has the leader lease. */
  async function startSender(): Promise<ChildProcess> {
    const config = await cluster.configure()
    const child = spawn(process.execPath, [SENDER], {
      env: {
        PATH: process.env.PATH,
        COUNTERSIGN_DATA_DIR: config.dataDir,
        COUNTERSIGN_DATABASE: config.database,
        COUNTERSIGN_MASTER_KEY: config.masterKey,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    children.push(child)
    await poll(
      () =>
        cluster.database.query('SELECT holder FROM duty WHERE ends_at > clock_timestamp()').catch(() => []),
      (rows) => rows.length === 1,
    )
    return child
  }

  it('webhooks of several services are each sent once, in order, one at a time to an endpoint', async () => {
    await cluster.start()
    await cluster.start()
    const endpoint = await prepare()
    for (let i = 0; i < 30; i++) await webhooks(i % 2).test(await record(), endpoint)
    const all = await settled()
    expect(all.map(({ status, attempts }) => [status, attempts])).toEqual(all.map(() => ['delivered', 1]))
    expect(received).toEqual(all.map(({ eventId }) => eventId))
    expect(maxInFlight).toBe(1)
  })

  it('the next service goes on sending webhooks when the leader stops, and leaves none out', async () => {
    await cluster.start()
    await cluster.start()
    const endpoint = await prepare()
    for (let i = 0; i < 10; i++) await webhooks(0).test(await record(), endpoint)
    await until(() => received.length >= 3)
    await cluster.nodes[0]!.stop()
    cluster.nodes.shift()
    const all = await settled()
    expect(all.every(({ status }) => status === 'delivered')).toBe(true)
    // The delivery in flight is sent again, after others if it has to wait.
    expect([...new Set(received)].sort()).toEqual(all.map(({ eventId }) => eventId).sort())
    expect(received.length - all.length).toBeLessThanOrEqual(1)
  })

  for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
    it(`webhooks of a service that got ${signal} are taken over in order`, async () => {
      const child = await startSender()
      await cluster.start()
      const endpoint = await prepare()
      // The leader is in the middle of the first delivery.
      const hanging: ServerResponse[] = []
      answer = (response) => void hanging.push(response)
      for (let i = 0; i < 5; i++) await webhooks(0).test(await record(), endpoint)
      await until(() => hanging.length === 1)
      child.kill(signal)
      answer = (response) => void response.writeHead(204).end()
      const all = await settled()
      const ids = all.map(({ eventId }) => eventId)
      expect(received).toEqual([ids[0], ...ids])
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 'delivered'))
      if (signal === 'SIGKILL') return
      // The stopped process goes on, and finds that its term is over.
      child.kill('SIGCONT')
      await webhooks(0).test(await record(), endpoint)
      await settled()
      expect(received).toHaveLength(all.length + 2)
      expect(maxInFlight).toBeLessThanOrEqual(2)
    })
})
