/** The services of one database know each other, and report it to the operator. */
import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { masterKeyId } from '../../src/crypto/master-key.js'
import { SCHEMA } from '../../src/features/postgres/store/postgres-migrations.js'
import { COMMIT, VERSION } from '../../src/lib/version.js'
import { poll, until, type Workplace, workplace } from '../support/command.js'
import { OPERATOR_HASH, OPERATOR_PASSWORD } from '../support/operator.js'
import { overPostgres } from '../support/postgres.js'
import { type Cluster, startCluster } from './nodes.js'

/** Services behind a load balancer. */
const ALIKE = {
  COUNTERSIGN_PRODUCTION_URL: 'https://verify.example/v1',
  COUNTERSIGN_SANDBOX_URL: 'https://sandbox.example/v1',
  COUNTERSIGN_ADMIN_URL: 'http://localhost',
  COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH,
}

overPostgres(() => {
  let cluster: Cluster
  let place: Workplace
  beforeEach(async () => {
    cluster = await startCluster(2, ALIKE)
    place = await workplace({
      COUNTERSIGN_DATABASE: cluster.database.url,
      COUNTERSIGN_MASTER_KEY: cluster.masterKey.toString('base64'),
    })
  })
  afterEach(async () => {
    await place?.dispose()
    await cluster?.stop()
  })

  const origin = (node: number) => `http://127.0.0.1:${cluster.nodes[node]!.addresses.admin.port}`
  const ready = async (node: number) =>
    (await (await fetch(`${origin(node)}/readyz`)).json()) as {
      status: string
      nodes: Array<{ is_serving: boolean }>
    }
  async function system(node: number) {
    const headers = { 'Content-Type': 'application/json', Origin: origin(node) }
    const body = JSON.stringify({ password: OPERATOR_PASSWORD })
    const signedIn = await fetch(`${origin(node)}/api/session`, { method: 'POST', headers, body })
    const Cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    return (await fetch(`${origin(node)}/api/system`, { headers: { Cookie } })).json()
  }
  const nodesFinding = async () => {
    const { findings } = (await place.run(['doctor', '--json'])).json
    return findings.find(({ check }: { check: string }) => check === 'nodes')
  }
  const node = {
    name: expect.stringMatching(/\/\d+$/),
    version: VERSION,
    commit: COMMIT,
    schema: SCHEMA,
    since: expect.stringMatching(/^2\d{3}-/),
    is_serving: true,
    lease_ms: expect.any(Number),
    not_ready: [],
  }

  it('readiness, dashboard, `nodes` and doctor list the services that run, and none that ended', async () => {
    for (const at of [0, 1]) {
      const view = await poll(
        () => ready(at),
        // One that has only just started is there before it serves.
        ({ nodes }) => nodes.length === 2 && nodes.every(({ is_serving }) => is_serving),
      )
      expect(view).toEqual({ status: 'ready', nodes: [node, node] })
      expect(await system(at)).toMatchObject({ nodes: [node, node], differing_settings: [] })
    }
    const listed = { ...node, master_keys: [masterKeyId(cluster.masterKey)] }
    expect((await place.run(['nodes', '--json'])).json).toEqual({
      nodes: [listed, listed],
      differing_settings: [],
    })
    expect(await nodesFinding()).toMatchObject({ status: 'ok' })
    await cluster.nodes.pop()!.stop()
    expect((await place.run(['nodes'])).stdout.trimEnd().split('\n')).toHaveLength(2)
    await until(async () => (await ready(0)).nodes.length === 1)
    expect(cluster.logText()).toContain('"msg":"another service works on this database"')
    expect(cluster.logText()).toContain('"msg":"a service on this database has ended"')
    expect(cluster.logText()).not.toContain('has other settings')
  })

  it('rotate-master is refused while a service cannot read the new key, and its advice on backups is that for PostgreSQL', async () => {
    await writeFile(place.path('master.key'), cluster.masterKey.toString('base64'), { mode: 0o600 })
    const byFile = { COUNTERSIGN_MASTER_KEY: '' }
    const names = (await place.run(['nodes', '--json'])).json.nodes.map(({ name }: { name: string }) => name)
    const refused = await place.run(['keys', 'rotate-master', '--json'], byFile)
    expect(refused.error.code).toBe('services_cannot_follow')
    for (const name of names) expect(refused.error.message).toContain(name)
    for (const at of [0, 1]) expect((await ready(at)).status).toBe('ready')

    for (const service of cluster.nodes.splice(0)) await service.stop()
    const rotated = await place.run(['keys', 'rotate-master'], byFile)
    expect(rotated.code).toBe(0)
    expect(rotated.stdout).toContain('Make a base backup or a dump now.')
    expect(rotated.stdout).not.toContain('countersign.keys')
  })

  it('a service with other settings serves, and every service logs the difference', async () => {
    const otherwise = {
      COUNTERSIGN_EPOCH_RETENTION_HOURS: '2',
      COUNTERSIGN_FMR: '1e-3',
      COUNTERSIGN_REPLAY_POLICY: 'reject',
    }
    await cluster.start(otherwise)
    const differing = Object.keys(otherwise)
    const told = () =>
      cluster
        .logText()
        .split('\n')
        .filter((line) => line.includes('another service on this database has other settings'))
    // Each of the two of the third, and the third of both.
    await until(() => told().length === 4)
    for (const line of told()) expect(JSON.parse(line)).toMatchObject({ differing, version: VERSION })
    expect((await place.run(['nodes', '--json'])).json.differing_settings).toEqual(differing)
    const { status, detail } = await nodesFinding()
    expect([status, detail]).toEqual(['warning', expect.stringContaining(differing.join(', '))])
  })
})
