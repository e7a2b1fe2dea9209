import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { ConfigError } from '../../../src/config/config.js'
import { EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import { FEATURES } from '../../../src/features/index.js'
import { createDatabase, overPostgres, type TestDatabase } from '../../support/postgres.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { enrol, opens, rotate } from './epoch-parts.js'

const OTHERS = FEATURES.filter(({ name }) => name !== 'epoch-keys')

overPostgres(() => {
  let path: string
  let database: TestDatabase
  const opened: Core[] = []
  beforeEach(async () => {
    path = temporaryFolder()
    database = await createDatabase()
  })
  afterEach(async () => {
    for (const core of opened.splice(0)) await core.store.close()
    await database.drop()
  })

  const open = async (features = FEATURES) => {
    const variables = {
      COUNTERSIGN_DATA_DIR: path,
      COUNTERSIGN_DATABASE: database.url,
      COUNTERSIGN_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    }
    const own = features === FEATURES ? { COUNTERSIGN_EPOCH_KEYS: path } : {}
    const core = await openCore(loadConfig({ ...variables, ...own }, features), undefined, { features })
    opened.push(core)
    return core
  }

  it('a database with epochs does not open without the feature, and opens with it as before', async () => {
    const core = await open()
    const { tenant } = await core.tenancy.create('acme')
    await enrol(core, core, tenant.id, 'ada')
    await rotate(core, new EpochFolder(path))
    const refused = open(OTHERS)
    await expect(refused).rejects.toThrow(ConfigError)
    await expect(refused).rejects.toThrow(/under epoch \d+, and the feature epoch-keys, .+ is not listed/)
    expect(await opens(await open(), tenant.id, 'ada')).toBe(true)
  })

  it('a database whose epochs were ended, or never began, opens without the feature and is written', async () => {
    const { tenant } = await (await open(OTHERS)).tenancy.create('acme')
    const core = await open()
    await enrol(core, core, tenant.id, 'ada')
    for (const isBaseEpoch of [false, true]) await rotate(core, new EpochFolder(path), { isBaseEpoch })
    const without = await open(OTHERS)
    expect(await opens(without, tenant.id, 'ada')).toBe(true)
    await enrol(without, without, tenant.id, 'grace')
    expect(await opens(await open(), tenant.id, 'grace')).toBe(true)
  })
})
