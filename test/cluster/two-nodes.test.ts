/** The way of docs/guides/two-nodes.md: two services over one database, haproxy, callers of the example, and one service killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCore } from '../../src/app/core.js'
import { packageFile } from '../../src/lib/package-root.js'
import { type ServerProcess, type Workplace, workplace } from '../support/command.js'
import { face } from '../support/faces.js'
import { Haproxy, isHaproxyHere, loopbackPlaces } from '../support/haproxy.js'
import { revealProductionKey } from '../support/operations.js'
import { overPostgres } from '../support/postgres.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type Cluster, startCluster } from './nodes.js'

const CALLERS = packageFile('docs', 'examples', 'load', 'callers.mjs')
const SECONDS = 12

overPostgres(() => {
  const places = loopbackPlaces()
  const workplaces: Workplace[] = []
  const nodes: ServerProcess[] = []
  const folder = temporaryFolder()
  let cluster: Cluster
  let haproxy: Haproxy
  let callers: ChildProcess | undefined

  beforeAll(async () => {
    if (!isHaproxyHere) return
    for (const [name, photo] of [
      ['ada', 'ada'],
      ['ada-2', 'ada'],
      ['ada-3', 'ada'],
      ['ada-today', 'adaToday'],
    ] as const)
      await writeFile(join(folder, `${name}.jpg`), await face(photo))
    cluster = await startCluster(0)
    for (const address of [places.nodeA, places.nodeB]) {
      const place = await workplace({
        COUNTERSIGN_DATABASE: cluster.database.url,
        COUNTERSIGN_MASTER_KEY: cluster.masterKey.toString('base64'),
        COUNTERSIGN_PRODUCTION_LISTEN: `${address}:8080`,
        COUNTERSIGN_SANDBOX_LISTEN: `${address}:8081`,
        COUNTERSIGN_ADMIN_LISTEN: `${address}:8082`,
        COUNTERSIGN_PRODUCTION_URL: `http://${places.listen}:8080/v1`,
        COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
        COUNTERSIGN_REPLAY_POLICY: 'report',
      })
      workplaces.push(place)
      nodes.push(await place.serve())
    }
    haproxy = await Haproxy.start(places, folder)
  })
  afterAll(async () => {
    if (callers && callers.exitCode === null) {
      callers.kill('SIGKILL')
      await once(callers, 'exit')
    }
    await haproxy?.stop()
    for (const place of workplaces) await place.dispose()
    await cluster?.stop()
  })

  it.skipIf(!isHaproxyHere)(
    'a node that is killed under load costs callers that retry no call, and nothing is executed twice',
    async () => {
      const core = await openCore(await cluster.configure())
      const { store, tenancy, audit } = core
      try {
        const { tenant, signingSecret } = await tenancy.create('bank', { ratePerSecond: 1000 })
        const key = await revealProductionKey(core, tenant)
        callers = spawn(process.execPath, [CALLERS, folder, '6', String(SECONDS)], {
          env: {
            CS_BASE_URL: `http://${places.listen}:8080/v1`,
            CS_API_KEY: key,
            CS_SIGNING_SECRETS: `${signingSecret.id}:${signingSecret.secret}`,
          },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const ended = once(callers, 'close')
        let said = ''
        callers.stdout!.setEncoding('utf8').on('data', (text: string) => {
          said += text
          // Once: a process that has ended takes no signal.
          if (/"approved":[1-9]/.test(said)) nodes[0]!.signal('SIGKILL')
        })
        await ended
        expect(await nodes[0]!.exited).toMatchObject({ signal: 'SIGKILL' })
        const total = JSON.parse(/^all (.*)$/m.exec(said)![1]!)
        expect({ ...total, said }).toMatchObject({ failed: 0 })
        const entries = await store.read.auditEntries(tenant.id, 0, 100_000)
        expect(entries.filter(({ entry }) => JSON.parse(entry).event === 'verify')).toHaveLength(
          total.approved,
        )
        expect((await audit.verify(store.read, tenant.id)).brokenAt).toBeNull()
      } finally {
        await store.close()
      }
    },
  )
})
