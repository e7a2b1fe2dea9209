/** A further service joins others on one database: its master key and its data folder. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openCore } from '../../src/app/core.js'
import { overPostgres } from '../support/postgres.js'
import { type Cluster, makeTenant, startCluster } from './nodes.js'

/** The master key is in its file. */
const BY_FILE = { COUNTERSIGN_MASTER_KEY: '' }

overPostgres(() => {
  let cluster: Cluster
  afterEach(() => cluster?.stop())

  it('a joining service is refused with another master key, and creates none where it has none', async () => {
    cluster = await startCluster(1)
    const another = { COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64') }
    await expect(cluster.start(another)).rejects.toThrow(/master key does not open this database/)
    const config = await cluster.configure(BY_FILE)
    await expect(openCore(config)).rejects.toThrow(
      `There is no master key at ${config.masterKeyFile}, but there are data in PostgreSQL database `,
    )
    expect(existsSync(config.masterKeyFile)).toBe(false)
    expect(await cluster.nodes[0]!.core.store.read.keyrings()).toHaveLength(1)
  })

  it('two services that share a data folder and start concurrently both serve', async () => {
    cluster = await startCluster(0)
    const { masterKeyFile } = await cluster.configure(BY_FILE)
    const shared = { ...BY_FILE, COUNTERSIGN_DATA_DIR: dirname(masterKeyFile) }
    await Promise.all([cluster.start(shared), cluster.start(shared)])
    const tenant = await makeTenant(cluster)
    for (const client of tenant.sandbox) expect((await client.health()).status).toBe(200)
    await cluster.nodes.shift()!.stop()
    expect((await tenant.sandbox[1]!.health()).status).toBe(200)
  })
})
