/** One of two nodes loses its connection to the database. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TcpProxy } from '../chaos/tcp-proxy.js'
import { poll } from '../support/command.js'
import { overPostgres } from '../support/postgres.js'
import { type Cluster, startCluster } from './nodes.js'

overPostgres(() => {
  let cluster: Cluster
  let proxy: TcpProxy
  beforeEach(async () => {
    cluster = await startCluster(1)
    const through = await TcpProxy.before(cluster.database.url)
    proxy = through.proxy
    await cluster.start({ COUNTERSIGN_DATABASE: through.url })
  })
  afterEach(async () => {
    await proxy?.heal()
    await cluster?.stop()
    await proxy?.close()
  })

  const probe = async (node: number) => {
    const response = await fetch(`http://127.0.0.1:${cluster.nodes[node]!.addresses.admin.port}/readyz`)
    return { status: response.status, body: (await response.json()) as { reasons?: string[] } }
  }
  const answers = (node: number, wanted: number) =>
    poll(
      () => probe(node),
      ({ status }) => status === wanted,
    )

  it('a node that loses the database is not ready until it reconnects, and the other stays ready', async () => {
    await answers(1, 200)
    proxy.refuse()
    expect((await answers(1, 503)).body.reasons).toEqual(['database_lost'])
    expect((await probe(0)).status).toBe(200)
    // The keys are sound: only the database does not answer.
    const said = cluster.logText()
    expect(said).not.toContain('the keys cannot be read')
    expect(said.match(/"the database does not answer/g)).toHaveLength(1)
    proxy.heal()
    await answers(1, 200)
  })

  it('a node whose database says nothing stops within fifteen seconds', async () => {
    await answers(1, 200)
    proxy.hang()
    const startedMs = performance.now()
    await cluster.nodes[1]!.stop()
    expect(performance.now() - startedMs).toBeLessThan(15_000)
  })
})
